import { expect, test } from 'vitest';
import type { ChunkRow } from '../../../../lib/jobs/texts/batch/chunk-row.ts';
import { printPart } from '../../../../lib/jobs/texts/batch/part.ts';
import { readPriorPart } from '../../../../lib/jobs/texts/batch/prior-part.ts';
import { createMemoryStore } from '../../../store/memory-store.ts';

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
