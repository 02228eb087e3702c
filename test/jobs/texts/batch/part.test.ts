import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { ChunkRow } from '../../../../lib/jobs/texts/batch/chunk-row.ts';
import { parsePart, printPart, readPriorPart, scoredRow } from '../../../../lib/jobs/texts/batch/part.ts';
import type { StagedRow } from '../../../../lib/jobs/texts/batch/staged-chunk.ts';
import { StoredObjectError } from '../../../../lib/store/stored-json.ts';
import { createMemoryStore } from '../../../store/memory-store.ts';

const CHUNK = { batch: 'b1', chunk: 3 };
const staged: StagedRow = { line: 7, id: 'user-7', text: 'good', columns: { Shop: 'A' } };

describe('a part', () => {
  const rows = [{ line: 1, error: 'no text' }, scoredRow(staged, { result: { sentiment: 'good' } })];

  test('has a line a row, under a name with its chunk and its bytes', () => {
    const { key, body } = printPart(CHUNK, rows);

    expect(key).toMatch(/^scores\/b1\/part-00003-[0-9a-f]{12}\.ndjson\.gz$/);
    const lines = gunzipSync(body).toString().split('\n');
    expect(lines).toHaveLength(3);
    expect(JSON.parse(lines[0] ?? '')).toEqual({ line: 1, error: 'no text', batch: 'b1', chunk: 3 });
    expect(body[9]).toBe(255);
    expect(parsePart(key, body)).toEqual(JSON.parse(JSON.stringify(rows)));
  });

  test.each([
    ['that is not gzip', Buffer.from('secret')],
    ['with a line that is no JSON', gzipSync('{"secret\n')],
  ])('%s is refused by name, without what it holds', (_, body) => {
    const parse = () => parsePart('scores/b1/part', body);

    expect(parse).toThrow(StoredObjectError);
    expect(parse).toThrow(
      `scores/b1/part is not what platform-sync writes there (${body.byteLength} bytes that are not rows)`,
    );
  });
});

const open: ChunkRow = { state: 'open', staged: 'abc', badRows: [] };

test('a part that is gone leaves nothing to use, and so does none', async () => {
  for (const row of [open, { ...open, part: 'scores/b1/part-00000-0123456789ab.ndjson.gz' }]) {
    const prior = await readPriorPart(row, createMemoryStore());

    expect([prior.ofLine(1), prior.ofText('hash 1')]).toEqual([undefined, undefined]);
  }
});

test('rows that were scored are left to use; those that failed or were erased are not', async () => {
  const store = createMemoryStore();
  const rows = [
    { line: 1, textHash: 'hash 1', sentiment: 'POSITIVE' },
    { line: 2, textHash: 'hash 2', error: 'no result' },
    { id: '3', line: 3, erased: true },
  ] as const;
  const { key, body } = printPart({ batch: 'b1', chunk: 0 }, rows);
  await store.put(key, body);

  const prior = await readPriorPart({ ...open, part: key }, store);

  expect([1, 2, 3].map(prior.ofLine)).toEqual([rows[0], undefined, undefined]);
  expect(['hash 1', 'hash 2'].map(prior.ofText)).toEqual([rows[0], undefined]);
});
