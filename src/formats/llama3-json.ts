/**
 * Llama 3.x: calls as bare JSON objects, `; ` between them, sometimes behind `<|python_tag|>`.
 *
 * ```
 * <|python_tag|>{"name": "f", "parameters": {"a": 1}}; {"name": "g", "parameters": {}}
 * ```
 *
 * Rests on the chat template of meta-llama/Llama-3.1-8B-Instruct.
 */
import type { Family } from './family.ts';
import { bareJson } from './shapes/bare-json.ts';

export const family: Family = {
  tools: [
    {
      format: bareJson('llama3_json', { text: '<|python_tag|>', token: 'optional' }),
      recognise: ({ chatTemplate }) => {
        const name = chatTemplate.indexOf('"name": ');
        return (
          name >= 0 &&
          chatTemplate.includes('"parameters": ', name) &&
          chatTemplate.includes('<|start_header_id|>')
        );
      },
    },
  ],
};
