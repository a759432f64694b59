import { TokenFlag, type TokenTable } from '../../src/protocol.ts';

/** A piece of a prompt: an added token by its spelling, or the text between two of them. */
export interface PromptSection {
  text: string;
  isToken: boolean;
}

/** A section whose ids are known already. */
export interface WrittenSection {
  ids: readonly number[];
}

/** What stands right before an answer: the prompt's last added token and the text behind it. */
export interface TurnHeader {
  token: string;
  text: string;
}

/** The header at the end of a prompt; `null` where the prompt has no added token. */
export function turnHeader(sections: readonly PromptSection[]): TurnHeader | null {
  const last = sections.at(-1);
  if (last?.isToken) return { token: last.text, text: '' };
  const before = sections.at(-2);
  return last && before ? { token: before.text, text: last.text } : null;
}

interface Output {
  header: TurnHeader;
  sections: PromptSection[];
  ids: number[];
}

/** Ids of all outputs together. */
const capacity = 2 ** 18;

/**
 * What the model wrote, kept so that a conversation's next prompt holds the very ids that it wrote. Encoding the text
 * again can give others, since a model need not write the ids that a tokenizer would: then the KV cache could be
 * used only up to there.
 *
 * An output is found by its text, wherever a prompt has it whole behind the same header:
 *
 * ```
 * prompt   <|im_start|> assistant\n <think> \nLook.\n </think> \n\nHi! <|im_end|> \n …
 *          └──────header──────────┘└───────────output──────────────┘
 * ```
 */
export class WrittenOutputs {
  readonly #table: TokenTable;
  /** The one written last is last. */
  readonly #outputs: Output[] = [];
  #size = 0;

  constructor(table: TokenTable) {
    this.#table = table;
  }

  /** @param ids what the model wrote behind `header`, without the token that ended its turn */
  add(header: TurnHeader, ids: readonly number[]): void {
    if (ids.length === 0 || ids.length > capacity) return;
    this.#outputs.push({ header, ids: [...ids], sections: this.#sectionsOf(ids) });
    this.#size += ids.length;
    while (this.#size > capacity) this.#size -= this.#outputs.shift()!.ids.length;
  }

  /** The sections of a prompt with those that the model wrote replaced; the same array where there are none. */
  recall(sections: readonly PromptSection[]): readonly (PromptSection | WrittenSection)[] {
    const recalled: (PromptSection | WrittenSection)[] = [];
    let hasWritten = false;
    for (let at = 0; at < sections.length; at++) {
      const section = sections[at]!;
      recalled.push(section);
      const output = section.isToken ? this.#outputAt(sections, at) : null;
      if (!output) continue;
      hasWritten = true;
      const { header, ids } = output;
      if (header.text !== '') recalled.push({ text: header.text, isToken: false });
      recalled.push({ ids });
      at = endOf(output, sections, at)! - 1;
    }
    return hasWritten ? recalled : sections;
  }

  #outputAt(sections: readonly PromptSection[], at: number): Output | undefined {
    return this.#outputs.findLast((output) => endOf(output, sections, at) !== null);
  }

  #sectionsOf(ids: readonly number[]): PromptSection[] {
    const { bytes, offsets, flags } = this.#table;
    const bytesOf = (id: number) => bytes.subarray(offsets[id]!, offsets[id + 1]!);
    const sections: PromptSection[] = [];
    let decoder = new TextDecoder();
    let text = '';
    const endText = () => {
      text += decoder.decode();
      if (text !== '') sections.push({ text, isToken: false });
      decoder = new TextDecoder();
      text = '';
    };
    for (const id of ids) {
      if (!(flags[id]! & TokenFlag.added)) {
        text += decoder.decode(bytesOf(id), { stream: true });
        continue;
      }
      endText();
      sections.push({ text: new TextDecoder().decode(bytesOf(id)), isToken: true });
    }
    endText();
    return sections;
  }
}

/** The section behind the output, when its header starts at section `at`; `null` where it is not there. */
function endOf(
  { header, sections: output }: Output,
  sections: readonly PromptSection[],
  at: number,
): number | null {
  if (sections[at]!.text !== header.token) return null;
  let next = at + 1;
  let expected = output;
  if (header.text !== '') {
    // The header's text and the output's first one are one section of the prompt.
    const first = output[0]!;
    const joined = first.isToken ? header.text : header.text + first.text;
    if (sections[next]?.isToken !== false || sections[next]!.text !== joined) return null;
    next++;
    if (!first.isToken) expected = output.slice(1);
  }
  for (const { text, isToken } of expected) {
    const section = sections[next++];
    if (section?.text !== text || section.isToken !== isToken) return null;
  }
  return next;
}
