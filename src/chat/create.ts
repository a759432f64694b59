import type { RequestOptions } from './types.ts';

/** As methods, whose parameters are compared both ways: engines over servers take fields that others don't. */
interface Creating<Whole, Streaming, Answer, Stream> {
  create(body: Whole, options?: RequestOptions): Promise<Answer>;
  create(body: Streaming, options?: RequestOptions): Promise<Stream>;
  create(body: Whole | Streaming, options?: RequestOptions): Promise<Answer | Stream>;
}

/** `create` of completions: without `stream: true` it resolves to the whole answer, with it to a stream. */
export type Create<Whole, Streaming, Answer, Stream> = Creating<Whole, Streaming, Answer, Stream>['create'];
