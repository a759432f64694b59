/**
 * Solar Open 2: reasoning and calls between special tokens of their own.
 *
 * ```
 * <|think:start|>Look it up.<|think:end|>
 * <|tool_call:start|>f\n<|tool_arg:start|>a<|tool_arg:value|>1<|tool_arg:end|>\n<|tool_call:end|>
 * ```
 *
 * The prompt opens the block, and shuts it again where `reasoning_effort` asks for none. Rests on the parsers that
 * upstage/Solar-Open2-250B is published with.
 */
import type { Family, TemplateFacts } from './family.ts';
import { keyValues } from './shapes/key-values.ts';
import { thinkTags } from './shapes/think-tags.ts';

/** Efforts for which the prompt leaves the block open. */
const OPEN = ['medium', 'high', 'xhigh'];

const recognise = ({ chatTemplate }: TemplateFacts) => chatTemplate.includes('<|tool_arg:start|>');

export const family: Family = {
  reasoning: [
    {
      format: thinkTags({
        name: 'solar_open2',
        start: '<|think:start|>',
        end: '<|think:end|>',
        readSwitch: ({ reasoning_effort: effort }) =>
          typeof effort === 'string' ? OPEN.includes(effort) : undefined,
      }),
      recognise: ({ chatTemplate }) => chatTemplate.includes('<|think:start|>'),
    },
  ],
  tools: [
    {
      format: keyValues({
        name: 'solar_open2',
        call: 'tool_call',
        key: 'tool_arg',
        value: 'tool_arg:value',
        line: '\n',
        spelling: (tag) => {
          if (tag === 'tool_arg') return { open: '<|tool_arg:start|>', close: null };
          if (tag === 'tool_arg:value') return { open: '<|tool_arg:value|>', close: '<|tool_arg:end|>' };
          return { open: `<|${tag}:start|>`, close: `<|${tag}:end|>` };
        },
      }),
      recognise,
    },
  ],
};
