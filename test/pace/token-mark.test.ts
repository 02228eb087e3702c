import { expect, test } from 'vitest';
import { createFleetBreaker } from '../../lib/pace/breaker.ts';
import { createMemoryBudget } from '../../lib/pace/budget.ts';

/** Workers that share a budget, whose clock the test sets. */
function createFleet(change?: (act: string) => void) {
  const budget = createMemoryBudget();
  let nowMs = 1_000;
  const item = {
    ...budget,
    change: async (...given: Parameters<typeof budget.change>) => {
      change?.(given[0]);
      return budget.change(...given);
    },
  };
  let setMs = 0;
  const worker = () => {
    const breaker = createFleetBreaker({
      item,
      probe: async () => 'neither',
      clock: { now: () => nowMs + setMs, steady: () => nowMs, sleep: async () => undefined },
    });
    return {
      /** Reports a call that began at `beganMs` and ends now, after the worker has read the budget. */
      async ended(outcome: 'answered' | 'refused token' | 'unreachable', beganMs = nowMs) {
        breaker.onBudget(await budget.read());
        breaker.ended(outcome, nowMs - beganMs);
        await Promise.resolve();
      },
      /** Reports a refused token, before the worker has read what others recorded. */
      async refusedUnread() {
        breaker.ended('refused token', 0);
        await Promise.resolve();
      },
    };
  };
  const refusedAtMs = async () => (await budget.read()).tokenRefusedAtMs;
  const pass = (ms: number) => {
    nowMs += ms;
  };
  const setClock = (ms: number) => {
    setMs = ms;
  };
  return { worker, refusedAtMs, pass, setClock };
}

test('the first time at which the platform refused the token stays recorded until a call of any worker succeeds', async () => {
  const { worker, refusedAtMs, pass } = createFleet();
  const one = worker();
  const another = worker();

  await one.ended('refused token');
  pass(60_000);
  await another.ended('refused token');
  await another.ended('unreachable');
  expect(await refusedAtMs()).toBe(1_000);

  await another.ended('answered');
  expect(await refusedAtMs()).toBeUndefined();
});

test('a worker that has not yet read that the token is refused does not replace the time of the first refusal', async () => {
  const { worker, refusedAtMs, pass } = createFleet();

  await worker().ended('refused token');
  pass(500);
  await worker().refusedUnread();

  expect(await refusedAtMs()).toBe(1_000);
});

test('a successful call that began before the token was refused does not clear the record', async () => {
  const { worker, refusedAtMs, pass } = createFleet();
  const one = worker();

  await one.ended('refused token');
  pass(50);
  await one.ended('answered', 900);

  expect(await refusedAtMs()).toBe(1_000);
});

test('if the refusal of the token could not be recorded, the next refusal is', async () => {
  let isUnavailable = true;
  const { worker, refusedAtMs } = createFleet(() => {
    if (isUnavailable) throw new Error('the table is unavailable');
  });
  const one = worker();

  await one.ended('refused token');
  expect(await refusedAtMs()).toBeUndefined();
  isUnavailable = false;
  await one.ended('refused token');

  expect(await refusedAtMs()).toBe(1_000);
});

test('two workers, of which one has a refused token, write at most twice a minute', async () => {
  let writes = 0;
  const { worker, pass } = createFleet(() => {
    writes += 1;
  });
  const refused = worker();
  const accepted = worker();

  for (let second = 0; second < 300; second += 1) {
    pass(1_000);
    await refused.ended('refused token');
    await accepted.ended('answered');
  }

  expect(writes).toBeLessThanOrEqual(10);
});

test.each([5, -5])(
  'if the clock is set by %i hours, a refusal is recorded again after a minute',
  async (hours) => {
    const { worker, refusedAtMs, pass, setClock } = createFleet();
    const one = worker();
    await one.ended('refused token');
    await one.ended('answered');
    setClock(hours * 3_600_000);

    pass(30_000);
    await one.ended('refused token');
    const soon = await refusedAtMs();
    pass(30_000);
    await one.ended('refused token');

    expect([soon, await refusedAtMs()]).toEqual([undefined, 61_000 + hours * 3_600_000]);
  },
);
