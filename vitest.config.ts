import { defineConfig } from 'vitest/config';

const long = process.env.TOKENPRISM_LONG === '1';

export default defineConfig({
  test: {
    environment: 'node',
    include: [
      'test/unit/**/*.test.ts',
      'test/conformance/**/*.test.ts',
      ...(long ? ['test/long/**/*.test.ts'] : []),
    ],
    testTimeout: long ? 300_000 : 20_000,
  },
});
