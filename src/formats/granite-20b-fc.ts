/**
 * Granite 20B for function calling: calls as JSON, each behind a marker that nothing closes.
 *
 * ```
 * <function_call> {"name": "f", "arguments": {"a": 1}} <function_call> {"name": "g", "arguments": {}}
 * ```
 *
 * Rests on the chat template and model card of ibm-granite/granite-20b-functioncalling.
 */
import type { Family } from './family.ts';
import { objectWriting, taggedJson } from './shapes/tagged-json.ts';

const MARKER = '<function_call>';

export const family: Family = {
  tools: [
    {
      format: taggedJson({
        name: 'granite-20b-fc',
        start: { text: MARKER, token: 'optional' },
        writing: { ...objectWriting(`${MARKER} `, ''), trigger: MARKER },
      }),
      recognise: ({ chatTemplate }) => chatTemplate.includes('<|function_call_library|>'),
    },
  ],
};
