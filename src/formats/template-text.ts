/** What a chat template says outside its comments, and which part of it begins the model's turn. */

const CLOSERS: Readonly<Record<string, string>> = { '{#': '#}', '{{': '}}', '{%': '%}' };

/** A Jinja template without its comments: what stands in them is about other models as often as about this one. */
export function withoutComments(template: string): string {
  let text = '';
  let from = 0;
  let at = 0;
  while (at < template.length) {
    const begin = template.indexOf('{', at);
    if (begin < 0) break;
    const closer = CLOSERS[template.slice(begin, begin + 2)];
    if (closer === undefined) {
      at = begin + 1;
      continue;
    }
    const end =
      closer === '#}' ? template.indexOf(closer, begin + 2) : endOfCode(template, begin + 2, closer);
    if (end < 0) break;
    at = end + closer.length;
    if (closer !== '#}') continue;
    text += template.slice(from, begin);
    from = at;
  }
  return text + template.slice(from);
}

/** Where an expression or a statement ends: not inside its strings. */
function endOfCode(template: string, start: number, closer: string): number {
  let quote = '';
  for (let at = start; at < template.length; at++) {
    const character = template[at]!;
    if (quote === '') {
      if (template.startsWith(closer, at)) return at;
      if (character === '"' || character === "'") quote = character;
    } else if (character === '\\') at++;
    else if (character === quote) quote = '';
  }
  return -1;
}

/** `<think>` in a prompt with nothing but white space up to its closer; `\\n` as the template spells it. */
const OPEN_BLOCK = /<think>(?!(?:\\n|\s)*<\/think>)/;
const OPEN_TURN = /assistant(?:\\n|\s)*<think>/;

/**
 * Whether a model thinks where its prompt ends in neither marker. A ChatML template tells by how it begins the turn:
 *
 * ```
 * assistant\n + (off: <think>\n\n</think>)                     yes: it shuts the block where the model must not think
 * assistant\n<think>\n, or (on: <think>\n, else: …</think>)    as good as yes: the prompt always has a marker
 * assistant\n + (on: <think>\n)                               no: what is left without a marker is not on
 * assistant\n                                                 not known: the model opens the block or does not
 * ```
 */
export function thinksUnmarked(template: string): boolean {
  const condition = template.lastIndexOf('add_generation_prompt');
  const start = condition < 0 ? template.lastIndexOf('<|im_start|>assistant') : condition;
  if (start < 0) return false;
  const turn = template.slice(start);
  if (OPEN_BLOCK.test(turn)) return OPEN_TURN.test(turn) || /\belse\b/.test(turn);
  return turn.includes('</think>');
}
