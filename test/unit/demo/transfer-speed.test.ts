import { expect, it } from 'vitest';
import { TransferSpeed } from '../../../demo/engine/transfer-speed.ts';

it('is that of the last seconds, over all files', () => {
  const speed = new TransferSpeed();
  expect(speed.bytesPerSecond).toBeNull();
  speed.add('a', 0, 0);
  speed.add('a', 1000, 250);
  expect(speed.bytesPerSecond).toBeNull();
  speed.add('b', 500, 1000);
  expect(speed.bytesPerSecond).toBe(1500);
  for (let second = 2; second <= 10; second++) speed.add('a', 1000 + 100 * second, 1000 * second);
  expect(speed.bytesPerSecond).toBe(100);
});

it('is not known where files come from the store', () => {
  const speed = new TransferSpeed();
  for (let second = 0; second < 5; second++) speed.add('a', 0, 1000 * second);
  expect(speed.bytesPerSecond).toBeNull();
});
