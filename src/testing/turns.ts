import { BadRequestError } from '../errors.ts';
import type { ScriptedTurn } from '../protocol.ts';

/** How a turn comes, and what befalls it. */
type TurnCourse = Omit<ScriptedTurn, 'text' | 'ids' | 'open'>;

/** An answer by what it says; it is written in the format of the embedded model. */
export interface ScriptedAnswer extends TurnCourse {
  reasoning?: string;
  content?: string;
  /** `arguments`: an object, or the text that the model writes, which may be no JSON. */
  calls?: { name: string; arguments: Record<string, unknown> | string }[];
  /** `true`: the model ends its turn in the middle of the last call's arguments. */
  cut?: boolean;
}

/**
 * What a scripted engine answers with: the model's output as it writes it, markers and all, as a string or as a
 * {@link ScriptedTurn}; or a {@link ScriptedAnswer}.
 */
export type Turn = string | ScriptedTurn | ScriptedAnswer;

const courseFields = ['delay', 'firstDelay', 'loseDeviceAt', 'crashAt', 'error'];
const writtenFields = ['text', 'ids', 'open'];
const answerFields = ['reasoning', 'content', 'calls', 'cut'];
const known = new Set([...courseFields, ...writtenFields, ...answerFields]);

/** Whether a turn has to be written in the model's format, which must be the embedded model's then. */
export function isAnswer(turn: Turn): turn is ScriptedAnswer {
  return typeof turn === 'object' && answerFields.some((field) => field in turn);
}

/**
 * The turns as the worker takes them.
 *
 * @throws BadRequestError that names the turn and what is wrong with it
 */
export function writtenTurns(turns: readonly Turn[]): ScriptedTurn[] {
  if (!Array.isArray(turns) || turns.length === 0) {
    throw new BadRequestError('A scripted engine needs at least one turn to answer with.', {
      param: 'turns',
    });
  }
  return turns.map((turn, index) => writtenTurn(turn, `turns[${index}]`));
}

function writtenTurn(turn: Turn, path: string): ScriptedTurn {
  if (typeof turn === 'string') return { text: turn };
  if (typeof turn !== 'object' || turn === null) throw bad(path, 'must be a string or an object');
  const unknown = Object.keys(turn).find((field) => !known.has(field));
  if (unknown !== undefined) throw bad(`${path}.${unknown}`, 'is no field of a turn');
  if (!isAnswer(turn)) return turn;
  const written = writtenFields.find((field) => field in turn);
  if (written)
    throw bad(`${path}.${written}`, 'and the parts of an answer exclude each other: give one of both');
  const { reasoning, content, calls, cut, ...course } = turn;
  return { ...course, text: qwen3Text({ reasoning, content, calls, cut }, path) };
}

/** In the format of Qwen3: `<think>\n…\n</think>\n\n…\n<tool_call>\n{…}\n</tool_call>`. */
function qwen3Text(
  { reasoning = '', content = '', calls = [], cut = false }: ScriptedAnswer,
  path: string,
): string {
  checkText(reasoning, `${path}.reasoning`);
  checkText(content, `${path}.content`);
  if (cut && calls.length === 0) throw bad(`${path}.cut`, 'needs a call that is cut');
  // Without the block all of it would be reasoning: the model thinks unless it says that it does not.
  const thought = `<think>\n${reasoning}\n</think>\n\n`;
  const written = calls.map((call, index) => {
    const text = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments);
    const begin = `<tool_call>\n{"name": ${JSON.stringify(call.name)}, "arguments": `;
    const isCut = cut && index === calls.length - 1;
    return isCut ? begin + text.slice(0, Math.ceil(text.length / 2)) : `${begin}${text}}\n</tool_call>`;
  });
  return thought + [...(content === '' ? [] : [content]), ...written].join('\n');
}

function checkText(text: string, path: string): void {
  if (typeof text !== 'string') throw bad(path, 'must be a string');
  const marker = /<\/?(?:think|tool_call)>|<\|im_(?:start|end)\|>/.exec(text)?.[0];
  if (marker)
    throw bad(path, `holds ${marker}, which is a marker to the model: give the whole turn as 'text'`);
}

function bad(param: string, what: string): BadRequestError {
  return new BadRequestError(`'${param}' ${what}.`, { param, code: 'invalid_value' });
}
