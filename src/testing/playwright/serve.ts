import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, extname, join, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { embeddedModel } from '../../engine/embedded-model.ts';

/** Where the built package lies, this file in it. */
const packageFolder = dirname(fileURLToPath(import.meta.url));

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};

/** A page that does nothing but have the library, as `window.tokenprism`. */
const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Tokenprism</title>
    <link rel="icon" href="data:,">
    <script type="module">
      const parts = Promise.all([import('./package/index.js'), import('./package/testing.js')]);
      window.tokenprismReady = parts.then((parts) => {
        window.tokenprism = Object.assign({}, ...parts);
      });
      window.tokenprismReady.catch(() => {});
    </script>
  </head>
  <body></body>
</html>
`;

export interface PackageServer {
  /** Of a page with the library. */
  url: string;
  /** URLs of the embedded model's files by their name, which pages of every origin may read. */
  modelFiles: Record<string, string>;
  close(): Promise<void>;
}

/** Serves the package and the embedded model on a free port of this machine. */
export async function servePackage(): Promise<PackageServer> {
  const { files } = embeddedModel();
  const server = createServer((request, response) => {
    answer(request.url ?? '/', files, response).catch(() => {
      // Behind the headers it is the page that went away.
      if (response.headersSent) response.destroy();
      else response.writeHead(404, { 'content-type': 'text/plain' }).end('There is no such file.');
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  // As localhost it is a secure context, which WebGPU needs.
  const url = `http://localhost:${(server.address() as AddressInfo).port}/`;
  return {
    url,
    modelFiles: Object.fromEntries(Object.keys(files).map((name) => [name, `${url}model/${name}`])),
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        server.closeAllConnections();
      }),
  };
}

/** Rejects where there is no such file, and where the page does not take all of it. */
async function answer(
  address: string,
  model: Record<string, string>,
  response: ServerResponse,
): Promise<void> {
  const headers = { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' };
  const path = decodeURIComponent(new URL(address, 'http://localhost').pathname);
  if (path === '/') {
    response.writeHead(200, { ...headers, 'content-type': types['.html'] }).end(page);
    return;
  }
  const file = fileAt(path, model);
  const { size } = await stat(file);
  const type = types[extname(file)] ?? 'application/octet-stream';
  response.writeHead(200, { ...headers, 'content-type': type, 'content-length': size });
  await pipeline(createReadStream(file), response);
}

function fileAt(path: string, model: Record<string, string>): string {
  const modelFile = model[path.replace(/^\/model\//, '')];
  if (modelFile) return fileURLToPath(modelFile);
  const file = join(packageFolder, path.replace(/^\/package\//, ''));
  if (!path.startsWith('/package/') || !file.startsWith(packageFolder + sep)) throw new Error('no such file');
  return file;
}
