import type { Plugin } from 'vite';
import { isOwnBuild } from './own-build.ts';

/**
 * What the built app may do. Models come from where the user says, so requests may go to any secure server; scripts,
 * styles, pictures and frames may not.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self' https: http://localhost:* http://127.0.0.1:*",
  "worker-src 'self'",
  "frame-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** The page says it itself, so that it holds on any server of files; workers have their own headers, where they are given. */
export function contentSecurityPolicy(): Plugin {
  return {
    name: 'tokenprism-demo:policy',
    apply: isOwnBuild,
    transformIndexHtml: () => [
      {
        tag: 'meta',
        attrs: { 'http-equiv': 'content-security-policy', content: policy },
        injectTo: 'head-prepend',
      },
    ],
  };
}

/** The same for what is served from here. The sandbox has a policy of its own. */
export function servedPolicy(): Plugin {
  return {
    name: 'tokenprism-demo:served-policy',
    configurePreviewServer(server) {
      server.middlewares.use((request, response, next) => {
        if (!request.url?.includes('/sandbox/')) {
          response.setHeader('content-security-policy', `${policy}; frame-ancestors 'self'`);
        }
        response.setHeader('x-content-type-options', 'nosniff');
        next();
      });
    },
  };
}
