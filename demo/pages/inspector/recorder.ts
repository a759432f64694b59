import { CompletionCollector, type Engine, type RequestDetails } from '../../../src/index.ts';
import { createDemoTools } from '../../tools/index.ts';
import { createMemoryNotes } from '../../tools/notes.ts';
import { TimerList } from '../../tools/timer.ts';
import { type Piece, type Step, stepsOf } from './steps.ts';

/** How an answer is asked for. */
export interface InspectedRequest {
  question: string;
  thinking: boolean;
  tools: boolean;
  /** Calls are held to a grammar. */
  required: boolean;
}

export interface Recording {
  steps: Step[];
  details: RequestDetails | null;
  usage: { prompt: number; cached: number; completion: number; reasoning: number } | null;
  /** Milliseconds between tokens, as the page saw them. */
  gaps: number[];
}

const maximumTokens = 300;
const mostAlternatives = 5;

/** Asks, and records every token. `onPiece` is called as they come. Rejects with what the engine throws. */
export async function record(
  engine: Engine,
  request: InspectedRequest,
  { signal, onPiece }: { signal: AbortSignal; onPiece(pieces: readonly Piece[]): void },
): Promise<Recording> {
  const { question } = request;
  // Only told to the model: none of them is run.
  const tools = createDemoTools({ notes: createMemoryNotes(), timers: new TimerList(), question });
  const started = performance.now();
  const stream = await engine.chat.completions.create(
    {
      messages: [{ role: 'user', content: question }],
      ...(request.tools && {
        tools: tools.map(({ name, description, parameters }) => ({
          type: 'function' as const,
          function: { name, description, parameters },
        })),
        ...(request.required && { tool_choice: 'required' as const }),
      }),
      max_tokens: maximumTokens,
      chat_template_kwargs: { enable_thinking: request.thinking },
      logprobs: true,
      top_logprobs: mostAlternatives,
      return_token_ids: true,
      include_details: true,
      stream: true,
      stream_options: { include_usage: true },
    },
    { signal },
  );
  const pieces: Piece[] = [];
  const decoder = new TextDecoder();
  const collector = new CompletionCollector();
  for await (const chunk of stream) {
    collector.add(chunk);
    const choice = chunk.choices[0];
    const time = performance.now() - started;
    for (const [index, { token, bytes, logprob, top_logprobs }] of (
      choice?.logprobs?.content ?? []
    ).entries()) {
      pieces.push({
        id: choice?.token_ids?.[index] ?? null,
        // A character may come in several tokens: it belongs to the last of them.
        text: bytes ? decoder.decode(new Uint8Array(bytes), { stream: true }) : token,
        logprob,
        top: top_logprobs.map((other) => ({ text: other.token, logprob: other.logprob })),
        allowed: null,
        time,
      });
    }
    onPiece(pieces);
  }
  const completion = collector.finish();
  const details = completion.tokenprism ?? null;
  for (const [index, piece] of pieces.entries()) piece.allowed = details?.allowed_tokens[0]?.[index] ?? null;
  const { reasoning, tools: toolFormat } = engine.state.format;
  const end = completion.choices[0]?.finish_reason === 'length' ? 'length' : 'stop';
  const lastId = pieces.at(-1)?.id ?? -1;
  const ends = end === 'stop' && engine.state.model.eosTokenIds.includes(lastId);
  const { usage } = completion;
  return {
    // The token that ends the turn is no text.
    steps: await stepsOf(ends ? pieces.slice(0, -1) : pieces, {
      format: { reasoning, tools: toolFormat },
      prompt: lastTurn(details?.prompt ?? ''),
      end,
    }),
    details,
    usage: usage
      ? {
          prompt: usage.prompt_tokens,
          cached: usage.prompt_tokens_details?.cached_tokens ?? 0,
          completion: usage.completion_tokens,
          reasoning: usage.completion_tokens_details?.reasoning_tokens ?? 0,
        }
      : null,
    gaps: gapsOf(pieces),
  };
}

/** What stands behind the last beginning of a turn: a block of reasoning that is opened there counts. */
function lastTurn(prompt: string): string {
  const at = prompt.lastIndexOf('assistant');
  return at < 0 ? '' : prompt.slice(at + 'assistant'.length);
}

function gapsOf(pieces: readonly Piece[]): number[] {
  return pieces.slice(1).map((piece, index) => (piece.time ?? 0) - (pieces[index]?.time ?? 0));
}
