/** Splits whole outputs in a thread of its own, because one that never returns has to be ended from outside. */
import { parentPort } from 'node:worker_threads';
import { peers } from './pipelines.mjs';

parentPort.on('message', async ({ peer, options, pieces }) => {
  try {
    const stream = await peers[peer].open(options);
    for (const piece of pieces) stream.push(piece);
    stream.end();
    const parts = [];
    for (let part = await stream.next(); part; part = await stream.next()) {
      const { type, delta, toolName, input } = part;
      parts.push({ type, delta, toolName, input });
    }
    parentPort.postMessage({ parts });
  } catch (error) {
    parentPort.postMessage({ error: String(error) });
  }
});

parentPort.postMessage('ready');
