import { expect, test } from 'vitest';
import { createWorkerTally, noTally } from '../../lib/pace/tally.ts';

test('what a worker did is counted, and reported to the budget once', () => {
  const tally = createWorkerTally();

  tally.add({ used: 1, waitedMs: 30 });
  tally.add({ used: 1, wasted: 2 });
  const first = tally.takeUnreported();
  tally.add({ throttled: 1 });

  expect(first).toEqual({ ...noTally, used: 2, wasted: 2, waitedMs: 30 });
  expect(tally.takeUnreported()).toEqual({ ...noTally, throttled: 1 });
  expect(tally.counted()).toEqual({ ...noTally, used: 2, wasted: 2, waitedMs: 30, throttled: 1 });
});

test('what a write could not report is left for the next, with what was done in the meantime', () => {
  const tally = createWorkerTally();
  tally.add({ used: 3 });

  const taken = tally.takeUnreported();
  tally.add({ used: 1 });
  tally.giveBack(taken);

  expect(tally.takeUnreported()).toEqual({ ...noTally, used: 4 });
  expect(tally.counted()).toEqual({ ...noTally, used: 4 });
});

test('granted slots are counted but not reported: the budget has counted them itself', () => {
  const tally = createWorkerTally();

  tally.addGranted(12);

  expect(tally.counted()).toEqual({ ...noTally, granted: 12 });
  expect(tally.takeUnreported()).toEqual(noTally);
});
