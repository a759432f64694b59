/** Workers that render prompts: with the embedded model's files, or for the output of a conformance case. */
import { readFileSync } from 'node:fs';
import { TokenFlag, type TokenTable } from '../../../src/protocol.ts';
import { ScriptedBackend, ScriptedTurns } from '../../../worker/backends/scripted/backend.ts';
import { loadModel } from '../../../worker/load.ts';
import type { Tokens } from '../../conformance/replay.ts';
import { InProcessWorker } from '../engine/in-process-worker.ts';
import { tinyFolder } from '../worker/models.ts';

/** The real one, on the embedded model's folder, whatever the options name. */
export const tinyWorker = () =>
  new InProcessWorker((message, onProgress, signal) =>
    loadModel({ ...message, model: { kind: 'folder', url: tinyFolder.href } }, onProgress, signal, {
      fetch: async (url) => {
        try {
          return new Response(readFileSync(new URL(String(url))));
        } catch {
          return new Response(null, { status: 404 });
        }
      },
      store: null,
      wasm: { bytes: new Uint8Array() },
    }),
  );

/** One whose template writes a case's prompt, whatever the messages are. */
export function caseWorker({ prompt, table: given }: Tokens): InProcessWorker {
  const eosTokenId = given.flags.length;
  const boundary = eosTokenId + 1;
  const table = withControls(given, ['<eos>', '<turn>']);
  const ids = Uint32Array.of(boundary, ...prompt);
  const decoder = new TextDecoder();
  const textOf = (id: number) =>
    decoder.decode(table.bytes.subarray(table.offsets[id]!, table.offsets[id + 1]!));
  const text = Array.from(ids, textOf).join('');
  const model = {
    encode: () => [],
    eosTokenId,
    vocabularySize: table.flags.length,
    contextLength: 1024,
  };
  const turns = new ScriptedTurns([{ ids: [] }], model);
  return new InProcessWorker(async () => {
    const createBackend = async () => new ScriptedBackend(turns, model);
    return {
      backend: await createBackend(),
      model: {
        report: {
          id: 'case',
          modelType: 'case',
          vocabularySize: model.vocabularySize,
          contextLength: model.contextLength,
          eosTokenIds: [eosTokenId],
          chatTemplate: '',
          defaults: {},
        },
        template: { render: () => ({ text, ids: ids.slice(), header: null }), remember: () => {} },
        table,
        constraints: {
          prepare: () => {
            throw new Error('A rendered prompt has no grammar.');
          },
          dispose: () => {},
        },
        drafts: null,
        createBackend,
      },
    };
  });
}

function withControls({ bytes, offsets, flags }: TokenTable, texts: readonly string[]): TokenTable {
  const encoded = texts.map((text) => new TextEncoder().encode(text));
  let end = bytes.length;
  const ends = encoded.map((added) => (end += added.length));
  return {
    bytes: Uint8Array.of(...bytes, ...encoded.flatMap((added) => [...added])),
    offsets: Uint32Array.of(...offsets, ...ends),
    flags: Uint8Array.of(...flags, ...texts.map(() => TokenFlag.added | TokenFlag.special)),
  };
}
