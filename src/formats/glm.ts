/**
 * GLM 4.5, 4.6 and 4.7: calls as pairs of keys and values.
 *
 * ```
 * <tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>
 * ```
 *
 * GLM 4.7 writes no line breaks; both names read both. Rests on the chat templates of zai-org/GLM-4.5 and
 * zai-org/GLM-4.7.
 */
import type { ReasoningFormat } from '../parser/format.ts';
import type { Family } from './family.ts';
import { type KeyValueTags, keyValues } from './shapes/key-values.ts';
import { thinkTags } from './shapes/think-tags.ts';

/** Names of the tags. */
export const GLM_TAGS = {
  call: 'tool_call',
  key: 'arg_key',
  value: 'arg_value',
} as const satisfies Partial<KeyValueTags>;

const reasoning = (name: string): ReasoningFormat => thinkTags({ name });
const tools = (name: string, line: string) => keyValues({ name, ...GLM_TAGS, line });

const isGlm = (chatTemplate: string) =>
  chatTemplate.includes('<arg_key>') && chatTemplate.includes('<tool_call>');
/** The 4.7 template joins the tags without line breaks. */
const isInline = (chatTemplate: string) => /<\/arg_key><arg_value>/.test(chatTemplate);

export const family: Family = {
  reasoning: [
    {
      format: reasoning('glm45'),
      recognise: ({ chatTemplate }) => isGlm(chatTemplate) && !isInline(chatTemplate),
    },
    {
      format: reasoning('glm47'),
      recognise: ({ chatTemplate }) => isGlm(chatTemplate) && isInline(chatTemplate),
    },
  ],
  tools: [
    {
      format: tools('glm45', '\n'),
      recognise: ({ chatTemplate }) => isGlm(chatTemplate) && !isInline(chatTemplate),
    },
    {
      format: tools('glm47', ''),
      recognise: ({ chatTemplate }) => isGlm(chatTemplate) && isInline(chatTemplate),
    },
  ],
};
