import { describe, expect, test } from 'vitest';
import { calculationPageReader, pageIn } from '../../../../lib/snapshot/sources/calculations/pages.ts';
import { recordsIn } from '../../batches.ts';
import { respondingCall } from '../../responding-call.ts';

const filters = [{ field: 'id' }];
const { signal } = new AbortController();

/** Readers of a platform without calculations whose first `degradedTimes` responses are degraded. */
function watched(degradedTimes = 0) {
  const requests: unknown[] = [];
  const waits: unknown[] = [];
  const call = respondingCall(({ body }, given) => {
    requests.push([body, given]);
    return JSON.stringify({ results: [], degraded: requests.length <= degradedTimes });
  });
  const sleep = async (ms: number, given?: AbortSignal) => void waits.push([ms, given === signal]);
  const reader = (
    field: 'id' | 'created',
    selection: Parameters<typeof calculationPageReader>[0]['selection'] = {},
  ) => calculationPageReader({ call, selection, sleep }, field);
  return { requests, waits, reader };
}

test('a page is requested with its order, its offset, its signal and its filter', async () => {
  const { requests, reader } = watched();
  const request = { ascending: false, offset: 20, limit: 10, signal };

  await reader('id', { filters, name: 'sales' })(request);
  await reader('created')({ ...request, ascending: true });

  expect(requests).toEqual([
    [{ filters, name: 'sales', sort: { field: 'id', ascending: false }, limit: 10, offset: 20 }, signal],
    [{ filters: [], sort: { field: 'created', ascending: true }, limit: 10, offset: 20 }, signal],
  ]);
});

test('a page without a list, with a record without an id, or with far too many records is refused', () => {
  const many = Buffer.from(`{"results":[${'{"id":1},'.repeat(100_000)}{"id":1}]}`);

  expect(() => pageIn(Buffer.from('{"totalHits":1}'), 'id')).toThrow('results: expected an array');
  expect(() => pageIn(Buffer.from('{"results":[{"name":"x"}]}'), 'id')).toThrow('calculation');
  expect(() => pageIn(many, 'id')).toThrow('at most 100000 records');
});

test('a page without a list is empty if the total is at most the rows before it, and refused otherwise', async () => {
  const read = calculationPageReader(
    { call: respondingCall(() => '{"totalHits":20}'), selection: {}, sleep: async () => undefined },
    'id',
  );
  const from = (offset: number) => read({ ascending: true, offset, limit: 10 });

  expect(await from(20)).toMatchObject({ keys: [], received: 0, total: 20 });
  await expect(from(19)).rejects.toThrow('results: expected an array');
});

describe('a degraded page', () => {
  test.each([
    [0, [], false],
    [2, [1_000, 2_000], false],
    [100, [1_000, 2_000, 4_000, 8_000], true],
  ])('(%i times) is read again after waits of %j ms, and then accepted', async (times, waited, degraded) => {
    const { requests, waits, reader } = watched(times);

    const page = await reader('id')({ ascending: true, offset: 0, limit: 10, signal });

    expect(page.degraded).toBe(degraded);
    expect(waits).toEqual(waited.map((ms) => [ms, true]));
    expect(requests).toHaveLength(waited.length + 1);
  });
});

describe('a page', () => {
  const page = (rest: string) => {
    const { degraded, total } = pageIn(Buffer.from(`{"results":[{"id":1}]${rest}}`), 'id');
    return { degraded, total };
  };

  test('reports a total that is a number, or its digits', () => {
    expect(page(',"totalHits":0').total).toBe(0);
    expect(page(',"totalHits":7').total).toBe(7);
    expect(page(',"totalHits":"7"').total).toBe(7);
    expect(page(',"totalHits":"7 or so"').total).toBeNull();
    expect(page(',"totalHits":-7').total).toBeNull();
    expect(page(',"totalHits":null').total).toBeNull();
    expect(page('').total).toBeNull();
  });

  test('is degraded only if it says true, even as a string', () => {
    expect(page(',"degraded":true').degraded).toBe(true);
    expect(page(',"degraded":"true"').degraded).toBe(true);
    expect(page(',"degraded":false').degraded).toBe(false);
    expect(page('').degraded).toBe(false);
  });
});

describe('the rows of a page', () => {
  const records = ['{"id":1,"a":1}', '{"id":22,"b":null}', '{"id":333}'];

  test('are a batch', () => {
    const text = `{"results":[${records.join(',')}],"totalHits":3}`;
    const page = pageIn(Buffer.from(text), 'id');
    const batch = page.batchOf([1, 2]);

    expect(page).toMatchObject({ keys: ['1', '22', '333'], sizeBytes: text.length, total: 3 });
    expect(batch).toMatchObject({ records: 2, fields: { id: ['number'], a: ['number'], b: ['null'] } });
    expect(batch.heldBytes).toBe(text.length + 16 * 20);
    expect(recordsIn(batch)).toEqual({ keys: ['22', '333'], lines: records.slice(1) });
  });

  test('free the memory of the page', () => {
    const bytes = Buffer.from(`{"results":[{"id":1},{"id":2,"x":"${'x'.repeat(300_000)}"}]}`);

    pageIn(bytes, 'id').batchOf([0]).release?.();

    expect(bytes.byteLength).toBe(0);
  });
});

describe('the rows of a page that is sorted by creation', () => {
  const text =
    '{"results":[{"id":3,"created":"2026-11-22 10:00"},{"created":5,"id":1},{"id":12345678901234567890,"x":1}]}';

  test('have the time of their creation', () => {
    const { keys, createdMs } = pageIn(Buffer.from(text), 'created');

    expect(keys).toEqual(['3', '1', '12345678901234567890']);
    expect([0, 1, 2].map(createdMs)).toEqual([Date.UTC(2026, 10, 22, 10), 5, Number.NaN]);
  });

  test('can be selected as records in any order', () => {
    const { batchOf } = pageIn(Buffer.from(text), 'created');

    expect(recordsIn(batchOf([2, 0]))).toEqual({
      keys: ['12345678901234567890', '3'],
      lines: ['{"id":12345678901234567890,"x":1}', '{"id":3,"created":"2026-11-22 10:00"}'],
    });
    expect(batchOf([]).records).toBe(0);
  });
});

test.each([
  [true, true],
  ['TRUE', true],
  [1, true],
  ['false', false],
  [null, false],
  [{}, false],
])('whether a page with degraded: %j is degraded: %s', (degraded, isDegraded) => {
  expect(pageIn(Buffer.from(JSON.stringify({ results: [], degraded })), 'id').degraded).toBe(isDegraded);
});
