import type { ModelReport, TokenTable } from '../src/protocol.ts';
import type { Backend } from './backends/backend.ts';
import type { Drafts } from './drafts/drafts.ts';
import type { Constraints } from './grammar/constraints.ts';
import type { ChatTemplate } from './prompt/template.ts';

/** A loaded model: all that stays the same when its backend is made anew after a device loss. */
export interface Model {
  readonly report: ModelReport;
  readonly template: Pick<ChatTemplate, 'render' | 'remember'>;
  readonly table: TokenTable;
  readonly constraints: Pick<Constraints, 'prepare' | 'dispose'>;
  /** `null`: each token takes a pass of its own, unless a grammar forces it. */
  readonly drafts: Drafts | null;
  /** Makes a device and sessions. At most one backend exists at a time. */
  createBackend(): Promise<Backend>;
}
