import { describe, expect, test } from 'vitest';
import {
  cacheKey,
  type parseCacheRow,
  type TextClaim,
  textHashOf,
} from '../../../../lib/jobs/texts/cache/score-cache.ts';
import type { Analyze } from '../../../../lib/jobs/texts/scoring/scoring-session.ts';
import type { Table } from '../../../../lib/table/table.ts';
import { FAST_TABLES } from '../../../table/every-table.ts';
import { HOST, scriptedAnalyze, sentBy, sentimentOf, worker as workerOn } from '../fakes.ts';

const KEY = cacheKey(HOST, { text: 'good' });
const { analyze } = scriptedAnalyze();

const free: ReturnType<typeof parseCacheRow> = {
  state: 'FREE',
  textHash: textHashOf('good'),
  owner: 'earlier',
  leaseEndsMs: 0,
  sends: 1,
};

/** The claim on the text after a worker has looked it up, and before it sends. */
async function claimOf({ cache }: Pick<ReturnType<typeof workerOn>, 'cache'>): Promise<TextClaim> {
  const [looked] = await cache.lookup([{ text: 'good' }]);
  if (looked?.kind !== 'open') throw new Error(`expected an open text, got ${looked?.kind}`);
  return looked.claim;
}

/** Stores a row as another writer would, whatever the current one is. */
async function put(table: Table, row: ReturnType<typeof parseCacheRow>, token: string): Promise<void> {
  const expected = (await table.get(KEY))?.token ?? null;
  await table.put(KEY, row, { expected, token });
}

async function erase(table: Table): Promise<void> {
  const stored = await table.get(KEY);
  if (stored !== undefined) await table.delete(KEY, stored.token);
}

/** A table that counts its writes. The puts with the numbers `failing` (1 is the first) throw and write nothing. */
function watched(table: Table, ...failing: readonly number[]) {
  const requests = { put: 0, delete: 0 };
  const counted: Table = {
    ...table,
    async put(...given) {
      requests.put += 1;
      if (failing.includes(requests.put)) throw new Error('no response');
      return table.put(...given);
    },
    delete(...given) {
      requests.delete += 1;
      return table.delete(...given);
    },
  };
  return { table: counted, requests };
}

describe.each(FAST_TABLES)('%s', (_, buildTable) => {
  const worker = (analyze: Analyze, table: Table = buildTable(), owner?: string) =>
    workerOn(analyze, table, owner);

  test('a claim holds as long as another attempt would end within its lease', async () => {
    const one = worker(analyze);
    const claim = await sentBy(one, 'good');

    one.pass(30_000);
    const before = claim.isHeld();
    one.pass(1);

    expect([before, claim.isHeld()]).toEqual([true, false]);
  });

  test('if two workers both sent, since one slept through its lease, each result counts both calls as paid', async () => {
    const one = worker(analyze);
    const two = worker(analyze, one.table, 'worker-2');
    const send = async ({ cache }: typeof one) => {
      const [looked] = await cache.lookup([{ text: 'good' }], 'b1.chunk-00000');
      if (looked?.kind !== 'open') throw new Error(`expected an open text, got ${looked?.kind}`);
      await looked.claim.send();
      return looked.claim;
    };
    const slept = await send(one);
    two.pass(300_000);
    const taken = await send(two);
    one.pass(300_000);

    const late = await slept.finish(sentimentOf({ text: 'good' }));
    const second = await taken.finish(sentimentOf({ text: 'good' }));

    expect([late, second]).toMatchObject([{ calls: 2 }, { calls: 2 }]);
  });

  test('a claim that another worker has taken over no longer holds, even before its lease ends', async () => {
    const one = worker(analyze);
    const claim = await sentBy(one, 'good');
    await put(one.table, { ...free, state: 'SENT', owner: 'worker-2', leaseEndsMs: 9_000_000 }, 'two');

    await claim.release();

    expect(claim.isHeld()).toBe(false);
    expect((await one.table.get(KEY))?.row).toMatchObject({ owner: 'worker-2' });
  });

  describe('a send', () => {
    test('counts the attempts that another worker has added since the text was read', async () => {
      const { cache, table } = worker(analyze);
      await put(table, free, 'one');
      const claim = await claimOf({ cache });
      await put(table, { ...free, sends: 2 }, 'two');

      expect(await claim.send()).toEqual({ kind: 'sent' });

      expect(claim.sends()).toBe(3);
    });

    test('is counted once although the text was erased since it was read', async () => {
      const { cache, table } = worker(analyze);
      await put(table, free, 'one');
      const claim = await claimOf({ cache });
      await erase(table);

      expect(await claim.send()).toEqual({ kind: 'sent' });

      expect(claim.sends()).toBe(2);
    });

    test('is counted in addition to an earlier one although the text was erased between them', async () => {
      const one = worker(analyze);
      const claim = await sentBy(one, 'good');
      await erase(one.table);

      expect(await claim.send()).toEqual({ kind: 'sent' });

      expect(claim.sends()).toBe(2);
    });
  });

  test('a claim that has sent nothing counts no calls, and does not change the text', async () => {
    const { cache, table } = worker(analyze);
    await put(table, free, 'one');
    const claim = await claimOf({ cache });

    await claim.release();
    await claim.forget();

    expect(claim.sends()).toBe(0);
    expect(await table.get(KEY)).toEqual({ row: free, token: 'one' });
  });

  describe('a claim whose write got no response, and was not stored,', () => {
    test('counts no calls of a text that another worker has taken over since', async () => {
      const memory = buildTable();
      const { table } = watched(memory, 2);
      const claim = await sentBy(worker(analyze, table), 'good');
      await expect(claim.send()).rejects.toThrow('no response');
      const next = worker(analyze, memory, 'other');
      next.pass(90_000);
      await sentBy(next, 'good');

      await claim.release();

      expect(claim.sends()).toBe(0);
      expect((await memory.get(KEY))?.row).toMatchObject({ owner: 'other', sends: 2 });
    });

    test('frees the text that it had before', async () => {
      const { table } = watched(buildTable(), 2);
      const claim = await sentBy(worker(analyze, table), 'good');
      await expect(claim.send()).rejects.toThrow('no response');

      await claim.release();

      expect((await table.get(KEY))?.row).toMatchObject({ state: 'FREE', sends: 1 });
    });
  });

  describe('a release', () => {
    test('costs one write', async () => {
      const { table, requests } = watched(buildTable());
      const claim = await sentBy(worker(analyze, table), 'good');
      const before = { ...requests };

      await claim.release();
      await claim.release();

      expect(requests).toEqual({ ...before, put: before.put + 1 });
    });

    test('costs nothing after the only send was withdrawn, which deletes the row once', async () => {
      const { table, requests } = watched(buildTable());
      const claim = await sentBy(worker(analyze, table), 'good');

      await claim.takeBack();
      await claim.release();
      await claim.forget();

      expect(requests).toEqual({ put: 1, delete: 1 });
      expect(await table.get(KEY)).toBeUndefined();
    });
  });

  describe('a result', () => {
    const mine = sentimentOf({ text: 'good' });
    const theirs = { ...mine, model: 'm2' };

    test('is the one that another worker stored first, if any, and so are the calls', async () => {
      const one = worker(analyze);
      const claim = await sentBy(one, 'good');
      const scored = { ...free, state: 'SCORED', result: JSON.stringify(theirs) } as const;
      await put(one.table, scored, 'theirs');

      const finished = await claim.finish(mine);

      expect(finished).toEqual({ kind: 'scored', result: theirs, calls: 0 });
      expect(await one.table.get(KEY)).toEqual({ row: scored, token: 'theirs' });
    });

    test('of a text that was erased meanwhile is returned, and not stored', async () => {
      const one = worker(analyze);
      const claim = await sentBy(one, 'good');
      await erase(one.table);

      expect(await claim.finish(mine)).toEqual({ kind: 'scored', result: mine, calls: 1 });
      expect(await one.table.get(KEY)).toBeUndefined();
    });
  });
});
