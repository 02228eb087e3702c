import { describe, expect, test } from 'vitest';
import { foundBatch } from '../../../lib/snapshot/page/found-batch.ts';
import { emptyBatch } from '../../../lib/snapshot/page/record-fields.ts';
import { indexBytes } from '../../../lib/snapshot/page/record-index.ts';
import { scanList } from '../../../lib/snapshot/page/scan-response.ts';
import { recordsIn } from '../batches.ts';

type FoundBatchOptions = Parameters<typeof foundBatch>[1];

const MIB = 1024 * 1024;

function found(text: string) {
  const records = scanList(Buffer.from(text), { key: 'id', keyIs: 'integer' });
  if (records === undefined) throw new Error('expected a list');
  return records;
}

const batchOf = (text: string, options: Partial<FoundBatchOptions> = {}) =>
  foundBatch(found(text), { keyOf: (record) => `key-${record}`, ...options });

/** A list of records whose lines, including line feeds, have these sizes in bytes. */
const listOf = (...sizes: readonly number[]) =>
  `[${sizes.map((size) => `{"id":1,"x":"${'x'.repeat(size - 16)}"}`).join()}]`;

const first = { name: '_owner', text: 'o"1' };

describe('the pieces of a batch', () => {
  const sizesOf = (text: string, options?: Partial<FoundBatchOptions>) =>
    [...batchOf(text, options).pieces()].map(({ keys, lines }) => [keys.length, lines.length]);

  test('have as many records as fill 1 MiB', () => {
    expect(sizesOf(listOf(MIB / 2, MIB / 2, 100, 200))).toEqual([
      [2, MIB],
      [2, 300],
    ]);
    expect(sizesOf(listOf(MIB - 1, 100, 200))).toEqual([
      [2, MIB + 99],
      [1, 200],
    ]);
  });

  test('have a larger record by itself', () => {
    expect(sizesOf(listOf(3 * MIB, 100, 200))).toEqual([
      [1, 3 * MIB],
      [2, 300],
    ]);
  });

  test('count the member that is added at the start of each record', () => {
    const text = listOf(MIB - 16, 100, 200);

    expect(sizesOf(text)).toEqual([
      [2, MIB + 84],
      [1, 200],
    ]);
    expect(sizesOf(text, { first })).toEqual([
      [1, MIB],
      [2, 332],
    ]);
  });

  test('free their own memory once they are written', () => {
    const [piece] = batchOf(listOf(MIB)).pieces();

    piece?.release?.();

    expect(piece?.lines.length).toBe(0);
  });
});

describe('the fields of a batch', () => {
  test('are the fields of all its records, and empty if it has no record', () => {
    expect(batchOf('[{"id":1},{"id":2,"x":null}]', { order: Uint32Array.of(0) }).fields).toEqual({
      id: ['number'],
      x: ['null'],
    });
    expect(batchOf('[{"id":1}]', { order: Uint32Array.of() }).fields).toEqual({});
  });

  test('include the member that is added at the start of records, if any record gets it', () => {
    expect(batchOf('[{"id":1}]', { first }).fields).toEqual({ id: ['number'], _owner: ['string'] });
    expect(batchOf('[{"id":1}]', { first: { ...first, isFor: () => false } }).fields).toEqual({
      id: ['number'],
    });
  });
});

test('the empty batch has no records', () => {
  expect(recordsIn(emptyBatch)).toEqual({ keys: [], lines: [] });
});

test('the memory of the response and of its index is held until the batch is released', () => {
  const records = found(listOf(MIB));
  const bytes = records.json.bytes.byteLength + indexBytes(records.index);

  const batch = foundBatch(records, { keyOf: String });
  batch.release?.();

  expect(batch.heldBytes).toBe(bytes);
  expect(bytes).toBeGreaterThan(MIB);
  expect(records.json.bytes.byteLength).toBe(0);
  expect(records.index.starts.length).toBe(0);
});
