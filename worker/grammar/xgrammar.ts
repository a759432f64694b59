import type { Handle, XgrammarMatcher, XgrammarModule } from 'virtual:xgrammar';

/** A compile took longer than it may. The instance it ran in is of no more use. */
export class CompileTimeoutError extends Error {}

/** A failure inside of the WebAssembly code, with the reason that it printed. */
export class XgrammarError extends Error {
  /** Whether the instance may be damaged: then everything made of it must be dropped. */
  readonly isFatal: boolean;

  constructor(message: string, isFatal: boolean, cause: unknown) {
    super(message, { cause });
    this.isFatal = isFatal;
  }
}

let compiled: Promise<WebAssembly.Module> | null = null;

/** One instance of xgrammar with the vocabulary of one model. */
export class XgrammarInstance {
  readonly module: XgrammarModule;
  readonly #compiler: Handle & { CompileGrammar(grammar: Handle): Handle };
  readonly #state: InstanceState;

  private constructor(
    module: XgrammarModule,
    state: InstanceState,
    vocabulary: Uint8Array[],
    stops: number[],
  ) {
    this.module = module;
    this.#state = state;
    const texts = module.vecStringFromJSArray(vocabulary);
    const stopIds = module.vecIntFromJSArray(stops);
    const tokenizer = new module.TokenizerInfo(texts, 'RAW', vocabulary.length, stopIds, false);
    texts.delete();
    stopIds.delete();
    // Its own cache has no bound, and hangs on a grammar that failed before.
    this.#compiler = new module.GrammarCompiler(tokenizer, 1, false);
  }

  static async create(vocabulary: Uint8Array[], stopTokenIds: number[]): Promise<XgrammarInstance> {
    const { createModule, wasmBase64 } = await import('virtual:xgrammar');
    compiled ??= WebAssembly.compile(
      Uint8Array.from(atob(wasmBase64), (character) => character.charCodeAt(0)),
    );
    const code = await compiled;
    const state: InstanceState = { printed: [], watch: null };
    const module = await new Promise<XgrammarModule>((resolve, reject) => {
      createModule({
        printErr: (text) => state.printed.push(text),
        instantiateWasm: (imports, receive) => {
          watchTime(imports.a, state);
          WebAssembly.instantiate(code, imports).then(receive, reject);
          return {};
        },
      }).then(resolve, reject);
    });
    return new XgrammarInstance(module, state, vocabulary, stopTokenIds);
  }

  /**
   * @param limit milliseconds of work; no more than twice as long by the clock, if the processor is busy with others
   * @throws XgrammarError, CompileTimeoutError
   */
  compile(source: string, limit: number): Handle {
    this.#state.printed.length = 0;
    this.#state.watch = new Watch(limit);
    try {
      const grammar = new this.module.Grammar.FromEBNF(source, 'root');
      try {
        return this.#compiler.CompileGrammar(grammar);
      } finally {
        grammar.delete();
      }
    } catch (error) {
      if (error instanceof CompileTimeoutError) throw error;
      // Its checks end in an abort, which leaves everything intact; anything else went wrong inside.
      const isCheck = error instanceof WebAssembly.RuntimeError && error.message.startsWith('Aborted(');
      throw new XgrammarError(reasonOf(this.#state.printed), !isCheck, error);
    } finally {
      this.#state.watch = null;
    }
  }

  matcher(compiledGrammar: Handle): XgrammarMatcher {
    return new this.module.GrammarMatcher(compiledGrammar, undefined, false, -1);
  }
}

interface InstanceState {
  printed: string[];
  /** Of the compile that runs. */
  watch: Watch | null;
}

/** The longest time between two calls that counts as work, in milliseconds: longer ones are pauses for the most part. */
const LONGEST_STEP = 20;

/** How long something has worked, on a processor that may be busy with other things, too. */
class Watch {
  readonly #limit: number;
  readonly #start = performance.now();
  #last = this.#start;
  #worked = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get isOver(): boolean {
    const now = performance.now();
    this.#worked += Math.min(now - this.#last, LONGEST_STEP);
    this.#last = now;
    return this.#worked >= this.#limit || now - this.#start >= 2 * this.#limit;
  }
}

/**
 * Makes a compile that takes too long end: while it works it calls out for memory, to copy and to grow, several times
 * for each place in the grammar. That is where it can be stopped.
 */
function watchTime(
  imports: Record<string, (...values: number[]) => number | undefined>,
  state: InstanceState,
) {
  for (const [name, call] of Object.entries(imports)) {
    imports[name] = (...values) => {
      if (state.watch?.isOver) {
        state.watch = null;
        throw new CompileTimeoutError();
      }
      return call(...values);
    };
  }
}

/** The message of a failed check, without the paths of the machine it was built on. */
function reasonOf(printed: readonly string[]): string {
  const reason = printed.find((text) => !text.startsWith('Aborted('))?.trim();
  return (
    reason?.replace(/^\[[^\]]*\]\s*\S+:\d+:\s*/, '').replace(/^Check failed:[^:]*:\s*/, '') ||
    'it gives no reason'
  );
}
