import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { ChatTemplate } from '../../../worker/prompt/template.ts';
import { PromptTokenizer } from '../../../worker/prompt/tokenizer.ts';

const require = createRequire(import.meta.url);

export interface PromptFiles {
  tokenizerJson: Record<string, unknown>;
  tokenizerConfig: Record<string, unknown>;
}

const readJson = (path: string | URL) => JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;

/** The embedded model's folder. */
export const tinyFolder = new URL('../../../models/tiny/', import.meta.url);

export function tinyFiles(): PromptFiles {
  return {
    tokenizerJson: readJson(new URL('tokenizer.json', tinyFolder)),
    tokenizerConfig: readJson(new URL('tokenizer_config.json', tinyFolder)),
  };
}

/** Files of a real model's tokenizer from its package. */
export function packageFiles(name: string): PromptFiles {
  return {
    tokenizerJson: readJson(require.resolve(`${name}/models/tokenizer.json`)),
    tokenizerConfig: readJson(require.resolve(`${name}/models/tokenizer_config.json`)),
  };
}

export function promptOf(
  { tokenizerJson, tokenizerConfig }: PromptFiles,
  templateFile: string | null = null,
) {
  const tokenizer = new PromptTokenizer(tokenizerJson, tokenizerConfig);
  return { tokenizer, template: new ChatTemplate(tokenizer, tokenizerConfig, templateFile) };
}
