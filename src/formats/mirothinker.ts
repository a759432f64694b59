/**
 * MiroThinker: calls as JSON behind the names of a server and its tool.
 *
 * ```
 * <use_mcp_tool>\n<server_name>default</server_name>\n<tool_name>f</tool_name>\n<arguments>\n{"a": 1}\n</arguments>\n</use_mcp_tool>
 * ^^^^^^^^^^^^^^                                                CONTENT → BLOCK, held until the name is complete
 *                 ^^^^^^^^^^^^^                                 BLOCK → NAME
 *                                                               ^^^^^^^^^^^  NAME → ARGUMENTS: the call begins
 * ```
 *
 * A server has no place in a declared function: its name counts where a function is declared under both, else the
 * tool's counts alone. One block may hold several calls. The chat template, which is that of Qwen3, offers functions
 * as Qwen3 does, so calls in its form are read as well. Rests on the model card and the tool parser of
 * miromind-ai/MiroThinker-v1.5-30B.
 */
import { CONTENT } from '../parser/format.ts';
import { JsonArgumentsReader, JsonEnvelopeReader } from '../parser/json-calls.ts';
import type { Family } from './family.ts';
import { NAME_AND_ARGUMENTS } from './shapes/tagged-json.ts';

const BLOCK_START = '<use_mcp_tool>';
const BLOCK_END = '</use_mcp_tool>';
const SERVER = '<server_name>';
const SERVER_END = '</server_name>';
const TOOL = '<tool_name>';
const TOOL_END = '</tool_name>';
const ARGUMENTS_START = '<arguments>';
const ARGUMENTS_END = '</arguments>';

const BLOCK = 'BLOCK';
const NAME = 'NAME';
const ARGUMENTS = 'ARGUMENTS';
const AFTER = 'AFTER';
const OBJECT = 'OBJECT';
const AFTER_OBJECT = 'AFTER_OBJECT';

/** How the name of a function may be made of a server and its tool. */
const joined = (server: string, tool: string) => [
  ...['_', '__', '-', '.', '/'].map((separator) => server + separator + tool),
  `mcp__${server}__${tool}`,
];

/** What stands behind an opening tag, up to the next tag; empty without it. */
function textBehind(tag: string, header: string): string {
  const at = header.indexOf(tag);
  return at < 0 ? '' : /^[^<]*/.exec(header.slice(at + tag.length))![0].trim();
}

/** The declared name, or the tool's. */
function readName(header: string, isDeclared: (name: string) => boolean): string | null {
  const server = textBehind(SERVER, header);
  const tool = textBehind(TOOL, header);
  if (tool === '') return null;
  return [tool, ...joined(server, tool)].find(isDeclared) ?? tool;
}

export const family: Family = {
  tools: [
    {
      format: {
        name: 'mirothinker',
        terminals: {
          BLOCK_START: { text: BLOCK_START, token: 'never' },
          BLOCK_END: { text: BLOCK_END, token: 'never' },
          NAME_START: { text: [SERVER, TOOL], token: 'never' },
          ARGUMENTS_START: { text: ARGUMENTS_START, token: 'never' },
          ARGUMENTS_END: { text: ARGUMENTS_END, token: 'never' },
          OBJECT_START: { text: '<tool_call>', token: 'optional' },
          OBJECT_END: { text: '</tool_call>', token: 'optional' },
        },
        openers: {
          BLOCK_START: { to: BLOCK, hold: 'any' },
          OBJECT_START: { to: OBJECT, hold: 'any' },
        },
        openersInReasoning: ['BLOCK_START', 'OBJECT_START'],
        writing: {
          blockStart: '',
          blockEnd: '',
          separator: '\n',
          callStart: (name) => [
            `${BLOCK_START}\n${SERVER}default${SERVER_END}\n${TOOL}${name}${TOOL_END}\n${ARGUMENTS_START}\n`,
          ],
          callEnd: `\n${ARGUMENTS_END}\n${BLOCK_END}`,
          arguments: 'json',
          trigger: BLOCK_START,
        },
        readName,
        states: {
          [BLOCK]: {
            text: 'layout',
            on: { NAME_START: { to: NAME, do: ['literal'] }, BLOCK_START: { to: BLOCK, hold: 'any' } },
          },
          [NAME]: {
            text: 'name',
            on: {
              ARGUMENTS_START: { to: ARGUMENTS, do: ['call-start'] },
              BLOCK_START: { to: BLOCK, hold: 'any' },
              BLOCK_END: { to: CONTENT, do: ['call-start', 'call-end'] },
            },
          },
          [ARGUMENTS]: {
            text: 'call',
            createReader: (context) => new JsonArgumentsReader(context),
            on: {
              ARGUMENTS_END: { to: AFTER },
              NAME_START: { to: NAME, hold: 'any', do: ['literal'] },
              BLOCK_START: { to: BLOCK, hold: 'any' },
              BLOCK_END: { to: CONTENT },
            },
            done: AFTER,
          },
          [AFTER]: {
            text: 'content',
            on: {
              ARGUMENTS_END: { to: AFTER, do: ['call-edge'] },
              NAME_START: { to: NAME, hold: 'any', do: ['literal'] },
              BLOCK_START: { to: BLOCK, hold: 'any' },
              BLOCK_END: { to: CONTENT, do: ['call-edge'] },
            },
            otherwise: CONTENT,
          },
          [OBJECT]: {
            text: 'call',
            createReader: (context) => new JsonEnvelopeReader(context, NAME_AND_ARGUMENTS),
            on: { OBJECT_START: { to: OBJECT, hold: 'any' }, OBJECT_END: { to: CONTENT } },
            done: AFTER_OBJECT,
          },
          [AFTER_OBJECT]: {
            text: 'content',
            on: {
              OBJECT_START: { to: OBJECT, hold: 'any' },
              OBJECT_END: { to: CONTENT, do: ['call-edge'] },
            },
            otherwise: CONTENT,
          },
        },
      },
      recognise: ({ chatTemplate }) => chatTemplate.includes(BLOCK_START),
    },
  ],
};
