import { expect, test } from 'vitest';
import { readCheckpoint } from '../../../lib/snapshot/run/checkpoint.ts';
import { readMissing } from '../../../lib/snapshot/run/stored-missing.ts';
import { startRun } from '../../../lib/snapshot/run/take-run.ts';
import { takeSlice } from '../../../lib/snapshot/run/take-slice.ts';
import type { MissingId } from '../../../lib/snapshot/scan.ts';
import { fanOut, fanOutPosition } from '../../../lib/snapshot/sources/fan-out.ts';
import { resumable } from '../../../lib/snapshot/sources/resumable.ts';
import type { Store } from '../../../lib/store/store.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { batchOfLines } from '../batches.ts';
import { statusError } from '../responding-call.ts';

/** A scan of these ids, of which only every tenth is there, one at a time. */
const scanOf = (ids: readonly string[]) =>
  resumable(
    fanOut({
      ids,
      total: null,
      read: async (id) => {
        if (Number(id) % 10 > 0) throw statusError(Number(id) % 2 === 0 ? 403 : 404);
        return batchOfLines([{ key: id, line: `{"id":"${id}"}` }]);
      },
    }),
    fanOutPosition,
  );

const idsTo = (count: number) => Array.from({ length: count }, (_, id) => String(id));

const missingOf = (ids: readonly string[]): readonly MissingId[] =>
  ids.filter((id) => Number(id) % 10 > 0).map((id) => ({ id, status: Number(id) % 2 === 0 ? 403 : 404 }));

const begin = (store: Store) =>
  startRun(
    { source: 'cards', compression: 'gzip', platform: 'acme.example.com', selection: {} },
    { store, now: Date.now, random: Math.random },
  );

const callCounts = () => ({ requests: 0, retries: 0, throttled: 0, waitedMs: 0 });

/** Takes slices of `every` steps until the scan has ended. */
async function takeSlices(run: string, store: Store, ids: readonly string[], every: number) {
  let steps = 0;
  const isOver = () => {
    steps += 1;
    return steps % every === 0;
  };
  for (;;) {
    const saved = await readCheckpoint(store, 'cards', run);
    const { checkpoint } = await takeSlice(saved, { store, scan: scanOf(ids), callCounts, isOver });
    if (checkpoint.outcome !== null) return checkpoint;
  }
}

/** A store whose nth put fails, before or after it has happened: with all after it (`killed`), or alone. */
function failingAt(
  store: Store,
  failAt: number,
  how: 'killed before' | 'killed after' | 'failed once',
): Store {
  let puts = 0;
  const put: Store['put'] = async (...request) => {
    puts += 1;
    const isLater = puts > failAt && how !== 'failed once';
    if (isLater || (puts === failAt && how !== 'killed after')) throw new Error('failed');
    const result = await store.put(...request);
    if (puts === failAt) throw new Error('failed');
    return result;
  };
  return { ...store, put };
}

test.each(['killed before', 'killed after', 'failed once'] as const)(
  '%s any write, a run lists each missing id once',
  async (how) => {
    const ids = idsTo(24);
    for (let failAt = 1, hasFailed = true; hasFailed; failAt += 1) {
      const store = createMemoryStore({ chunkBytes: 100 });
      const { run } = (await begin(store)).checkpoint;
      hasFailed = false;

      await takeSlices(run, failingAt(store, failAt, how), ids, 5).catch(() => {
        hasFailed = true;
      });
      const { missing } = await takeSlices(run, store, ids, 5);

      expect(await readMissing(store, missing)).toEqual(missingOf(ids));
    }
  },
);

test('however many ids are missing, each is written once and the checkpoint stays small', async () => {
  const ids = idsTo(2_000);
  const store = createMemoryStore({ chunkBytes: 100 });
  const begun = await begin(store);
  const sizes = { checkpoint: 0, missing: 0 };
  const put: Store['put'] = async (key, body, ...rest) => {
    if (key.endsWith('_checkpoint.json')) sizes.checkpoint = Math.max(sizes.checkpoint, body.byteLength);
    if (key.includes('/missing-')) sizes.missing += body.byteLength;
    return store.put(key, body, ...rest);
  };

  const { missing } = await takeSlices(begun.checkpoint.run, { ...store, put }, ids, 50);

  expect(missing.count).toBe(1_800);
  expect(sizes.checkpoint).toBeLessThan(2_000);
  expect(sizes.missing).toBeLessThan(1_800 * 60 + 40 * 200);
});

/** A store with a run of 24 ids, most of which are missing, in pieces. */
async function taken() {
  const store = createMemoryStore({ chunkBytes: 100 });
  const { run } = (await begin(store)).checkpoint;
  return { store, ...(await takeSlices(run, store, idsTo(24), 5)) };
}

test('a piece that is gone is named', async () => {
  const { store, missing } = await taken();
  const first = [...store.objects.keys()].find((key) => key.includes('/missing-00000000-')) ?? '';
  await store.delete(first);

  const reading = readMissing(store, missing);

  await expect(reading).rejects.toMatchObject({
    name: 'StoredObjectError',
    message: expect.stringMatching(/missing-00000000-.* in memory: expected missing ids, got nothing$/),
  });
  expect(first).toContain('work/cards/');
});

test('a count that the pieces contradict is refused', async () => {
  const { store, missing } = await taken();

  await expect(readMissing(store, { ...missing, count: 22 })).rejects.toThrow(
    'expected 22 missing ids up to it, got 21',
  );
});
