/** What the tests find on the page: each client's part, which comes when it is asked for. */
export interface Clients {
  openai(): Promise<typeof import('./openai.ts')>;
  aiSdk(): Promise<typeof import('./ai-sdk.ts')>;
  langchain(): Promise<typeof import('./langchain.ts')>;
  agents(): Promise<typeof import('./agents.ts')>;
}

declare global {
  interface Window {
    clients: Clients;
  }
}

window.clients = {
  openai: () => import('./openai.ts'),
  aiSdk: () => import('./ai-sdk.ts'),
  langchain: () => import('./langchain.ts'),
  agents: () => import('./agents.ts'),
};
