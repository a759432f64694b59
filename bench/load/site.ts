/** The page of the benchmark, built as an application's is, and a server that lets browsers keep what they get. */
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

const types: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};

export interface Site {
  origin: string;
  close(): Promise<void>;
}

/** Builds the page and serves it. */
export async function serveSite(): Promise<Site> {
  const folder = await mkdtemp(join(tmpdir(), 'tokenprism-load-'));
  await build({
    configFile: path('../../vite.config.ts'),
    mode: 'demo',
    root: path('.'),
    logLevel: 'error',
    build: { outDir: folder, emptyOutDir: true },
  });
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url!, 'http://localhost');
    const name = pathname === '/' ? '/index.html' : pathname;
    const file = join(folder, normalize(name));
    try {
      const { size } = await stat(file);
      response.writeHead(200, {
        'content-type': types[extname(name)] ?? 'application/octet-stream',
        'content-length': size,
        'cache-control': name === '/index.html' ? 'no-cache' : 'public, max-age=31536000, immutable',
      });
      await pipeline(createReadStream(file), response);
    } catch {
      if (!response.headersSent) response.writeHead(404);
      response.end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
