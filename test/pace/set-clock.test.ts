import { expect, test } from 'vitest';
import type { BudgetItem } from '../../lib/pace/budget.ts';
import { createMemoryBudget } from '../../lib/pace/budget-changes.ts';
import { createSetClock } from '../../lib/pace/set-clock.ts';
import { createTableClock, type DateSeen } from '../../lib/pace/table-clock.ts';
import { TableError } from '../../lib/table/table-error.ts';
import { createVirtualClock } from './virtual-clock.ts';

const START_MS = 1_000_000_000_000;

type Given = {
  /** The numbers of the reads that fail. */
  readonly failures?: readonly number[];
  readonly hasDates?: boolean;
};

/** A process whose clock is 300 ms ahead of the table's, and its set clock. */
function createProcess({ failures = [], hasDates = true }: Given = {}) {
  const virtual = createVirtualClock();
  const state = { offMs: 300, reads: 0 };
  const now = () => START_MS + state.offMs + virtual.now();
  const clock = createTableClock({ now, steady: virtual.now, sleep: virtual.sleep });
  let saw = (_: DateSeen): void => undefined;
  const item: BudgetItem = {
    ...createMemoryBudget(),
    onDate(listener) {
      saw = listener;
    },
    async read() {
      state.reads += 1;
      const sentMs = now();
      if (failures.includes(state.reads)) {
        await virtual.sleep(1_000);
        throw new TableError('read', { kind: 'unreachable', code: 'lost' });
      }
      await virtual.sleep(3);
      const dateMs = Math.floor((START_MS + virtual.now()) / 1_000) * 1_000;
      await virtual.sleep(3);
      if (hasDates) saw({ dateMs, sentMs, receivedMs: now() });
      return createMemoryBudget().read();
    },
  };
  const setClock = createSetClock({ item, clock, rest: virtual.sleep });
  return {
    state,
    clock,
    virtual,
    errorMs: () => clock.now() - START_MS - virtual.now(),
    /** Sets the clock for as many callers; how many of them waited how long. */
    async set(callers = 1, signal?: AbortSignal) {
      const sets = Array.from({ length: callers }, () =>
        setClock(signal).then(
          () => Math.round(virtual.now()),
          (error: unknown) => error,
        ),
      );
      await virtual.run();
      return Promise.all(sets);
    },
  };
}

test('a clock is right a second later', async () => {
  const { set, clock, errorMs } = createProcess();

  await set();

  expect(clock.uncertaintyMs()).toBeLessThan(60);
  expect(Math.abs(errorMs())).toBeLessThan(30);
});

test('a clock is set although looks get no response: it doubts what it may be off, and later calls narrow that', async () => {
  const { set, clock, errorMs } = createProcess({ failures: [3, 9, 20] });

  await set();
  const [first, doubtMs] = [Math.abs(errorMs()), clock.doubtMs()];
  for (let call = 0; call < 6; call += 1) await set();

  expect(doubtMs).toBeGreaterThanOrEqual(first - 9);
  expect(clock.uncertaintyMs()).toBeLessThan(60);
  expect(Math.abs(errorMs())).toBeLessThan(30);
});

test('a table that is away is the caller’s to know', async () => {
  const { set, state } = createProcess({ failures: [1, 2] });

  expect(await set()).toEqual([expect.any(TableError)]);
  expect(state.reads).toBe(2);
});

test('several callers look once, and nobody again until the clock is set by somebody', async () => {
  const { set, state, errorMs, virtual } = createProcess();
  const waited = await set(3);
  const firstReads = state.reads;
  await set();
  await set();
  const laterReads = state.reads - firstReads;

  state.offMs = -5_000;
  const [again] = await set();

  expect(new Set(waited).size).toBe(1);
  expect(waited[0]).toBeLessThan(1_100);
  expect(firstReads).toBeLessThan(50);
  // Beside the work, each halves what is open.
  expect(laterReads).toBeLessThanOrEqual(2);
  expect(Math.abs(errorMs())).toBeLessThan(30);
  expect(Number(again)).toBeLessThanOrEqual(virtual.now());
});

test('responses without a Date are not waited for, nor asked for again', async () => {
  const { set, state, errorMs } = createProcess({ hasDates: false });

  const [waitedMs] = await set();
  await set();

  expect([errorMs(), state.reads]).toEqual([300, 3]);
  expect(Number(waitedMs)).toBeLessThan(200);
});

test('a caller that gives up looks no more', async () => {
  const { set, state } = createProcess();
  const stopped = new AbortController();
  const done = set(1, stopped.signal);
  stopped.abort(new Error('enough'));

  expect(await done).toEqual([new Error('enough')]);
  expect(state.reads).toBeLessThanOrEqual(1);
});
