import { expect, test } from 'vitest';
import { readCheckpoint } from '../../../lib/snapshot/run/checkpoint.ts';
import { type Scan, verifiedIf } from '../../../lib/snapshot/scan.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { batchOfLines } from '../batches.ts';
import { beginIn, sliceIn } from './begin-in.ts';

/** A scan of 5 records, one in each step, whose names of fields `namesOf` returns. */
const scanWith = (namesOf: (record: number) => readonly string[]): Scan<unknown> =>
  async function* scan({ from }) {
    for (let id = Number(from ?? 0) + 1; id <= 5; id += 1) {
      const fields = Object.fromEntries(namesOf(id).map((name) => [name, ['number' as const]]));
      yield {
        batch: batchOfLines([{ key: `d/${id}`, line: `{"id":${id}}` }], fields),
        position: id,
        total: null,
      };
    }
    return { ...verifiedIf(true, []), totals: { start: null, end: null }, order: 'ids', refused: [] };
  };

test.each([
  [
    'more names than a run may have',
    (record: number) => Array.from({ length: 4_000 }, (_, at) => `name-${record}-${at}`),
    'expected records with at most 10000 different field names in a run, got more',
  ],
  [
    'longer names than a run may have',
    (record: number) => [`${record}`.repeat(400_000)],
    'expected field names in a run to have at most 1000000 characters in total, got more',
  ],
])(
  '%s, counted over all pages, end the scan, and no record that was taken is lost',
  async (_, names, fault) => {
    const store = createMemoryStore({ chunkBytes: 100 });
    const run = await beginIn(store, { source: 'cards' });
    const { run: id } = run.checkpoint;

    const first = sliceIn(store, run, { scan: scanWith(names) });
    await expect(first).rejects.toThrow(fault);
    const rest = await sliceIn(store, await readCheckpoint(store, 'cards', id), {
      scan: scanWith(() => ['id']),
    });

    expect(rest.checkpoint).toMatchObject({ records: 5, outcome: { order: 'ids' } });
  },
);
