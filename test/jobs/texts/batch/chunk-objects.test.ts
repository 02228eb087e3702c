import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { stagedKey } from '../../../../lib/jobs/texts/batch/batch.ts';
import {
  parsePart,
  printPart,
  printStaged,
  readOpenChunk,
  type StagedChunk,
  scoredRow,
} from '../../../../lib/jobs/texts/batch/chunk-objects.ts';
import { StoredObjectError } from '../../../../lib/store/stored-json.ts';
import { createMemoryStore } from '../../../store/memory-store.ts';

const CHUNK = { batch: 'b1', chunk: 3 };
const staged: StagedChunk['rows'][number] = { line: 7, id: 'user-7', text: 'good', columns: { Shop: 'A' } };

describe('a part', () => {
  const rows = [{ line: 1, error: 'no text' }, scoredRow(staged, { result: { sentiment: 'good' } })];

  test('has one line for each row, and a name made of its chunk, a hash of the token of the chunk’s row, and a hash of its bytes', () => {
    const { key, body } = printPart(CHUNK, rows);

    expect(key).toMatch(/^scores\/b1\/part-00003-[0-9a-f]{8}-[0-9a-f]{12}\.ndjson\.gz$/);
    const lines = gunzipSync(body).toString().split('\n');
    expect(lines).toHaveLength(3);
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      line: 1,
      error: 'no text',
      outcome: 'bad',
      batch: 'b1',
      chunk: 3,
    });
    expect(body[9]).toBe(255);
    expect(printPart(CHUNK, rows, 'later').key).not.toBe(key);
    expect(parsePart(key, body)).toEqual(JSON.parse(JSON.stringify(rows)));
  });

  test.each([
    ['that is not gzip', Buffer.from('secret')],
    ['with a line that is no JSON', gzipSync('{"secret\n')],
  ])('%s is refused by name, without printing its content', (_, body) => {
    const parse = () => parsePart('scores/b1/part', body);

    expect(parse).toThrow(StoredObjectError);
    expect(parse).toThrow(
      `scores/b1/part is not what platform-sync writes there (${body.byteLength} bytes that are not rows)`,
    );
  });
});

describe('an open chunk', () => {
  const chunk = { batch: 'b1', chunk: 0 };
  const texts = ['one', 'two', 'three'].map((text, index) => ({
    line: index + 1,
    id: text,
    text,
    columns: {},
  }));

  async function storeWithChunk() {
    const store = createMemoryStore();
    const { body } = printStaged({ version: 1, host: 'h', request: {}, rows: texts });
    await store.put(stagedKey(chunk), body);
    return store;
  }

  test('has all its texts to score if it has no part, or if its part is missing', async () => {
    const store = await storeWithChunk();

    for (const part of [undefined, 'scores/b1/part-00000-0123456789ab.ndjson.gz'])
      expect((await readOpenChunk(chunk, part, store)).texts).toHaveLength(3);
  });

  test('that was reopened scores only its texts without a score, and keeps the scores of its other texts', async () => {
    const store = await storeWithChunk();
    const scored = { line: 1, textHash: 'hash 1', sentiment: 'POSITIVE' };
    const rows = [
      scored,
      { line: 2, textHash: 'hash 2', error: 'no result' },
      { line: 3, erased: true },
    ] as const;
    const { key, body } = printPart(chunk, rows);
    await store.put(key, body);

    const open = await readOpenChunk(chunk, key, store);

    expect(open.texts.map(({ id }) => id)).toEqual(['2', '3']);
    expect([...open.prior]).toEqual(rows.map((row) => [row.line, row]));
  });
});
