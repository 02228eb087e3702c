import { describe, expect, test } from 'vitest';
import { type Budget, emptyBudget } from '../../lib/pace/budget.ts';
import { createTableBudget } from '../../lib/pace/stored-budget.ts';
import type { Table } from '../../lib/table/table.ts';
import { onEveryTable } from '../table/every-table.ts';
import { createMemoryTable } from '../table/memory-table.ts';

const breaker = { sinceMs: 1, cause: 'unreachable', probeAtMs: 2 };
const granted = (budget: Budget): Budget => ({ ...budget, tatMs: (budget.tatMs ?? 0) + 242.4 });

/** A table, and a log of its requests. */
function createLogged(table: Table = createMemoryTable()) {
  const log: string[] = [];
  const logged: Table = {
    ...table,
    get: (key) => {
      log.push('get');
      return table.get(key);
    },
    put: (...given) => {
      log.push('put');
      return table.put(...given);
    },
  };
  return { table: logged, takeLog: () => log.splice(0) };
}

onEveryTable((buildTable) => {
  test('a budget is empty at first, and later has the state that a process stored', async () => {
    const table = await buildTable();
    const budgets = [
      createTableBudget({ table, host: 'a' }),
      createTableBudget({ table, host: 'a' }),
      createTableBudget({ table, host: 'b' }),
    ] as const;

    const before = await budgets[0].read();
    const changed = await budgets[0].change('set', (budget) => ({ ...budget, rate: 50, breaker }));

    expect(before).toEqual(emptyBudget);
    expect(changed).toEqual({ ...emptyBudget, rate: 50, breaker });
    expect(await Promise.all(budgets.map(({ read }) => read()))).toEqual([changed, changed, emptyBudget]);
  });

  test('concurrent changes of several processes are applied one after another, and none is lost', async () => {
    const table = await buildTable();
    const budgets = Array.from({ length: 4 }, () => createTableBudget({ table, host: 'a' }));

    const changed = await Promise.all(budgets.map((budget) => budget.change('grant', granted)));

    const ends = changed.map((budget) => budget?.tatMs ?? 0).toSorted((a, b) => a - b);
    expect(ends).toEqual([242.4, 484.8, expect.closeTo(727.2, 6), expect.closeTo(969.6, 6)]);
  });

  test('of several changes that depend on the same condition, one is applied', async () => {
    const table = await buildTable();
    const budgets = Array.from({ length: 4 }, () => createTableBudget({ table, host: 'a' }));
    const open = (budget: Budget) => (budget.breaker ? undefined : { ...budget, breaker });

    const opened = await Promise.all(budgets.map((budget) => budget.change('open', open)));

    expect(opened.filter((budget) => budget !== undefined)).toHaveLength(1);
  });
});

describe('a process', () => {
  test('that is alone changes the budget without reading it each time', async () => {
    const { table, takeLog } = createLogged();
    const budget = createTableBudget({ table, host: 'a' });

    for (let change = 0; change < 4; change += 1) await budget.change('grant', granted);

    expect(takeLog()).toEqual(['get', 'put', 'get', 'put', 'put', 'put']);
    expect((await budget.read()).tatMs).toBeCloseTo(4 * 242.4, 6);
  });

  test('that assumed it was alone does not overwrite what another process stored', async () => {
    const { table, takeLog } = createLogged();
    const [own, other] = [createTableBudget({ table, host: 'a' }), createTableBudget({ table, host: 'a' })];
    for (let change = 0; change < 2; change += 1) await own.change('grant', granted);
    await other.change('pause', (budget) => ({ ...budget, pausedAtMs: 7 }));
    takeLog();

    const refused = await own.change('grant', (budget) => (budget.pausedAtMs ? undefined : granted(budget)));
    const after = takeLog();
    await own.change('grant', granted);

    expect(refused).toBeUndefined();
    expect(after).toEqual(['put', 'get']);
    expect(await other.read()).toMatchObject({ pausedAtMs: 7, tatMs: expect.closeTo(3 * 242.4, 6) });
  });

  test('that assumed it was alone reads the budget before it decides to change nothing', async () => {
    const { table, takeLog } = createLogged();
    const [own, other] = [createTableBudget({ table, host: 'a' }), createTableBudget({ table, host: 'a' })];
    const close = (budget: Budget) => (budget.breaker ? { ...budget, breaker: undefined } : undefined);
    for (let change = 0; change < 2; change += 1) await own.change('grant', granted);
    await other.change('open', (budget) => ({ ...budget, breaker }));
    takeLog();

    expect((await own.change('close', close))?.breaker).toBeUndefined();
    expect(takeLog()).toEqual(['get', 'put']);
    expect((await other.read()).breaker).toBeUndefined();
  });

  test('gives up if other writes always overtake its change', async () => {
    const table = createMemoryTable();
    const { table: overtaken, takeLog } = createLogged({
      ...table,
      put: async () => ({ kind: 'other', current: { row: emptyBudget, token: 'theirs' } }),
    });

    const slept: number[] = [];
    const times = { random: () => 0.5, sleep: async (ms: number) => slept.push(ms) };

    const changed = createTableBudget({ table: overtaken, host: 'a', ...times }).change('grant', granted);

    await expect(changed).rejects.toMatchObject({
      message: 'grant pace#a: busy, conflict every time',
      failure: { kind: 'busy' },
    });
    expect(takeLog()).toHaveLength(20);
    expect(slept.slice(0, 3)).toEqual([50, 100, 150]);
  });

  test('learns the state of the breaker from every row that it reads or stores, or that overtakes it', async () => {
    const table = createMemoryTable();
    const seen: unknown[] = [];
    const other = createTableBudget({ table, host: 'a' });
    const own = createTableBudget({ table, host: 'a', onBudget: (budget) => seen.push(budget.breaker) });
    for (let change = 0; change < 2; change += 1) await own.change('grant', granted);
    await other.change('open', (budget) => ({ ...budget, breaker }));
    await own.change('grant', (budget) => (budget.breaker ? undefined : granted(budget)));
    await own.read();

    // The process read, stored, read, stored, was overtaken and read, and read again.
    expect(seen).toEqual([undefined, undefined, undefined, undefined, breaker, breaker]);
  });
});
