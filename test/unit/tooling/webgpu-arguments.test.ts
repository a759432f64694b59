import { expect, it } from 'vitest';
import { chromiumArguments } from '../../../scripts/chromium.mjs';
import { webgpuArguments } from '../../../src/testing/playwright/chromium.ts';

it.each(['any', 'software'] as const)(
  'the package gives applications the switches that this project tests with: %s',
  (adapter) => {
    expect(chromiumArguments({ adapter })).toEqual(
      expect.arrayContaining(webgpuArguments(adapter, process.platform)),
    );
  },
);
