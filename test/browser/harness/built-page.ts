/** A page of an application that was built as a user would, and is served by Vite. */
import type { Server } from 'node:net';
import type { Page } from '@playwright/test';

/** Where a page finds the server. */
export function addressOf(address: ReturnType<Server['address']> | undefined): string {
  if (typeof address !== 'object' || address === null) throw new Error('The server listens on no port.');
  return `http://localhost:${address.port}`;
}

/** Collects what the page writes to its console, and its errors. */
export function listenTo(page: Page): { said: string } {
  const heard = { said: '' };
  page.on('console', (message) => {
    heard.said += message.text();
  });
  page.on('pageerror', (error) => {
    heard.said += error.message;
  });
  return heard;
}
