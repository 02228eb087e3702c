import { expect, test } from 'vitest';
import { resumeRun, startRun } from '../../../lib/snapshot/run/take-run.ts';
import { takeSlice } from '../../../lib/snapshot/run/take-slice.ts';
import { provedIf, type Scan } from '../../../lib/snapshot/scan.ts';
import { caught } from '../../platform/caught.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { batchOfLines } from '../batches.ts';

/** A scan of 5 records, one a step, each with other names of fields. */
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
    return { ...provedIf(true, []), totals: { start: null, end: null }, order: 'ids', refused: [] };
  };

const callCounts = () => ({ requests: 0, retries: 0, throttled: 0, waitedMs: 0 });

test.each([
  [
    'more names than a run may have',
    (record: number) => Array.from({ length: 4_000 }, (_, at) => `name-${record}-${at}`),
    'expected records with at most 10000 different field names in a run, got more',
  ],
  [
    'longer names than a run may have',
    (record: number) => [`${record}`.repeat(400_000)],
    'expected field names of at most 1000000 characters in all in a run, got more',
  ],
])('%s, over all pages: the operation is named, and what was taken before stays', async (_, names, fault) => {
  const store = createMemoryStore({ chunkBytes: 100 });
  const run = await startRun(
    { source: 'cards', compression: 'gzip', platform: 'acme.example.com', selection: {} },
    { store, now: Date.now, random: Math.random },
  );
  const { run: id } = run.checkpoint;

  const error = await caught(takeSlice(run, { store, scan: scanWith(names), callCounts }));
  const { checkpoint, etag } = await resumeRun(store, 'cards', id);
  const again = await caught(takeSlice({ checkpoint, etag }, { store, scan: scanWith(names), callCounts }));
  const rest = await takeSlice(await resumeRun(store, 'cards', id), {
    store,
    scan: scanWith(() => ['id']),
    callCounts,
  });

  expect(error.message).toBe(`listCards (cards) failed: the response does not match the contract: ${fault}`);
  expect(again.message).toBe(error.message);
  expect(checkpoint).toMatchObject({ records: 2, position: 2 });
  expect(rest.checkpoint).toMatchObject({ records: 5, outcome: { order: 'ids' } });
});
