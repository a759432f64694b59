/** The module that `scripts/xgrammar.mjs` makes of @mlc-ai/web-xgrammar. */
declare module 'virtual:xgrammar' {
  /** The WebAssembly file. */
  export const wasmBase64: string;

  export function createModule(options: {
    printErr(text: string): void;
    instantiateWasm(
      imports: WebAssembly.Imports & { a: Record<string, (...values: number[]) => number | undefined> },
      receive: (instance: WebAssembly.Instance) => void,
    ): object;
  }): Promise<XgrammarModule>;

  /** An object of C++; lives until `delete`. */
  interface Handle {
    delete(): void;
  }

  export interface XgrammarModule {
    Grammar: { FromEBNF: new (source: string, rootRule: string) => Handle };
    TokenizerInfo: new (
      vocabulary: Handle,
      type: 'RAW',
      size: number,
      stopTokenIds: Handle,
      prependSpace: boolean,
    ) => Handle;
    GrammarCompiler: new (
      tokenizerInfo: Handle,
      threads: number,
      isCached: boolean,
    ) => Handle & { CompileGrammar(grammar: Handle): Handle };
    GrammarMatcher: new (
      compiled: Handle,
      overrideStopTokens: undefined,
      terminateWithoutStopToken: boolean,
      maxRollbackTokens: number,
    ) => XgrammarMatcher;
    vecStringFromJSArray(strings: Uint8Array[]): Handle;
    vecIntFromJSArray(numbers: readonly number[]): Handle;
    /** A view of WebAssembly memory, valid until the next call. */
    vecIntToView(vector: Handle): Int32Array;
  }

  export interface XgrammarMatcher extends Handle {
    AcceptToken(id: number, isVerbose: boolean): boolean;
    GetNextTokenBitmask(size: number): Handle;
    IsTerminated(): boolean;
    FindJumpForwardString(): string;
    Rollback(tokens: number): void;
  }
}
