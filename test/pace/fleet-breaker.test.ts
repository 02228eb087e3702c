import { describe, expect, test } from 'vitest';
import { type Breaker, type CallOutcome, createFleetBreaker } from '../../lib/pace/breaker.ts';
import { type BudgetItem, createMemoryBudget, type OpenBreaker } from '../../lib/pace/budget.ts';
import { createVirtualClock } from './virtual-clock.ts';

/** One worker and its budget item, with the outcomes of its probes. Default: no probe gets a response. */
function createWorker(
  outcomes: readonly (CallOutcome | (() => CallOutcome))[] = [],
  item: Partial<BudgetItem> = {},
) {
  const clock = createVirtualClock();
  const budget = createMemoryBudget();
  const memory = {
    read: async () => (await budget.read()).breaker,
    set: (breaker: OpenBreaker | undefined) => budget.change('set', (each) => ({ ...each, breaker })),
  };
  let setMs = 0;
  const log: string[] = [];
  const remaining = [...outcomes];
  const logged =
    <Args extends readonly unknown[], T>(name: string, act: (...given: Args) => Promise<T>) =>
    (...given: Args) => {
      log.push(`${name} at ${clock.now()}`);
      return act(...given);
    };
  const breaker = createFleetBreaker({
    clock: { now: () => clock.now() + setMs, steady: clock.now, sleep: clock.sleep },
    item: {
      read: logged('read', item.read ?? budget.read),
      change: (act, next) => logged(act.split(' ')[0] ?? '', budget.change)(act, next),
    },
    probe: logged('probe', async () => {
      const outcome = remaining.shift() ?? 'unreachable';
      return typeof outcome === 'string' ? outcome : outcome();
    }),
    onOpen: () => log.push('opened'),
    onClosed: () => log.push('closed'),
  });
  const pass = (ms: number) => clock.finish(clock.sleep(ms));
  const blockedMs = () => clock.finish(breaker.blockedMs());
  const takeLog = () => log.splice(0);
  const setClock = (ms: number) => {
    setMs = ms;
  };
  return { breaker, memory, clock, setClock, pass, blockedMs, takeLog };
}

function fail(breaker: Breaker, times: number): void {
  for (let call = 0; call < times; call += 1) breaker.ended('unreachable', 50);
}

/** The breaker as another worker opened it at 0. */
const opened: OpenBreaker = { sinceMs: 0, cause: 'unreachable', probeAtMs: 10_000 };

describe('a worker without an outage', () => {
  test('reads the breaker at most every half minute, even if many calls wait', async () => {
    const { breaker, blockedMs, pass, takeLog } = createWorker();

    await Promise.all([breaker.blockedMs(), breaker.blockedMs()]);
    await pass(30_000);
    const blocked = await blockedMs();
    const until30s = takeLog();
    await pass(1);
    await blockedMs();

    expect(blocked).toBeUndefined();
    expect(until30s).toEqual(['read at 0']);
    expect(takeLog()).toEqual(['read at 30001']);
  });

  test('throws errors that are not the table’s fault', async () => {
    const { breaker } = createWorker([], { read: () => Promise.reject(new TypeError('a defect')) });

    await expect(breaker.blockedMs()).rejects.toThrow('a defect');
  });
});

describe('three consecutive failures', () => {
  test('open the breaker if all probes fail until two seconds after the first failure', async () => {
    const { breaker, blockedMs, pass, takeLog, memory } = createWorker();
    breaker.onBudget({});
    fail(breaker, 3);
    await pass(500);

    const blocked = await blockedMs();

    expect(takeLog()).toEqual(['probe at 500', 'probe at 2000', 'open at 2000', 'opened']);
    expect(blocked).toBe(10_000);
    expect(await memory.read()).toEqual({ sinceMs: 0, cause: 'unreachable', probeAtMs: 12_000 });
  });

  test('do not open the breaker if a call gets a response while a probe fails', async () => {
    const { breaker, pass, clock, takeLog } = createWorker();
    breaker.onBudget({});
    fail(breaker, 3);

    const blocked = breaker.blockedMs();
    await clock.run(1_000);
    breaker.ended('answered', 50);
    await pass(5_000);

    expect(await blocked).toBeUndefined();
    expect(takeLog()).toEqual(['probe at 0', 'probe at 2000']);
  });
});

describe('a breaker that another worker opened', () => {
  test('is known from a read of the budget, and is read again after a second', async () => {
    const { breaker, memory, blockedMs, pass, takeLog } = createWorker();
    await memory.set(opened);
    breaker.onBudget({ breaker: opened });

    await pass(1_000);
    const blocked = await blockedMs();
    const within1s = takeLog();
    await pass(1);
    await blockedMs();

    expect([blocked, breaker.knownBlockedMs()]).toEqual([9_000, 8_999]);
    expect(within1s).toEqual(['opened']);
    expect(takeLog()).toEqual(['read at 1001']);
  });

  test('is read again before a budget that shows it closed is believed', async () => {
    const { breaker, memory, blockedMs, pass, takeLog } = createWorker();
    await memory.set(opened);
    breaker.onBudget({ breaker: opened });
    await pass(500);

    breaker.onBudget({});
    const known = breaker.knownBlockedMs();
    await memory.set(undefined);
    const blocked = await blockedMs();

    expect([known, blocked]).toEqual([9_500, undefined]);
    expect(takeLog()).toEqual(['opened', 'read at 500', 'closed']);
  });
});

describe('a call that gets a response', () => {
  test('closes the breaker if it left after the first failure', async () => {
    const { breaker, memory, pass, takeLog } = createWorker();
    await memory.set(opened);
    breaker.onBudget({ breaker: opened });
    await pass(1_000);

    breaker.ended('answered', 1_000);
    breaker.ended('unreachable', 10);
    const whenOld = takeLog();
    breaker.ended('answered', 999);
    await pass(0);

    expect(whenOld).toEqual(['opened']);
    expect(takeLog()).toEqual(['closed', 'close at 1000']);
    expect(await memory.read()).toBeUndefined();
  });

  test('does not close a breaker that was opened after the call left', async () => {
    const reopened = { ...opened, sinceMs: 9_000, probeAtMs: 30_000 };
    const { breaker, memory, blockedMs, pass, takeLog } = createWorker([
      () => {
        breaker.onBudget({ breaker: reopened });
        return 'answered';
      },
    ]);
    await memory.set(opened);
    breaker.onBudget({ breaker: opened });
    await pass(10_000);

    await blockedMs();

    expect(takeLog()).not.toContain('closed');
    expect(breaker.knownBlockedMs()).toBe(10_000);
  });
});

describe('after another worker has ended an outage, a new outage', () => {
  async function cutOffAfter(ms: number) {
    const worker = createWorker(['unreachable', 'unreachable', 'unreachable', 'answered']);
    const { breaker, memory, blockedMs, pass, takeLog } = worker;
    await memory.set(opened);
    breaker.onBudget({ breaker: opened });
    await memory.set(undefined);
    await pass(2_000);
    await blockedMs();
    await pass(ms - 2_000);
    fail(breaker, 3);
    takeLog();
    const blocked = await blockedMs();
    return { ...worker, blocked };
  }

  test('that only this worker sees within a minute stops only this worker, without a read or a write of the table', async () => {
    const { breaker, blocked, blockedMs, pass, takeLog } = await cutOffAfter(31_000);
    await pass(2_000);
    breaker.onBudget({});
    breaker.onBudget({ breaker: { ...opened, sinceMs: 30_000, probeAtMs: 99_000 } });
    const known = breaker.knownBlockedMs();
    await pass(8_000);
    const stillBlocked = await blockedMs();
    await pass(10_000);
    const after = await blockedMs();

    expect([blocked, known, stillBlocked, after]).toEqual([10_000, 8_000, 10_000, undefined]);
    expect(takeLog()).toEqual([
      'probe at 31000',
      'probe at 33000',
      'opened',
      'probe at 43000',
      'probe at 53000',
      'closed',
    ]);
  });

  test('that this worker sees a minute later opens the breaker for all workers', async () => {
    const { takeLog } = await cutOffAfter(60_000);

    expect(takeLog()).toContain('open at 62000');
  });
});

describe.each([
  ['forward', 5 * 3_600_000],
  ['back', -5 * 3_600_000],
])('a clock that is set %s by hours', (_, setMs) => {
  test('does not open the breaker if a probe has shown that the failures were momentary', async () => {
    const { breaker, setClock, blockedMs, takeLog } = createWorker(['answered']);
    breaker.onBudget({});
    fail(breaker, 1);
    setClock(setMs);
    fail(breaker, 2);

    const blocked = await blockedMs();
    fail(breaker, 3);
    setClock(0);
    const again = await blockedMs();

    expect([blocked, again]).toEqual([undefined, undefined]);
    expect(takeLog()).toEqual(['probe at 0']);
  });

  test('does not shorten the two seconds for which calls must have failed', async () => {
    const { breaker, setClock, blockedMs, takeLog } = createWorker();
    breaker.onBudget({});
    fail(breaker, 3);
    setClock(setMs);

    await blockedMs();

    expect(takeLog()).toEqual(['probe at 0', 'probe at 2000', 'open at 2000', 'opened']);
  });

  test('does not close the breaker by a response to a call that began before it opened', async () => {
    const { breaker, memory, setClock, pass, takeLog } = createWorker();
    await memory.set(opened);
    await pass(500);
    breaker.onBudget({ breaker: opened });
    setClock(setMs);

    breaker.ended('answered', 600);
    await pass(1);

    expect(takeLog()).toEqual(['opened']);
  });

  test('does not stop the breaker from closing by a response to a later call, or by a probe within ten seconds', async () => {
    const responded = createWorker();
    const probing = createWorker(['answered']);
    for (const { breaker, memory, setClock, pass } of [responded, probing]) {
      await memory.set(opened);
      breaker.onBudget({ breaker: opened });
      setClock(setMs);
      await pass(9_000);
    }

    responded.breaker.ended('answered', 50);
    await responded.pass(1);
    await probing.pass(1_000);
    await probing.blockedMs();

    expect(responded.takeLog()).toEqual(['opened', 'closed', 'close at 9000']);
    expect(probing.takeLog()).toContain('closed');
  });
});
