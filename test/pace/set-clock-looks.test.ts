import { describe, expect, test } from 'vitest';
import type { BudgetItem } from '../../lib/pace/budget.ts';
import { createSetClock } from '../../lib/pace/set-clock.ts';
import type { DateSeen, TableClock } from '../../lib/pace/table-clock.ts';
import { TableError } from '../../lib/table/table-error.ts';
import { createMemoryBudget } from './memory-budget.ts';

const away = () => new TableError('read', { kind: 'unreachable', code: 'lost' });

/**
 * A clock that is known as exactly as it is told, and a table whose reads do as they are told. `beside`: whether looks
 * beside the work ever come.
 */
function fakeTable({ beside }: { readonly beside: boolean }) {
  const known = { uncertaintyMs: Number.POSITIVE_INFINITY, untilSecondMs: 500, nowMs: 0 };
  const log: string[] = [];
  let reads = 0;
  let onRead: (read: number) => unknown = () => undefined;
  const budget = createMemoryBudget();
  let onDate = (_: DateSeen): void => undefined;
  const item: BudgetItem = {
    ...budget,
    onDate: (listener) => {
      onDate = listener;
    },
    async read() {
      reads += 1;
      log.push('read');
      await onRead(reads);
      return budget.read();
    },
  };
  const clock: TableClock = {
    now: () => known.nowMs,
    sleep: async (ms) => void log.push(`sleep ${ms}`),
    saw: () => {
      known.uncertaintyMs = 1_010;
    },
    uncertaintyMs: () => known.uncertaintyMs,
    untilSecondMs: () => known.untilSecondMs,
    steps: () => 0,
    setByMs: () => 0,
    doubtMs: () => 0,
  };
  const rest = async (ms: number) => {
    log.push(`rest ${ms}`);
    if (!beside) await new Promise(() => undefined);
  };
  return {
    known,
    log,
    item,
    clock,
    reads: () => reads,
    /** A response to somebody else's request. */
    respond() {
      onDate({ dateMs: 0, sentMs: 0, receivedMs: 0 });
    },
    /** Does this at each read; the first is 1. */
    atEachRead: (does: (read: number) => unknown) => {
      onRead = does;
    },
    set: createSetClock({ item, clock, rest }),
  };
}

/** Lets what nobody waits for happen. */
async function settled() {
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
}

describe('before the first call, the table is looked at', () => {
  test('only if its time is known less exactly than half a second', async () => {
    const table = fakeTable({ beside: false });
    table.known.uncertaintyMs = 500;
    table.known.untilSecondMs = 300;

    await table.set(undefined);
    await settled();

    // Only beside the work.
    expect(table.log).toEqual(['rest 300']);
  });

  test('never, if responses have no date', async () => {
    const table = fakeTable({ beside: false });
    const { onDate: _, ...item } = table.item;

    await createSetClock({ ...table, rest: async () => undefined })(undefined);
    const set = createSetClock({ item, clock: table.clock, rest: async () => undefined });
    table.log.length = 0;
    await set(undefined);

    expect(table.log).toEqual([]);
  });

  test('each 25 ms, until the time is known to within 45 ms and what a look takes', async () => {
    const table = fakeTable({ beside: false });
    table.atEachRead((read) => {
      table.known.uncertaintyMs = [1_010, 300, 56, 55][read - 1] ?? 0;
    });

    await table.set(AbortSignal.timeout(60_000));

    expect(table.log.slice(0, 7)).toEqual([
      'read',
      'sleep 25',
      'read',
      'sleep 25',
      'read',
      'sleep 25',
      'read',
    ]);
    expect(table.log[7]).not.toBe('sleep 25');
  });

  test('sooner if its second begins sooner', async () => {
    const table = fakeTable({ beside: false });
    table.known.untilSecondMs = 7;
    table.atEachRead((read) => {
      table.known.uncertaintyMs = read === 1 ? 1_010 : 20;
    });

    await table.set(undefined);

    expect(table.log).toEqual(['read', 'sleep 7', 'read']);
  });

  test('for 1.1 seconds at most, and again 10 seconds later', async () => {
    const table = fakeTable({ beside: false });
    table.atEachRead(() => {
      table.known.uncertaintyMs = 1_030;
    });

    await table.set(undefined);
    // 20 looks of 55 ms, after the first.
    const first = table.reads();
    table.known.nowMs = 9_999;
    await table.set(undefined);
    const early = table.reads();
    table.known.nowMs = 10_000;
    await table.set(undefined);

    expect([first, early, table.reads()]).toEqual([21, 21, 42]);
  });

  test('by one of several callers', async () => {
    const table = fakeTable({ beside: false });
    table.atEachRead(async (read) => {
      await new Promise(setImmediate);
      table.known.uncertaintyMs = read === 1 ? 1_010 : 20;
    });

    await Promise.all([table.set(undefined), table.set(undefined), table.set(undefined)]);

    expect(table.reads()).toBe(2);
  });

  test('and nobody else waits for that, once it is known to within half a second', async () => {
    const table = fakeTable({ beside: false });
    const third = Promise.withResolvers<void>();
    table.atEachRead(async (read) => {
      if (read === 3) await third.promise;
      table.known.uncertaintyMs = [1_010, 300, 20][read - 1] ?? 0;
    });

    const first = table.set(undefined);
    await settled();
    await table.set(undefined);
    third.resolve();
    await first;

    expect(table.reads()).toBe(3);
  });

  test('again, at once, if its time becomes unknown after it was known', async () => {
    const table = fakeTable({ beside: false });
    table.atEachRead((read) => {
      table.known.uncertaintyMs = read === 1 ? 1_100 : 500;
    });

    await table.set(undefined);
    const first = table.reads();
    table.known.uncertaintyMs = Number.POSITIVE_INFINITY;
    await table.set(undefined);

    expect(table.reads()).toBeGreaterThan(first);
  });

  test('until the caller aborts', async () => {
    const table = fakeTable({ beside: false });
    const stop = new AbortController();
    table.atEachRead((read) => {
      table.known.uncertaintyMs = 1_010;
      if (read === 3) stop.abort(new Error('enough'));
    });

    await expect(table.set(stop.signal)).rejects.toThrow('enough');
    await settled();

    expect(table.reads()).toBe(3);
  });
});

describe('a table that does not respond', () => {
  test('is looked at again after 10 seconds, or as soon as somebody else got a response', async () => {
    const table = fakeTable({ beside: false });
    table.atEachRead(() => {
      throw away();
    });

    await table.set(undefined);
    await table.set(undefined);
    const silent = table.reads();
    table.respond();
    await table.set(undefined);
    const back = table.reads();
    await table.set(undefined);
    const failedAgain = table.reads();
    table.known.nowMs = 10_000;
    await table.set(undefined);

    expect([silent, back, failedAgain, table.reads()]).toEqual([1, 2, 2, 3]);
  });

  test('is one whose first three responses have no date', async () => {
    const table = fakeTable({ beside: false });

    await table.set(undefined);
    await table.set(undefined);
    const silent = table.reads();
    table.respond();
    table.atEachRead(() => {
      table.known.uncertaintyMs = 20;
    });
    await table.set(undefined);

    expect(silent).toBe(3);
    expect(table.reads()).toBe(4);
  });

  test('twice in a row while a second is looked for is away; once is not', async () => {
    const table = fakeTable({ beside: false });
    table.atEachRead((read) => {
      table.known.uncertaintyMs = 1_010;
      if ([3, 5, 6].includes(read)) throw away();
    });

    await table.set(undefined);

    const looks = [
      ['read'],
      ['sleep 25', 'read'],
      ['sleep 25', 'read', 'read'],
      ['sleep 25', 'read', 'read'],
    ];
    expect(table.log.filter((line) => !line.startsWith('rest'))).toEqual(looks.flat());
  });

  test.each([1, 2])('is not one where read %i fails for another reason, which is thrown', async (failing) => {
    const table = fakeTable({ beside: false });
    table.atEachRead((read) => {
      table.known.uncertaintyMs = 1_010;
      if (read === failing) throw new TypeError('a fault');
    });

    await expect(table.set(undefined)).rejects.toThrow('a fault');

    expect(table.reads()).toBe(failing);
  });
});

describe('beside the work, the table is looked at', () => {
  test('when its second begins, until its time is known to within 8 ms', async () => {
    const table = fakeTable({ beside: true });
    table.known.uncertaintyMs = 40;
    table.atEachRead((read) => {
      table.known.uncertaintyMs = [20, 9, 8][read - 1] ?? 0;
    });

    await table.set(undefined);
    await settled();

    expect(table.log).toEqual(['rest 500', 'read', 'rest 500', 'read', 'rest 500', 'read']);
  });

  test('not if its time is known to within half of 45 ms', async () => {
    const table = fakeTable({ beside: true });
    table.known.uncertaintyMs = 22.5;

    await table.set(undefined);
    await settled();

    expect(table.log).toEqual([]);
  });

  test('eight times at most, by one of several callers, and then again', async () => {
    const table = fakeTable({ beside: true });
    table.known.uncertaintyMs = 40;

    await Promise.all([table.set(undefined), table.set(undefined)]);
    await settled();
    const first = table.reads();
    await table.set(undefined);
    await settled();

    expect([first, table.reads()]).toEqual([8, 16]);
  });

  test('until a look fails, which nobody notices, and then again', async () => {
    const table = fakeTable({ beside: true });
    table.known.uncertaintyMs = 40;
    table.atEachRead(() => {
      throw away();
    });

    await table.set(undefined);
    await settled();
    await table.set(undefined);
    await settled();

    expect(table.reads()).toBe(2);
  });
});
