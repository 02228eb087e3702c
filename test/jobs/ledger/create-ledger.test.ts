import { describe, expect, test } from 'vitest';
import type { Claim, Outcome } from '../../../lib/jobs/ledger/job-row.ts';
import { createLedger, type Ledger } from '../../../lib/jobs/ledger/ledger.ts';
import type { Table } from '../../../lib/table/table.ts';
import { createMemoryTable } from '../../table/memory-table.ts';

type LedgerOptions = Parameters<typeof createLedger>[0];

/* Which requests the ledger sends to its table, and when. `ledger-suite.ts` tests what it does, on every table. */

const request = { id: 'a', type: 'run-function', contentHash: 'hash', sender: 'me' };
const leaseMs = 60_000;
const done: Outcome = { status: 'done', response: '1' };

/** A ledger with a fixed clock, over a table that logs its calls. */
function createBench(options: Partial<LedgerOptions> = {}) {
  const clock = { nowMs: 1_000 };
  const requests: string[] = [];
  const lifetimes: (number | undefined)[] = [];
  const reserves: object[] = [];
  const memory = createMemoryTable();
  const table: Table = {
    ...memory,
    get(key) {
      requests.push('get');
      return memory.get(key);
    },
    put(key, row, given) {
      requests.push('put');
      lifetimes.push(given.lifetimeMs);
      const { mayUseReserve, needsReserve } = given;
      reserves.push({ mayUseReserve, needsReserve });
      return memory.put(key, row, given);
    },
  };
  const ledger = createLedger({ table, now: () => clock.nowMs, ...options });
  return { ledger, table, memory, requests, lifetimes, reserves, clock };
}

type Bench = ReturnType<typeof createBench>;

async function claim(ledger: Ledger, options: { readonly sends?: boolean } = {}): Promise<Claim> {
  const answer = await ledger.claim(request, { leaseMs, isNew: true, mayRepeat: true, ...options });
  if (answer.kind !== 'claimed') throw new Error(`expected a claim, got ${answer.kind}`);
  return answer.claim;
}

test.each<[string, readonly string[], (bench: Bench) => Promise<unknown>]>([
  [
    'a holder’s steps',
    ['put', 'put', 'put', 'put', 'put', 'put'],
    async ({ ledger }) => {
      const held = await claim(ledger);
      await ledger.renew(held, 2 * leaseMs);
      await ledger.sent(held);
      await ledger.progress(held);
      await ledger.release(held);
      await ledger.announce({ ...request, id: 'b' });
    },
  ],
  [
    'a job whose claim records its send',
    ['put', 'put'],
    async ({ ledger }) => ledger.end(await claim(ledger, { sends: true }), done),
  ],
  [
    'a claim of an ended job that was assumed to be new',
    ['put', 'put', 'put'],
    async ({ ledger }) => {
      await ledger.end(await claim(ledger), done);
      await ledger.claim(request, { leaseMs, isNew: true });
    },
  ],
  [
    'a claim of a job that is not assumed to be new',
    ['get', 'put'],
    ({ ledger }) => ledger.claim(request, { leaseMs }),
  ],
  ['a step of a person', ['get', 'put'], ({ ledger }) => ledger.cancel('a')],
  [
    'a step of a holder whose claim another process made',
    ['put', 'get', 'put'],
    async ({ ledger, table }) => {
      const { id, fence } = await claim(createLedger({ table }));
      await ledger.end({ id, fence }, done);
    },
  ],
  [
    'a claim of a job that another worker has',
    ['put', 'get'],
    async ({ ledger }) => {
      await claim(ledger);
      await ledger.claim(request, { leaseMs });
    },
  ],
  [
    'a claim of a sent job that was assumed to be new, and whose outcome is looked for',
    ['put', 'put', 'put', 'get', 'put'],
    async ({ ledger, clock }) => {
      await ledger.sent(await claim(ledger));
      clock.nowMs += leaseMs;
      expect(await claim(ledger)).toMatchObject({ fence: 2 });
    },
  ],
])('%s: costs the requests %j', async (_, expected, steps) => {
  const bench = createBench();

  await steps(bench);

  expect(bench.requests).toEqual(expected);
});

test('rows stay for 30 days after the last write', async () => {
  const { ledger, lifetimes } = createBench();

  await ledger.end(await claim(ledger), done);

  expect(lifetimes).toEqual([30 * 86_400_000, 30 * 86_400_000]);
});

const ordinary = { mayUseReserve: false, needsReserve: false };
const lends = { mayUseReserve: true, needsReserve: false };
const sends = { mayUseReserve: false, needsReserve: true };

test('on a full disk a holder’s outcome uses the reserve, and no request is sent that an outcome would need it for', async () => {
  const { ledger, reserves } = createBench();

  const held = await claim(ledger);
  await ledger.sent(held);
  await ledger.renew(held, 2 * leaseMs);
  await ledger.end(held, done);
  await claim(createLedger({ table: createMemoryTable() }), { sends: true });

  expect(reserves).toEqual([ordinary, sends, sends, lends]);
});

test('on a full disk the steps of persons fail, except one that frees memory', async () => {
  const { ledger, reserves } = createBench();

  await ledger.end(await claim(ledger), { status: 'failed' });
  await ledger.cancel('a');
  await ledger.prune('a', { finishedAt: 1_000, result: 'results/a.json' });
  await ledger.reopen('a', { isNamed: true });

  expect(reserves).toEqual([ordinary, lends, ordinary, lends, ordinary]);
});

test('a claim reports each row that it tries to write, and nothing else', async () => {
  const { ledger } = createBench();
  const tried: unknown[] = [];
  const onTry = (row: unknown) => void tried.push(row);

  const first = await ledger.claim(request, { leaseMs, onTry });
  await ledger.claim(request, { leaseMs, onTry });

  expect(tried).toEqual([first.kind === 'claimed' && first.claim]);
});

test('an outcome that only a stored result shows is recorded unless the job has an outcome', async () => {
  const { ledger } = createBench();
  const row = { ...(await claim(ledger)), state: 'DONE', finishedAt: 900, outcome: done } as const;

  const adopted = await ledger.adopt(row);
  const again = await ledger.adopt({ ...row, finishedAt: 950 });
  await ledger.adopt({ ...row, id: 'b' });

  expect(adopted).toEqual(row);
  expect(again).toEqual(row);
  expect([await ledger.read('a'), await ledger.read('b')]).toEqual([row, { ...row, id: 'b' }]);
});

describe('pruning a job', () => {
  const result = 'results/a.json';

  test.each<[Outcome, Outcome]>([
    [done, { status: 'done', result }],
    [
      { status: 'failed', staged: 'work/a', error: { kind: 'status', message: 'a 400', status: 400 } },
      { status: 'failed', error: { kind: 'status', message: 'a 400' }, result },
    ],
    [
      { status: 'done', response: '1', note: 'it ran' },
      { status: 'done', note: 'it ran', result },
    ],
  ])('keeps of the outcome %j only %j', async (outcome, kept) => {
    const { ledger } = createBench();
    await ledger.end(await claim(ledger), outcome);
    const before = await ledger.read('a');

    expect(await ledger.prune('a', { finishedAt: 1_000, result })).toBe(true);

    expect(await ledger.read('a')).toEqual({ ...before, outcome: kept });
  });

  test('changes nothing if the job is missing, runs, has ended again, or was pruned before', async () => {
    const { ledger, requests } = createBench();
    const prune = (finishedAt: number) => ledger.prune('a', { finishedAt, result });

    expect(await prune(1_000)).toBe(false);
    const held = await claim(ledger);
    expect(await prune(1_000)).toBe(false);
    await ledger.end(held, done);
    expect(await prune(999)).toBe(false);
    await prune(1_000);
    expect(await prune(1_000)).toBe(false);

    expect(requests.filter((kind) => kind === 'put')).toHaveLength(3);
  });
});

describe('the table’s time', () => {
  test('is not requested by default', async () => {
    const { ledger, requests } = createBench();

    await ledger.setTime();

    expect(requests).toEqual([]);
  });

  test('is read from responses until it is known, and again if it is forgotten', async () => {
    let knownAt = 2;
    const { ledger, requests } = createBench({ isTimeKnown: () => requests.length >= knownAt });

    await ledger.setTime();
    await ledger.setTime();
    expect(requests).toEqual(['get', 'get']);
    knownAt = 3;
    await ledger.setTime();

    expect(requests).toEqual(['get', 'get', 'get']);
  });

  test.each([-31, 31])(
    'is awaited by a worker with a clock %i days off before it takes a lease, or takes one over',
    async (days) => {
      const bench = createBench();
      await claim(bench.ledger);
      let reads = 0;
      const table: Table = { ...bench.table, get: (key) => bench.table.get(key).finally(() => (reads += 1)) };
      const isTimeKnown = () => reads >= 3;
      const now = () => 2_000 + (isTimeKnown() ? 0 : days * 86_400_000);
      const ledger = createLedger({ table, now, isTimeKnown });

      const held = await ledger.claim(request, { leaseMs, mayRepeat: true });
      const fresh = await ledger.claim({ ...request, id: 'b' }, { leaseMs });

      expect(held).toEqual({ kind: 'busy', untilMs: 61_000 });
      expect(fresh).toMatchObject({ claim: { leaseUntilMs: 62_000 } });
    },
  );

  test.each([-31, 31])(
    'that cannot be found, because a clock %i days off is set repeatedly, causes an error instead of a lease',
    async (days) => {
      const { ledger, table, clock } = createBench();
      await claim(ledger);
      const now = () => clock.nowMs + days * 86_400_000;
      const wrong = createLedger({ table, now, isTimeKnown: () => false, hasDates: () => true });

      for (const id of ['a', 'b'])
        await expect(wrong.claim({ ...request, id }, { leaseMs, mayRepeat: true })).rejects.toThrow(
          'find the time of the table: busy, Date',
        );

      expect([await ledger.read('a'), await ledger.read('b')]).toMatchObject([{ fence: 1 }, undefined]);
    },
  );

  test('is requested six times if responses do not have it, and never again', async () => {
    const { ledger, requests } = createBench({ isTimeKnown: () => false });

    await ledger.setTime();
    await ledger.setTime();

    expect(requests).toEqual(Array(6).fill('get'));
  });
});

test('a row whose outcome is invalid, or not even JSON, causes an error', async () => {
  const { ledger, memory } = createBench();
  const row = { ...(await claim(ledger)), state: 'DONE' };
  const put = (id: string, outcome: string) =>
    memory.put({ partition: `job#${id}`, sort: '-' }, { ...row, id, outcome }, { expected: null, token: id });

  await put('b', '{"status":');
  await put('c', '{"status":"?"}');

  await expect(ledger.read('b')).rejects.toThrow(
    'read job b: the row in the table has an invalid field: outcome',
  );
  await expect(ledger.read('c')).rejects.toThrow('has an invalid field: outcome.status');
});
