/**
 * Llama 4: calls as bare JSON objects, or as a list in Python syntax; the chat template says which.
 *
 * ```
 * {"name": "f", "parameters": {"a": 1}}
 * <|python_start|>[f(a=1), g()]<|python_end|>
 * ```
 *
 * The tags are tokens that may be missing. Rests on the prompt format of Llama 4 and the chat template of
 * meta-llama/Llama-4-Scout-17B-16E-Instruct.
 */
import type { Family } from './family.ts';
import { bareJson } from './shapes/bare-json.ts';
import { pythonList } from './shapes/python-calls.ts';

const end = { text: '<|python_end|>', token: 'optional' } as const;
const isLlama4 = (chatTemplate: string) => chatTemplate.includes('<|header_start|>');
/** The line that shows how a list of calls is written. */
const showsPython = (chatTemplate: string) => /\[func_name1?\(/.test(chatTemplate);

export const family: Family = {
  tools: [
    {
      format: bareJson(
        'llama4_json',
        { text: ['<|python_start|>', '<|python_tag|>'], token: 'optional' },
        end,
      ),
      recognise: ({ chatTemplate }) =>
        isLlama4(chatTemplate) && chatTemplate.includes('"parameters": ') && !showsPython(chatTemplate),
    },
    {
      format: pythonList('llama4_pythonic', {
        start: { text: '<|python_start|>', token: 'optional' },
        end,
      }),
      recognise: ({ chatTemplate }) => isLlama4(chatTemplate) && showsPython(chatTemplate),
    },
  ],
};
