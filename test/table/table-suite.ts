import fc from 'fast-check';
import { test as base, describe, expect } from 'vitest';
import type { Json, Row, Table } from '../../lib/table/table.ts';

/** A `test` that creates a new, empty table for each test. */
const testsOn = (buildTable: () => Promise<Table>) => base.extend('table', () => buildTable());
type TableTest = ReturnType<typeof testsOn>;

/** What every adapter must do. `buildTable` returns a new, empty table for each test. */
export function describeTable(name: string, buildTable: () => Promise<Table>): void {
  const test = testsOn(buildTable);
  describe(name, () => {
    describeRows(test);
    describeConditions(test);
    describeLists(test);
    describeLimits(test);
  });
}

const key = { partition: 'job#a', sort: '-' };

function describeRows(test: TableTest): void {
  test('a row is returned with the token of its write', async ({ table }) => {
    const row: Row = {
      text: '',
      number: 1.5,
      yes: true,
      none: null,
      list: [1, 'a', []],
      deep: { a: { b: {} } },
    };

    const result = await table.put(key, row, {
      expected: null,
      token: 't1',
      lifetimeMs: 86_400_000.25,
    });

    expect(result).toEqual({ kind: 'stored' });
    expect(await table.get(key)).toEqual({ row, token: 't1' });
  });

  test('a row that was never stored cannot be read', async ({ table }) => {
    expect(await table.get(key)).toBeUndefined();
  });

  test('many rows are returned in the order of their keys, with nothing for missing ones', async ({
    table,
  }) => {
    const keys = Array.from({ length: 100 }, (_, index) => ({ partition: `job#${index}`, sort: '-' }));
    const there = keys.filter((_, index) => index % 3 !== 0);
    for (const key of there) await table.put(key, { at: key.partition }, { expected: null, token: 't1' });

    const rows = await table.getAll(keys);

    expect(rows).toEqual(
      keys.map(({ partition }, index) =>
        index % 3 === 0 ? undefined : { row: { at: partition }, token: 't1' },
      ),
    );
    expect(await table.getAll([])).toEqual([]);
  });

  test('undefined members are omitted', async ({ table }) => {
    await table.put(key, { a: undefined, b: { c: undefined } }, { expected: null, token: 't1' });

    expect(Object.keys((await table.get(key))?.row ?? {})).toEqual(['b']);
    expect(await table.get(key)).toStrictEqual({ row: { b: {} }, token: 't1' });
  });

  test('words that DynamoDB reserves are valid names', async ({ table }) => {
    const row = { state: 'a', name: 'b', date: 'c', type: 'd', ttl: 1, partition: 'e', 'a.b#c:d': 'f' };

    await table.put(key, row, { expected: null, token: 't1' });
    await table.put(key, row, { expected: 't1', token: 't2' });

    expect(await table.get(key)).toEqual({ row, token: 't2' });
  });

  test('a stored or returned row does not change with the object', async ({ table }) => {
    const row = { list: ['a'] };

    await table.put(key, row, { expected: null, token: 't1' });
    row.list.push('b');
    const found = await table.get(key);
    (found?.row['list'] as string[] | undefined)?.push('c');

    expect(await table.get(key)).toEqual({ row: { list: ['a'] }, token: 't1' });
  });

  test('a put replaces the whole row', async ({ table }) => {
    await table.put(key, { a: 1, b: 2 }, { expected: null, token: 't1' });

    await table.put(key, { b: 3 }, { expected: 't1', token: 't2' });

    expect((await table.get(key))?.row).toStrictEqual({ b: 3 });
  });

  test('keys and tokens may contain any text', async ({ table }) => {
    const odd = { partition: 'ünï#\u{1F600} "\\', sort: '\n\0.' };

    await table.put(odd, { a: 1 }, { expected: null, token: 'tö"k' });

    expect(await table.get(odd)).toEqual({ row: { a: 1 }, token: 'tö"k' });
    expect(await Array.fromAsync(table.list(odd.partition))).toEqual([
      { key: odd, row: { a: 1 }, token: 'tö"k' },
    ]);
  });

  test('every row that is accepted can be read back', async ({ table }) => {
    const rows = fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 });
    let written = 0;

    await fc.assert(
      fc.asyncProperty(rows, async (row) => {
        written += 1;
        const own = { partition: 'any', sort: String(written) };
        const taken = await table.put(own, row as Row, { expected: null, token: 't' }).catch(() => undefined);
        fc.pre(taken !== undefined);
        expect((await table.get(own))?.row).toEqual(JSON.parse(JSON.stringify(row)));
      }),
      { numRuns: 50 },
    );
  });
}

function describeConditions(test: TableTest): void {
  test('a first put is stored once', async ({ table }) => {
    const first = await table.put(key, { a: 1 }, { expected: null, token: 't1' });
    const second = await table.put(key, { a: 2 }, { expected: null, token: 't2' });

    expect(first).toEqual({ kind: 'stored' });
    expect(second).toEqual({ kind: 'other', current: { row: { a: 1 }, token: 't1' } });
  });

  test('a put over the current token is stored, and a put over an older one is not', async ({ table }) => {
    await table.put(key, { a: 1 }, { expected: null, token: 't1' });

    const won = await table.put(key, { a: 2 }, { expected: 't1', token: 't2' });
    const late = await table.put(key, { a: 3 }, { expected: 't1', token: 't3' });

    expect(won).toEqual({ kind: 'stored' });
    expect(late).toEqual({ kind: 'other', current: { row: { a: 2 }, token: 't2' } });
    expect(await table.get(key)).toEqual({ row: { a: 2 }, token: 't2' });
  });

  test('a put over a deleted row reports that the row is missing', async ({ table }) => {
    const result = await table.put(key, { a: 1 }, { expected: 't1', token: 't2' });

    expect(result).toEqual({ kind: 'other', current: undefined });
    expect(await table.get(key)).toBeUndefined();
  });

  test('a put that is repeated with its token counts as stored, and changes nothing', async ({ table }) => {
    await table.put(key, { a: 1 }, { expected: null, token: 't1' });

    const again = await table.put(key, { a: 1 }, { expected: null, token: 't1' });

    expect(again).toEqual({ kind: 'stored' });
    expect(await table.get(key)).toEqual({ row: { a: 1 }, token: 't1' });
  });

  test('exactly one of several writers racing for a row is stored, and the other writers see its row', async ({
    table,
  }) => {
    await table.put(key, { by: 'none' }, { expected: null, token: 't0' });
    const writers = ['t1', 't2', 't3', 't4', 't5', 't6'];

    const results = await Promise.all(
      writers.map((token) => table.put(key, { by: token }, { expected: 't0', token })),
    );

    const winner = writers.find((_, index) => results[index]?.kind === 'stored');
    const current = { row: { by: winner }, token: winner };
    expect(results.filter(({ kind }) => kind === 'stored')).toHaveLength(1);
    expect(results.filter(({ kind }) => kind === 'other')).toEqual(Array(5).fill({ kind: 'other', current }));
    expect(await table.get(key)).toEqual(current);
  });

  test('a delete needs the current token', async ({ table }) => {
    await table.put(key, { a: 1 }, { expected: null, token: 't1' });

    const refused = await table.delete(key, 't0');
    const deleted = await table.delete(key, 't1');
    const again = await table.delete(key, 't1');

    expect(refused).toEqual({ kind: 'other', current: { row: { a: 1 }, token: 't1' } });
    expect([deleted, again]).toEqual([{ kind: 'stored' }, { kind: 'stored' }]);
    expect(await table.get(key)).toBeUndefined();
  });
}

function describeLists(test: TableTest): void {
  test('a list has the rows of its partition in the order of their UTF-8 bytes', async ({ table }) => {
    const sorts = ['a', 'B', '10', '9', 'é', '\u{1F600}', '\uFF21'];
    for (const sort of sorts) await table.put({ partition: 'p', sort }, {}, { expected: null, token: sort });
    await table.put({ partition: 'p2', sort: 'a' }, {}, { expected: null, token: 't' });

    const listed = await Array.fromAsync(table.list('p'));

    expect(listed.map(({ key: { sort } }) => sort)).toEqual([
      '10',
      '9',
      'B',
      'a',
      'é',
      '\uFF21',
      '\u{1F600}',
    ]);
    expect(listed[0]).toEqual({ key: { partition: 'p', sort: '10' }, row: {}, token: '10' });
  });

  test('a partition without rows yields an empty list', async ({ table }) => {
    expect(await Array.fromAsync(table.list('p'))).toEqual([]);
  });

  test('a scan has exactly the rows whose partition starts with its prefix', async ({ table }) => {
    for (const partition of ['job#a', 'job#b', 'job', 'text#a'])
      await table.put({ partition, sort: '-' }, {}, { expected: null, token: 't' });
    const scanned = async (prefix: string) =>
      (await Array.fromAsync(table.scan(prefix))).map(({ key: { partition } }) => partition).toSorted();

    expect(await scanned('job#')).toEqual(['job#a', 'job#b']);
    expect(await scanned('')).toEqual(['job', 'job#a', 'job#b', 'text#a']);
    expect(await scanned('none')).toEqual([]);
  });

  test('lists and scans of more than one DynamoDB page lose nothing', async ({ table }) => {
    const text = 'x'.repeat(100_000);
    const sorts = Array.from({ length: 25 }, (_, index) => String(index).padStart(2, '0'));
    for (const sort of sorts)
      await table.put({ partition: 'p', sort }, { text }, { expected: null, token: sort });

    const listed = await Array.fromAsync(table.list('p'));
    const scanned = await Array.fromAsync(table.scan('p'));

    expect(listed.map(({ token }) => token)).toEqual(sorts);
    expect(scanned.map(({ token }) => token).toSorted()).toEqual(sorts);
  });

  test('a list may be abandoned early', async ({ table }) => {
    for (const sort of ['a', 'b', 'c'])
      await table.put({ partition: 'p', sort }, {}, { expected: null, token: 't' });

    const seen: string[] = [];
    for await (const row of table.list('p')) {
      seen.push(row.key.sort);
      if (row.key.sort === 'b') break;
    }

    expect(seen).toEqual(['a', 'b']);
  });
}

function describeLimits(test: TableTest): void {
  test('a row that is larger than an item may be is refused', async ({ table }) => {
    const put = table.put(key, { a: 'x'.repeat(410_000) }, { expected: null, token: 't1' });

    await expect(put).rejects.toMatchObject({ name: 'TableError', failure: { kind: 'bad-row' } });
    await expect(put).rejects.toThrow('at most 405504 bytes, got 410008');
    expect(await table.get(key)).toBeUndefined();
  });

  test('the largest row that is accepted can be read back, under the largest key', async ({ table }) => {
    const largest = { partition: 'a'.repeat(2_048), sort: 'é'.repeat(512) };

    await table.put(largest, { a: 'x'.repeat(405_496) }, { expected: null, token: 't'.repeat(36) });

    expect((await table.get(largest))?.row).toEqual({ a: 'x'.repeat(405_496) });
  });

  test('a row with any JSON can be read back, even with the names that the adapters use', async ({
    table,
  }) => {
    const row = {
      ...{ token: 't', pk: 1, row: 'r', expires: null, '': 0, constructor: 1 },
      deep: Array.from({ length: 50 }).reduce<Json>((inner) => [inner], 1e200),
      half: 'x\uD800',
      ['é'.repeat(40_000)]: JSON.parse('{"__proto__": 1}'),
    };

    await table.put(key, row, { expected: null, token: 't1' });

    expect(JSON.stringify((await table.get(key))?.row)).toBe(JSON.stringify(row));
  });

  test.for([
    { partition: '', sort: 'a' },
    { partition: 'a', sort: '' },
    { partition: 'a'.repeat(2_049), sort: 'a' },
    { partition: 'a', sort: 'é'.repeat(513) },
    { partition: '\uD800', sort: 'a' },
  ])('a key that DynamoDB cannot store is refused by every call', async (bad, { table }) => {
    const calls = [
      () => table.get(bad),
      () => table.getAll([bad]),
      () => table.put(bad, {}, { expected: null, token: 't' }),
      () => table.delete(bad, 't'),
    ];

    for (const call of calls)
      await expect(call()).rejects.toMatchObject({ name: 'TableError', failure: { kind: 'bad-key' } });
  });
}
