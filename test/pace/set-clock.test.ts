import { expect, test } from 'vitest';
import type { BudgetItem } from '../../lib/pace/budget.ts';
import { createSetClock } from '../../lib/pace/set-clock.ts';
import { createTableClock, type DateSeen } from '../../lib/pace/table-clock.ts';
import { TableError } from '../../lib/table/table-error.ts';
import { createMemoryBudget } from './memory-budget.ts';
import { createVirtualClock } from './virtual-clock.ts';

const START_MS = 1_000_000_000_000;
const OFF_MS = 300;

/** A process whose clock is 300 ms ahead of a table that fails in the reads with these numbers, and its set clock. */
async function setClockDuring(failures: readonly number[]) {
  const virtual = createVirtualClock();
  const now = () => START_MS + OFF_MS + virtual.now();
  const clock = createTableClock({ now, steady: virtual.now, sleep: virtual.sleep });
  let saw = (_: DateSeen): void => undefined;
  let reads = 0;
  const item: BudgetItem = {
    ...createMemoryBudget(),
    onDate(listener) {
      saw = listener;
    },
    async read() {
      reads += 1;
      const sentMs = now();
      if (failures.includes(reads)) {
        await virtual.sleep(1_000);
        throw new TableError('read', { kind: 'unreachable', code: 'lost' });
      }
      await virtual.sleep(3);
      const dateMs = Math.floor((START_MS + virtual.now()) / 1_000) * 1_000;
      await virtual.sleep(3);
      saw({ dateMs, sentMs, receivedMs: now() });
      return createMemoryBudget().read();
    },
  };
  const set = createSetClock({ item, clock, rest: () => new Promise(() => undefined) })(undefined);
  await virtual.run();
  await set;
  return { clock, errorMs: clock.now() - START_MS - virtual.now() };
}

test('a clock is set although some looks at the table get no response', async () => {
  const { clock, errorMs } = await setClockDuring([3, 9, 20]);

  expect(clock.uncertaintyMs()).toBeLessThan(60);
  expect(Math.abs(errorMs)).toBeLessThan(30);
});

test('a table that is away is not waited for', async () => {
  const { clock } = await setClockDuring([1, 2, 3, 4]);

  expect(clock.uncertaintyMs()).toBe(Number.POSITIVE_INFINITY);
});
