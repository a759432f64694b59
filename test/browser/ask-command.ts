import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { AskRun } from '../../scripts/ask/page.ts';

const script = fileURLToPath(new URL('../../scripts/ask.mjs', import.meta.url));

/** Runs the command as a person does, with the output that it wrote and its exit code. */
export async function ask(...argumentList: string[]): Promise<{
  exitCode: number;
  stdout: string;
  stderr: string;
}> {
  const command = spawn(process.execPath, [script, ...argumentList], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(command.stdout),
    text(command.stderr),
    once(command, 'exit') as Promise<[number]>,
  ]);
  return { exitCode, stdout, stderr };
}

/** The one JSON object that `--json` prints. */
export async function askForJson(...argumentList: string[]): Promise<AskRun> {
  const { exitCode, stdout, stderr } = await ask('--json', ...argumentList);
  if (exitCode !== 0) throw new Error(`ask ended with ${exitCode}: ${stderr}`);
  return JSON.parse(stdout);
}
