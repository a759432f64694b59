import type { AskReport, AskRun } from './page.ts';

export function createPrinter(options: { json: boolean }): {
  report(report: AskReport): void;
  finish(run: AskRun): void;
  close(): void;
};
