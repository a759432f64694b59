/** One recorded model output with its right answer, a line of a cases file. */
export interface Case {
  id: string;
  format: string;
  note?: string;
  reasoning_parser: string | null;
  tool_parser: string | null;
  thinking: boolean | null;
  prompt_tail: string | null;
  tools: unknown[] | null;
  output: string;
  chunks: string[] | null;
  finish: 'stop' | 'length' | 'stop_string';
  request: {
    stop?: string | string[];
    tool_choice?: unknown;
    parallel_tool_calls?: boolean;
    include_reasoning?: boolean;
    chat_template_kwargs?: Record<string, unknown>;
    pieces?: { text: string; special: boolean }[];
    byte_chunks_hex?: string[];
  } | null;
  expected: Expected;
  compare: 'trim' | 'collapse' | 'exact';
  accept?: Partial<Expected>[];
  stream?: {
    tool_index?: number[];
    name_once?: boolean;
    id_once?: boolean;
    min_argument_deltas?: number;
    min_content_deltas?: number;
  } | null;
  ids_only?: boolean;
  arguments_text?: string[];
  key_order?: string[][];
  ids?: string[];
}

export interface ExpectedCall {
  name: string;
  arguments: unknown;
}

export interface Expected {
  reasoning: string | null;
  content: string | null;
  tool_calls: ExpectedCall[];
  incomplete_tool_calls?: ExpectedCall[];
  finish_reason: string;
}

/** Reads a JSON Lines text. */
export const readCases = (text: string): Case[] =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Case);
