/** What the AI SDK's streams are made of, as far as it is used. */
export interface StreamPart {
  type: string;
  delta?: string;
  toolName?: string;
  input?: string;
}

export interface PeerOptions {
  tools: readonly { name: string; parameters?: unknown }[];
  /** The prompt has opened a block of reasoning. */
  startsInReasoning: boolean;
}

/** One answer. */
export interface PeerStream {
  push(text: string): void;
  end(): void;
  /** The next part; `null` at the end. */
  next(): Promise<StreamPart | null>;
}

export interface Peer {
  name: string;
  readsCalls: boolean;
  open(options: PeerOptions): Promise<PeerStream>;
}

export const peers: readonly Peer[];
