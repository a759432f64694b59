import type { Handle } from 'virtual:xgrammar';
import { BadRequestError } from '../../src/errors.ts';
import type { TokenTable } from '../../src/protocol.ts';
import { GUARD_HEADER, TOKENS_HEADER } from './ebnf.ts';
import { DEEPEST } from './ebnf-source.ts';
import { Guard } from './guard/guard.ts';
import { type GuardSpec, isTextSpec } from './guard/spec.ts';
import { GrammarMatcher } from './matcher.ts';
import { GrammarVocabulary } from './vocabulary.ts';
import { CompileTimeoutError, XgrammarError, XgrammarInstance } from './xgrammar.ts';

export interface GrammarEngineOptions {
  table: TokenTable;
  /** Values of a row of logits. */
  width: number;
  /**
   * Tokens that end the model's turn: allowed exactly where a grammar can end. A token that a grammar spells
   * itself, as harmony's `<|call|>`, does not belong here.
   */
  eosTokenIds: readonly number[];
  /** Milliseconds that one compile may take. */
  compileLimit?: number;
  /** Characters of grammars that are kept compiled. */
  cacheSize?: number;
}

/** A grammar that outputs can be held to. */
export interface CompiledGrammar {
  /** Starts an output. */
  matcher(): GrammarMatcher;
}

/** The most characters of one grammar. */
const LARGEST_SOURCE = 4_000_000;

/** Compiles grammars for one loaded model. One engine a model. */
export class GrammarEngine {
  readonly vocabulary: GrammarVocabulary;
  readonly #options: Required<Pick<GrammarEngineOptions, 'compileLimit' | 'cacheSize'>>;
  readonly #stopTokenIds: ReadonlySet<number>;
  readonly #cache = new Map<string, CachedGrammar>();
  #cachedCharacters = 0;
  #instance: Promise<XgrammarInstance> | null = null;

  constructor({
    table,
    width,
    eosTokenIds,
    compileLimit = 1000,
    cacheSize = 2_000_000,
  }: GrammarEngineOptions) {
    this.vocabulary = new GrammarVocabulary(table, width);
    this.#options = { compileLimit, cacheSize };
    this.#stopTokenIds = new Set(eosTokenIds);
  }

  /** Loads what the first compile needs, which otherwise waits for it. */
  async prepare(): Promise<void> {
    await this.#acquire();
    this.vocabulary.order({ quote: '"', marks: '' });
  }

  /**
   * @param source what `EbnfGrammar.toString` gave
   * @throws BadRequestError for a grammar that is none, or that takes too long to compile
   */
  async compile(source: string): Promise<CompiledGrammar> {
    const cached = this.#cache.get(source);
    if (cached) {
      this.#cache.delete(source);
      this.#cache.set(source, cached);
      return cached;
    }
    const compiled = await this.#compile(source);
    this.#cache.set(source, compiled);
    this.#cachedCharacters += source.length;
    for (const oldest of this.#cache.keys()) {
      if (this.#cachedCharacters <= this.#options.cacheSize || oldest === source) break;
      this.#cache.delete(oldest);
      this.#cachedCharacters -= oldest.length;
    }
    return compiled;
  }

  /** Releases everything; matchers that are left may not be used. */
  dispose(): void {
    this.#drop();
  }

  async #compile(source: string): Promise<CachedGrammar> {
    if (source.length > LARGEST_SOURCE) throw tooLarge(`It has ${source.length} characters.`);
    if (nesting(source) > DEEPEST) {
      throw new BadRequestError(`The grammar has parentheses more than ${DEEPEST} deep: make them rules.`, {
        code: 'grammar_invalid',
      });
    }
    const instance = await this.#acquire();
    try {
      const handle = instance.compile(source, this.#options.compileLimit);
      return new CachedGrammar(instance, handle, this.vocabulary, this.#stopTokenIds, source);
    } catch (error) {
      if (error instanceof CompileTimeoutError) {
        this.#drop();
        throw tooLarge(`Its compilation was stopped after ${this.#options.compileLimit} ms.`);
      }
      if (!(error instanceof XgrammarError)) throw error;
      if (error.isFatal) this.#drop();
      const reason = error.isFatal ? 'it is nested too deep, or too large' : error.message;
      throw new BadRequestError(`The grammar can't be compiled: ${reason}`, {
        code: 'grammar_invalid',
        cause: error,
      });
    }
  }

  #acquire(): Promise<XgrammarInstance> {
    this.#instance ??= XgrammarInstance.create(this.vocabulary.encoded(), [...this.#stopTokenIds]);
    const instance = this.#instance;
    instance.catch(() => {
      if (this.#instance === instance) this.#instance = null;
    });
    return instance;
  }

  /** Leaves the instance, with all its memory, to the garbage collector. */
  #drop(): void {
    this.#instance = null;
    this.#cache.clear();
    this.#cachedCharacters = 0;
  }
}

const tooLarge = (reason: string) =>
  new BadRequestError(`The grammar is too large. ${reason}`, {
    code: 'grammar_too_large',
  });

class CachedGrammar implements CompiledGrammar {
  readonly #handle: Handle;
  readonly #context: ConstructorParameters<typeof GrammarMatcher>[0];

  constructor(
    instance: XgrammarInstance,
    handle: Handle,
    vocabulary: GrammarVocabulary,
    stopTokenIds: ReadonlySet<number>,
    source: string,
  ) {
    this.#handle = handle;
    // Forgotten by the cache, it may still be held by a request.
    unused.register(this, handle);
    const specs = guardsOf(source);
    this.#context = {
      module: instance.module,
      vocabulary,
      specs,
      stopTokenIds,
      withheld: withheldBy(source, vocabulary, stopTokenIds),
      guards: specs.map((spec) => (isTextSpec(spec) ? new Guard(spec, vocabulary) : null)),
      // As long as there is a matcher, there is this grammar.
      create: () => instance.matcher(this.#handle),
    };
  }

  matcher(): GrammarMatcher {
    return new GrammarMatcher(this.#context);
  }
}

const unused = new FinalizationRegistry<Handle>((handle) => handle.delete());

/** How deep the parentheses are, outside of literals and character classes. */
function nesting(source: string): number {
  let depth = 0;
  let deepest = 0;
  let closer = '';
  for (let at = 0; at < source.length; at++) {
    const character = source[at]!;
    if (closer !== '') {
      if (character === '\\' && closer !== '\n') at++;
      else if (character === closer) closer = '';
    } else if (character === '"') closer = '"';
    else if (character === '[') closer = ']';
    else if (character === '#') closer = '\n';
    else if (character === '(') deepest = Math.max(deepest, ++depth);
    else if (character === ')') depth--;
  }
  return deepest;
}

function guardsOf(source: string): GuardSpec[] {
  const specs: GuardSpec[] = [];
  for (const line of source.split('\n')) {
    if (!line.startsWith(GUARD_HEADER)) break;
    specs.push(JSON.parse(line.slice(line.indexOf(' ', GUARD_HEADER.length) + 1)) as GuardSpec);
  }
  return specs;
}

/** Added tokens that are spelled nowhere in a grammar. */
function withheldBy(
  source: string,
  vocabulary: GrammarVocabulary,
  stopTokenIds: ReadonlySet<number>,
): Set<number> {
  const header = source.split('\n').find((line) => line.startsWith(TOKENS_HEADER));
  const spelled = new Set(header ? (JSON.parse(header.slice(TOKENS_HEADER.length)) as string[]) : []);
  return new Set(
    [...vocabulary.markers].flatMap(([text, id]) => (spelled.has(text) || stopTokenIds.has(id) ? [] : [id])),
  );
}
