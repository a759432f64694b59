import { defineConfig } from 'vitest/config';
import { xgrammar } from './scripts/xgrammar.mjs';

const long = process.env.TOKENPRISM_LONG === '1';

export default defineConfig({
  plugins: [xgrammar()],
  test: {
    environment: 'node',
    // All cores: the default leaves one idle, which is half of a machine with two.
    maxWorkers: '100%',
    include: [
      'test/unit/**/*.test.ts',
      'test/conformance/**/*.test.ts',
      'test/agreement/**/*.test.ts',
      ...(long ? ['test/long/**/*.test.ts'] : []),
    ],
    testTimeout: long ? 300_000 : 60_000,
    hookTimeout: 60_000,
  },
});
