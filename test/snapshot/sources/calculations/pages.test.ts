import { describe, expect, test } from 'vitest';
import { calculationPageReader, offsetPageIn } from '../../../../lib/snapshot/sources/calculations/pages.ts';
import {
  batchOfRows,
  sortedPageIn,
  sortedPageReader,
} from '../../../../lib/snapshot/sources/calculations/sorted-pages.ts';
import { recordsIn } from '../../batches.ts';
import { respondingCall } from '../../responding-call.ts';

const filters = [{ field: 'id' }];

/** The requests and their signals, of a platform without calculations. */
function watched() {
  const requests: unknown[] = [];
  const call = respondingCall(({ body }, signal) => {
    requests.push([body, signal]);
    return '{"results":[]}';
  });
  return { requests, call };
}

test('a page is requested with its order, its place, its signal and what narrows it', async () => {
  const { requests, call } = watched();
  const { signal } = new AbortController();
  const request = { ascending: false, offset: 20, limit: 10, signal };

  await calculationPageReader(call, { filters, name: 'sales' })(request);
  await calculationPageReader(call)(request);
  await sortedPageReader(call, { filters }, 'created')(request);
  await sortedPageReader(call, {}, 'id')({ ...request, ascending: true });

  const sort = { field: 'id', ascending: false };
  expect(requests).toEqual([
    [{ filters, name: 'sales', sort, limit: 10, offset: 20 }, signal],
    [{ filters: [], sort, limit: 10, offset: 20 }, signal],
    [{ filters, sort: { field: 'created', ascending: false }, limit: 10, offset: 20 }, signal],
    [{ filters: [], sort: { field: 'id', ascending: true }, limit: 10, offset: 20 }, signal],
  ]);
});

describe.each([
  ['by offset', offsetPageIn],
  ['sorted', sortedPageIn],
])('a page %s', (_, pageIn) => {
  const page = (rest: string) => {
    const { degraded, total } = pageIn(Buffer.from(`{"results":[{"id":1}]${rest}}`));
    return { degraded, total };
  };

  test('reports a total that is a number', () => {
    expect(page(',"totalHits":0').total).toBe(0);
    expect(page(',"totalHits":7').total).toBe(7);
    expect(page(',"totalHits":"7"').total).toBeNull();
    expect(page(',"totalHits":null').total).toBeNull();
    expect(page('').total).toBeNull();
  });

  test('is degraded only if it says true', () => {
    expect(page(',"degraded":true').degraded).toBe(true);
    expect(page(',"degraded":"true"').degraded).toBe(false);
    expect(page(',"degraded":false').degraded).toBe(false);
    expect(page('').degraded).toBe(false);
  });
});

describe('the rows of a page from one on', () => {
  const records = ['{"id":1,"a":1}', '{"id":22,"b":null}', '{"id":333}'];

  test.each([
    ['in its own memory', ',', undefined],
    ['in memory of their own', ' , ', { key: '22', bytes: 19 }],
  ])('are a batch, %s', (_, between, longest) => {
    const text = `{"results":[${records.join(between)}],"totalHits":3}`;
    const page = offsetPageIn(Buffer.from(text));
    const batch = page.from(1);

    expect(page).toMatchObject({ keys: ['1', '22', '333'], sizeBytes: text.length, total: 3 });
    expect(batch).toMatchObject({ records: 2, fields: { id: ['number'], a: ['number'], b: ['null'] } });
    expect(batch.heldBytes).toBe(text.length + 16 * 20);
    expect(batch.longest?.()).toEqual(longest);
    expect(recordsIn(batch)).toEqual({ keys: ['22', '333'], lines: records.slice(1) });
  });

  test.each([
    ['in its own memory', ','],
    ['in memory of their own', ' , '],
  ])('free the memory of the page, %s', (_, between) => {
    const bytes = Buffer.from(`{"results":[{"id":1}${between}{"id":2,"x":"${'x'.repeat(300_000)}"}]}`);

    offsetPageIn(bytes).from(0).release?.();

    expect(bytes.byteLength).toBe(0);
  });
});

describe('the rows of a sorted page', () => {
  const text =
    '{"results":[{"id":3,"created":"2026"},{"created":5,"id":1},{"id":12345678901234567890,"x":1}]}';
  const { rows } = sortedPageIn(Buffer.from(text));

  test('have their keys, their places, and their creation as it was sent', () => {
    expect(rows.map(({ key, sentCreated, row }) => [key, sentCreated, row])).toEqual([
      ['3', '2026', 0],
      ['1', 5, 1],
      ['12345678901234567890', undefined, 2],
    ]);
  });

  test('are a batch in any order', () => {
    const { keys, lines } = recordsIn(batchOfRows([rows[2], rows[0]].flatMap((row) => row ?? [])));

    expect(keys).toEqual(['12345678901234567890', '3']);
    expect(lines).toEqual(['{"id":12345678901234567890,"x":1}', '{"id":3,"created":"2026"}']);
    expect(batchOfRows([]).records).toBe(0);
  });
});
