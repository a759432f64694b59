import { BadRequestError, serializeError } from '../src/errors.ts';
import type { EndReason, FromWorker, GenerateJob, RequestState, TokenLogprobs } from '../src/protocol.ts';
import type { PrefixCache } from './cache/prefix.ts';
import { Choice } from './choice.ts';
import { type Drafter, freely } from './drafts/drafter.ts';
import { EndTokens } from './end-tokens.ts';
import type { ChoiceConstraint } from './grammar/constraint.ts';
import type { Model } from './model.ts';
import { ModelRun } from './model-run.ts';
import { RequestClock } from './request-clock.ts';
import { type AnySampler, samplerFor } from './sampling/for-backend.ts';
import { resolveSampling } from './sampling/options.ts';
import { freshSeed } from './sampling/random.ts';
import { nextTurn, takeTurns } from './turn.ts';

/** From each state those that may follow. Aborts and faults are the transitions to `ending`. */
const transitions: Record<RequestState, readonly RequestState[]> = {
  queued: ['rendering', 'ending'],
  rendering: ['prefilling', 'ending'],
  prefilling: ['decoding', 'ending'],
  decoding: ['ending'],
  ending: [],
};

/** Tokens that are repeated between two looks at what the page says. */
const repeatedPiece = 64;
/** Tokens that a choice writes before another one has its turn. */
const turnTokens = 8;

/** What the choices of a request are written on: the run that read the prompt, for one at a time, and copies of it. */
interface Runs {
  first: ModelRun;
  isTaken: boolean;
  all: ModelRun[];
}

/** What all choices of a request have in common. */
interface AnswerContext {
  model: Model;
  prefixes: PrefixCache;
  sampling: ReturnType<typeof resolveSampling>;
  seed: number;
  constrain: Awaited<ReturnType<Model['constraints']['prepare']>>;
  ends: EndTokens;
  limit: number;
  /** Choices that are written at the same time. */
  open: number;
}

/** What the tokens of one choice come from. */
interface Writing {
  sampler: AnySampler;
  constraint: ChoiceConstraint | null;
  drafter: Drafter | null;
}

/** Ends the run of a request that was aborted; never leaves this file. */
class Aborted extends Error {}

/** What a run leaves behind. */
export interface RequestOutcome {
  /** The device or a session failed: the backend must be made anew. */
  backendFailed: boolean;
}

/**
 * One request from its arrival to exactly one `done` or `failed`.
 *
 * ```
 * queued ─▶ rendering ─▶ prefilling ─▶ decoding ─▶ ending ─▶ done | failed
 *    └──────────┴────────────┴───────────────────────▲  abort, cut, fault
 * ```
 */
export class GenerateRequest {
  readonly number: number;
  readonly #job: GenerateJob;
  readonly #post: (message: FromWorker) => void;
  readonly #choices: Choice[];
  readonly #clock = new RequestClock();
  #state: RequestState = 'queued';
  #aborted = false;
  #promptLength = 0;
  #cachedTokens = 0;
  /** Rejects the step that is running when the device is lost, so that no hanging call can hold the request. */
  readonly #fault: { promise: Promise<never>; reject: (error: Error) => void };

  constructor(number: number, job: GenerateJob, post: (message: FromWorker) => void) {
    this.number = number;
    this.#job = job;
    this.#post = post;
    this.#choices = Array.from(
      { length: job.choices },
      (_, index) => new Choice(index, job.resume?.choices[index]),
    );
    let reject: (error: Error) => void = () => {};
    const promise = new Promise<never>((_, rejectPromise) => {
      reject = rejectPromise;
    });
    promise.catch(() => {});
    this.#fault = { promise, reject };
    post({ type: 'state', request: number, state: 'queued' });
  }

  get state(): RequestState {
    return this.#state;
  }

  /** The request ends within one step or one piece of the prefill; at once while it is queued. */
  abort(): void {
    this.#aborted = true;
    if (this.#state === 'queued') this.#end(null);
  }

  /** The output of `choice` counts up to its token `at`. Also for a choice that has ended, while the request lives. */
  cut(choice: number, at: number): void {
    this.#choices[choice]?.cut(at);
  }

  /** Ends the request with an error, whatever it is doing. */
  fail(error: Error): void {
    this.#fault.reject(error);
    if (this.#state === 'queued') this.#end(error);
  }

  /** Runs the request to its end. Never rejects: what goes wrong is posted as `failed`. */
  async run(model: Model, acquire: () => Promise<PrefixCache>): Promise<RequestOutcome> {
    const outcome: RequestOutcome = { backendFailed: false };
    if (this.#state !== 'queued') return outcome;
    let error: unknown = null;
    try {
      await this.#generate(model, acquire, outcome);
    } catch (thrown) {
      if (!(thrown instanceof Aborted)) error = thrown;
    }
    this.#end(error);
    return outcome;
  }

  async #generate(model: Model, acquire: () => Promise<PrefixCache>, outcome: RequestOutcome): Promise<void> {
    this.#enter('rendering');
    this.#clock.mark('rendering');
    const sampling = resolveSampling(this.#job.sampling, model.report.defaults);
    const { resume } = this.#job;
    const seed = resume?.seed ?? sampling.seed ?? freshSeed();
    const rendered = model.template.render(this.#job);
    // What the model wrote in the history may have been known in its own tokens when the answer began.
    const prompt = resume ? { ...rendered, ids: resume.promptTokenIds } : rendered;
    this.#promptLength = prompt.ids.length;
    if (prompt.ids.length === 0) {
      throw new BadRequestError('The prompt has no tokens; the model needs one at least to go on from.', {
        param: 'prompt',
        code: 'empty_prompt',
      });
    }
    const room = model.report.contextLength - prompt.ids.length;
    if (room <= 0) {
      throw new BadRequestError(
        this.#job.prompt
          ? `The prompt has ${prompt.ids.length} tokens, and the model's context holds ${model.report.contextLength}, the answer included. Shorten it.`
          : `The messages take ${prompt.ids.length} tokens, and the model's context holds ${model.report.contextLength}, the answer included. Shorten the messages or offer fewer tools.`,
        { param: this.#job.prompt ? 'prompt' : 'messages', code: 'context_length_exceeded' },
      );
    }
    const limit = Math.min(room, this.#job.maxTokens ?? room);
    const ends = new EndTokens({ ...this.#job, eosTokenIds: model.report.eosTokenIds });
    await this.#checkpoint();
    if (!resume) {
      this.#post({
        type: 'started',
        request: this.number,
        // A copy, so that whoever posts may transfer it.
        promptTokenIds: prompt.ids.slice(),
        prompt: prompt.text,
        seed,
      });
    }
    const open = this.#choices.filter((choice) => {
      const over = resume ? choice.over(ends, limit) : null;
      if (over) choice.end(over);
      return !over;
    });
    if (open.length === 0) return;

    const constrain = await this.#step(model.constraints.prepare(this.#job, prompt.ids));
    const prefixes = await this.#step(acquire());
    this.#enter('prefilling');
    this.#clock.mark('prefill');
    const step = <Result>(promise: Promise<Result>) => this.#step(promise);
    const checkpoint = () => this.#checkpoint();
    const run = new ModelRun(prefixes, prompt.ids, { step, checkpoint }, model.drafts?.costs ?? null);
    const runs: Runs = { first: run, isTaken: false, all: [run] };
    try {
      this.#cachedTokens = await run.open(this.#job.promptLogprobs);
      if (this.#job.promptLogprobs) await this.#scorePrompt(run, model.report);
      const context = { model, prefixes, sampling, seed, constrain, ends, limit, open: open.length };
      await takeTurns(open.map((choice, place) => this.#answer(runs, place, choice, context)));
    } catch (thrown) {
      outcome.backendFailed = runs.all.some(({ failed }) => failed);
      throw thrown;
    } finally {
      this.#clock.ran(runs.all.map(({ counts }) => counts));
      // The first choice is the one that a conversation goes on with: what is given back last is kept longest.
      for (const each of runs.all.reverse()) each.close();
      // Where they came from they would come again.
      if (runs.all.some(({ isWrong }) => isWrong)) prefixes.clear();
      for (const { ids, tokens } of this.#choices) {
        const isEnded = tokens > 0 && ends.ends(ids[tokens - 1]!);
        model.template.remember(prompt, ids.slice(0, isEnded ? tokens - 1 : tokens));
      }
    }
  }

  /**
   * One choice, which rests now and then for the others to go on.
   *
   * @param place among those that are written; the first one reads the prompt
   */
  async *#answer(
    runs: Runs,
    place: number,
    choice: Choice,
    { model, prefixes, sampling, seed, constrain, ends, limit, open }: AnswerContext,
  ): AsyncGenerator<void, void> {
    const others = open - 1;
    let run = place > 0 ? await runs.first.fork(others) : null;
    if (run) runs.all.push(run);
    else {
      while (runs.isTaken) yield;
      runs.isTaken = true;
      run = runs.first;
    }
    const { prompt } = run;
    const drafter = run.canDraft ? (model.drafts?.follow(prompt) ?? null) : null;
    const begin = (unread: number) => {
      // How an answer begins that goes on is known.
      if (!drafter || choice.tokens > 0) return [];
      return drafter.draft({
        unread,
        room: limit - 1,
        ends: (id) => ends.ends(id),
        readsForced: false,
        ahead: freely,
      });
    };
    if (place > 0) await this.#repeatPrompt(run, begin);
    else await this.#prefill(run, begin);
    const { report } = prefixes.backend;
    const { logitBias: bias, logprobs = null } = this.#job;
    const sampler = samplerFor(prefixes.backend, {
      options: sampling,
      seed,
      stream: choice.index,
      prompt,
      bias,
      reads: logprobs !== null,
    });
    const constraint = constrain?.() ?? null;
    const writing = { sampler, constraint, drafter };
    // After the first rest it is known whether the others have runs of their own.
    const rests = () =>
      others > 0 && report.decode !== 'captured' && (choice.tokens === turnTokens || runs.all.length > 1);
    try {
      await this.#repeat(choice, writing);
      yield* this.#decode(run, choice, { ...writing, ends, limit, rests }, model.report);
    } finally {
      constraint?.dispose();
      model.drafts?.remember(prompt, choice.ids);
      if (run === runs.first) runs.isTaken = false;
    }
  }

  /** The prompt but for its last token, which the prefill reads. */
  async #scorePrompt(run: ModelRun, { vocabularySize }: Model['report']): Promise<void> {
    const logprobs: TokenLogprobs[] = [];
    while (run.length + 1 < run.prompt.length) {
      await this.#checkpoint();
      logprobs.push(await run.score(this.#job.logprobs ?? 0, vocabularySize));
    }
    this.#post({ type: 'prompt', request: this.number, logprobs });
  }

  async #prefill(run: ModelRun, draft: (unread: number) => number[]): Promise<void> {
    const total = run.prompt.length;
    const cached = this.#cachedTokens;
    const report = (done: number) =>
      this.#post({ type: 'state', request: this.number, state: 'prefilling', done, total, cached });
    while (run.length < total) {
      await this.#checkpoint();
      if (run.length > 0) report(run.length);
      await run.prefillPiece(draft);
    }
    // The device may still be at work on the last piece: the prefill has ended when its logits are there.
    await run.settled();
    report(total);
    this.#clock.mark('decode');
    this.#enter('decoding');
  }

  /** Puts the sequence back to the end of the prompt for the next choice. */
  async #repeatPrompt(run: ModelRun, draft: (unread: number) => number[]): Promise<void> {
    await this.#checkpoint();
    await run.rewind();
    while (run.length < run.prompt.length) {
      await this.#checkpoint();
      await run.prefillPiece(draft);
    }
  }

  /** Brings sampler and grammar to where they were behind the tokens of an earlier worker. */
  async #repeat({ ids }: Choice, { sampler, constraint, drafter }: Writing): Promise<void> {
    for (const [at, id] of ids.entries()) {
      if (at % repeatedPiece === 0) await this.#checkpoint();
      if ((constraint?.forced() ?? null) === null) sampler.repeat(id);
      else {
        sampler.take(id);
        if ((this.#job.logprobs ?? null) === null) this.#clock.forced();
      }
      constraint?.accept(id);
      drafter?.take(id);
    }
  }

  async *#decode(
    run: ModelRun,
    choice: Choice,
    {
      sampler,
      constraint,
      drafter,
      ends,
      limit,
      rests,
    }: Writing & {
      ends: EndTokens;
      limit: number;
      /** Now and then other choices have their turn. */
      rests: () => boolean;
    },
    { vocabularySize, eosTokenIds }: Model['report'],
  ): AsyncGenerator<void, void> {
    const { logprobs: toldTokens = null } = this.#job;
    /** Tokens that the model has not read yet: the last one, and those that were forced behind it. */
    let unread = [...choice.ids];
    const draft = () =>
      drafter?.draft({
        unread: unread.length,
        room: limit - choice.tokens - 1,
        ends: (id) => ends.ends(id),
        readsForced: toldTokens !== null,
        ahead: (next, most) => constraint?.ahead(next, most) ?? freely(next, most),
      });
    let reason: EndReason | null = limit === 0 ? 'length' : null;
    while (reason === null) {
      await this.#checkpoint();
      if (choice.isCut) break;
      const forced = constraint?.forced() ?? null;
      let id = forced;
      let choices = forced === null ? null : 1;
      const logprobs: TokenLogprobs[] = [];
      if (id === null || toldTokens !== null) {
        const isRead = unread.length === 0 || run.advance(unread);
        const forward = isRead ? null : run.decode(unread, draft());
        let mask: Uint32Array | null = null;
        try {
          // The mask is made while the device computes.
          mask = constraint?.mask() ?? null;
        } finally {
          await forward;
        }
        unread = [];
        if (mask && this.#job.tellsAllowed) choices = bitCount(mask);
        // Rows can be padded beyond the vocabulary; what has no bytes must not be drawn.
        const allowed = ends.mask(mask, choice.tokens, vocabularySize);
        // Only the token itself says what is forced behind it, and logprobs are of logits that are gone then.
        const isFree = mask === null && toldTokens === null && !drafter?.isHopeful;
        const goesOn = isFree && choice.tokens + 1 < Math.min(limit, choice.cutAt);
        id ??= await run.choose(sampler, allowed, vocabularySize, goesOn);
        if (toldTokens !== null) logprobs.push(await run.logprobs(id, mask, toldTokens, vocabularySize));
      } else {
        this.#clock.forced();
      }
      if (forced !== null) sampler.take(forced);
      constraint?.accept(id);
      drafter?.take(id);
      unread.push(id);
      const from = choice.tokens;
      choice.take(id);
      this.#clock.token();
      const told = {
        ...(toldTokens !== null && { logprobs }),
        ...(this.#job.tellsAllowed && { allowed: [choices] }),
      };
      this.#post({ type: 'tokens', request: this.number, choice: choice.index, from, ids: [id], ...told });
      if (ends.ends(id)) {
        // The grammar has ended with an EOS only.
        if (eosTokenIds.includes(id)) constraint?.finish();
        reason = 'eos';
      } else if (choice.tokens >= limit) reason = 'length';
      else if (choice.tokens % turnTokens === 0 && rests()) {
        await run.rest();
        yield;
      }
    }
    choice.end(reason ?? 'cut');
    await run.truncate(this.#promptLength + choice.tokens);
  }

  /** Lets messages in, then stops an aborted request. */
  async #checkpoint(): Promise<void> {
    await this.#step(nextTurn());
    if (this.#aborted) throw new Aborted();
  }

  #step<Result>(promise: Promise<Result>): Promise<Result> {
    return Promise.race([promise, this.#fault.promise]);
  }

  #enter(state: RequestState): void {
    if (!transitions[this.#state].includes(state)) {
      throw new Error(`Request ${this.number} can't go from ${this.#state} to ${state}.`);
    }
    this.#state = state;
    if (state === 'prefilling') {
      this.#post({ type: 'state', request: this.number, state, done: 0, total: this.#promptLength });
    } else {
      this.#post({ type: 'state', request: this.number, state });
    }
  }

  /** The one place where a request ends. */
  #end(error: unknown): void {
    if (this.#state === 'ending') return;
    this.#enter('ending');
    if (error !== null) {
      this.#post({ type: 'failed', request: this.number, error: serializeError(error) });
      return;
    }
    const choices = this.#choices.map(({ told }) => told);
    const completionTokens = choices.reduce((sum, choice) => sum + choice.completionTokens, 0);
    this.#post({
      type: 'done',
      request: this.number,
      choices,
      usage: { promptTokens: this.#promptLength, cachedTokens: this.#cachedTokens, completionTokens },
      timings: this.#clock.timings(),
    });
  }
}

/** Bits that are set. */
function bitCount(words: Uint32Array): number {
  let count = 0;
  for (let word of words) for (; word !== 0; word &= word - 1) count++;
  return count;
}
