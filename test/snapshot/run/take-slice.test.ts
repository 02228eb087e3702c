import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { CheckpointConflictError, readCheckpoint, readParts } from '../../../lib/snapshot/run/checkpoint.ts';
import { takeSlice } from '../../../lib/snapshot/run/take-run.ts';
import { type Scan, type ScanStart, verifiedIf } from '../../../lib/snapshot/scan.ts';
import type { Store } from '../../../lib/store/store.ts';
import { storeOfEach } from '../../store/store-of-each.ts';
import { simulatedBatch } from '../simulated-platform.ts';
import { beginIn, noCalls } from './begin-in.ts';

type SliceOptions = Parameters<typeof takeSlice>[1];

const store = storeOfEach();

/** A scan of the ids 1 to 10, one in each step, whose position is the last id. It fails before the id `failAt`. */
function countingScan(failAt = Number.POSITIVE_INFINITY): Scan<unknown> {
  return async function* count({ from }) {
    for (let id = Number(from ?? 0) + 1; id <= 10; id += 1) {
      if (id === failAt) throw new Error(`failed at ${id}`);
      yield { batch: simulatedBatch([id]), position: id, total: 10 };
    }
    return { ...verifiedIf(true, []), totals: { start: 10, end: 10 }, order: 'id', refused: [] };
  };
}

const begin = () => beginIn(store, { now: () => Date.parse('2026-11-18T09:00:00Z'), random: () => 0.5 });

const slice = (differences: Partial<SliceOptions> = {}): SliceOptions => ({
  store,
  scan: countingScan(),
  callCounts: noCalls,
  ...differences,
});

async function linesOf(lastPart: string | null): Promise<string> {
  const parts = await readParts(store, lastPart);
  const bodies = await Promise.all(
    parts.map(async ({ key }) => (await store.get(key))?.body ?? Buffer.alloc(0)),
  );
  return bodies.map((body) => gunzipSync(body).toString()).join('');
}

const all =
  '{"id":1}\n{"id":2}\n{"id":3}\n{"id":4}\n{"id":5}\n{"id":6}\n{"id":7}\n{"id":8}\n{"id":9}\n{"id":10}\n';

test('a scan that fails leaves a checkpoint after what it has read, and is continued from there', async () => {
  const failed = takeSlice(await begin(), slice({ scan: countingScan(7) }));
  await expect(failed).rejects.toThrow('failed at 7');
  const saved = await readCheckpoint(store, 'calculations', '20261118T090000Z-800000');

  const { checkpoint } = await takeSlice(saved, slice());

  expect(saved.checkpoint).toMatchObject({ position: 6, records: 6, parts: 0, open: { records: 6 } });
  expect(checkpoint).toMatchObject({ records: 10, parts: 1, outcome: { consistency: 'proved' } });
  expect(await linesOf(checkpoint.lastPart)).toBe(all);
});

test('a record that is too long ends the slice; what was taken since the last checkpoint is read again', async () => {
  const scanOf = (last: number): Scan<unknown> =>
    async function* scan({ from }) {
      if (from === undefined) yield { batch: simulatedBatch([1]), position: 1, total: 4 };
      yield { batch: simulatedBatch([2, 3, last]), position: 4, total: 4 };
      return { ...verifiedIf(true, []), totals: { start: 4, end: 4 }, order: 'id', refused: [] };
    };
  const long = takeSlice(await begin(), slice({ scan: scanOf(1_000), maxLineBytes: 10 }));
  await expect(long).rejects.toThrow('record 1000: expected at most 10 bytes, got 12');
  const saved = await readCheckpoint(store, 'calculations', '20261118T090000Z-800000');

  const { checkpoint } = await takeSlice(saved, slice({ scan: scanOf(4), maxLineBytes: 10 }));

  expect(saved.checkpoint).toMatchObject({ position: null, records: 0, parts: 0, outcome: null });
  expect(checkpoint).toMatchObject({ records: 4, parts: 1, outcome: { consistency: 'proved' } });
  expect((await readParts(store, checkpoint.lastPart)).map(({ records }) => records)).toEqual([4]);
  expect(await linesOf(checkpoint.lastPart)).toBe('{"id":1}\n{"id":2}\n{"id":3}\n{"id":4}\n');
});

test('if two processes resume the same run, one stops', async () => {
  const saved = await begin();

  const both = await Promise.allSettled([takeSlice(saved, slice()), takeSlice(saved, slice())]);

  const reasons = both.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  const { checkpoint } = await readCheckpoint(store, 'calculations', saved.checkpoint.run);
  expect(reasons).toHaveLength(1);
  expect(reasons[0]).toSatisfy(
    (error) => error instanceof AggregateError || error instanceof CheckpointConflictError,
  );
  expect(await linesOf(checkpoint.lastPart)).toBe(all);
});

test('the calls of all processes of a run are summed', async () => {
  let requests = 100;
  const callCounts = () => ({ requests, retries: 0, throttled: 1, waitedMs: 5 });
  const counting: Scan<unknown> = async function* count(options) {
    requests += 3;
    return yield* countingScan(options.from === undefined ? 5 : Number.POSITIVE_INFINITY)(options);
  };

  await takeSlice(await begin(), slice({ scan: counting, callCounts })).catch(() => undefined);
  const saved = await readCheckpoint(store, 'calculations', '20261118T090000Z-800000');
  const { checkpoint } = await takeSlice(saved, slice({ scan: counting, callCounts }));

  expect(checkpoint.calls).toEqual({ requests: 6, retries: 0, throttled: 0, waitedMs: 0 });
});

const allOf = async (keys: ReturnType<ScanStart<unknown>['readBackKeys']>) =>
  (await Array.fromAsync(keys)).flat();

test('a scan can read back the keys that were taken, from the open part and from earlier slices, and each key comes once', async () => {
  const received: string[][] = [];
  const requesting: Scan<unknown> = async function* request(start) {
    for await (const step of countingScan()(start)) {
      yield step;
      if (Number(step.position) % 4 === 0) received.push(await allOf(start.readBackKeys()));
    }
    received.push(await allOf(start.readBackKeys()), await allOf(start.readBackKeys()));
    return { ...verifiedIf(true, []), totals: { start: 10, end: 10 }, order: 'id', refused: [] };
  };
  const first = await takeSlice(await begin(), slice({ partBytes: 0, isOver: () => true }));

  const { checkpoint } = await takeSlice(first, slice({ scan: requesting }));

  const upTo = (last: number) => Array.from({ length: last }, (_, index) => String(index + 1));
  expect(received).toEqual([upTo(4), upTo(8), upTo(10), upTo(10)]);
  expect(checkpoint).toMatchObject({ parts: 2, records: 10 });
  expect(await linesOf(checkpoint.lastPart)).toBe(all);
});

test('a part that is stored but could not be recorded is recorded before the checkpoint moves past it', async () => {
  let refusals = 1;
  const put: Store['put'] = async (key, ...rest) => {
    if (key.endsWith('.gz.json') && refusals-- > 0) throw new Error('the store was busy');
    return store.put(key, ...rest);
  };
  const begun = await begin();

  await expect(takeSlice(begun, slice({ store: { ...store, put } }))).rejects.toThrow('the store was busy');
  const saved = await readCheckpoint(store, 'calculations', begun.checkpoint.run);
  const { checkpoint } = await takeSlice(saved, slice());

  expect(checkpoint).toMatchObject({ records: 10, outcome: { consistency: 'proved' } });
  expect(await linesOf(checkpoint.lastPart)).toBe(all);
});

describe('records that have been open for the maximum time', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
  afterEach(() => vi.useRealTimers());

  /** Waits in real time, since the fake clock does not move the store. */
  async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await isTrue())) await new Promise((resolve) => setImmediate(resolve));
  }

  const bothWait = () => until(() => vi.getTimerCount() === 2);

  const checkpointOf = async (run: string) => (await readCheckpoint(store, 'calculations', run)).checkpoint;

  /** A scan of ten records that waits before some of them: milliseconds by record number. */
  const waitingScan = (waits: Readonly<Record<number, number>>): Scan<unknown> =>
    async function* wait(start) {
      const steps = countingScan()(start);
      for (let step = await steps.next(); ; step = await steps.next()) {
        if (step.done) return step.value;
        const ms = waits[Number(step.value.position)];
        if (ms !== undefined) await new Promise((resolve) => setTimeout(resolve, ms));
        yield step.value;
      }
    };

  test('become durable while the next page is awaited, for an hour if necessary', async () => {
    const begun = await begin();
    const taken = takeSlice(begun, slice({ scan: waitingScan({ 4: 3_600_000 }) }));
    await bothWait();
    await vi.advanceTimersByTimeAsync(30_000);
    await until(async () => (await checkpointOf(begun.checkpoint.run)).open !== null);
    const waiting = await checkpointOf(begun.checkpoint.run);
    await vi.advanceTimersByTimeAsync(3_570_000);
    const { checkpoint } = await taken;

    expect(waiting).toMatchObject({ position: 3, records: 3, outcome: null });
    expect(checkpoint).toMatchObject({ parts: 1, records: 10, outcome: { consistency: 'proved' } });
    expect(await linesOf(checkpoint.lastPart)).toBe(all);
  });

  test('become durable after the page during which the time ended, and the following records have the whole time', async () => {
    const begun = await begin();
    const waits = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [index + 1, 400]));
    const taken = takeSlice(begun, slice({ scan: waitingScan(waits), partMs: 1_000 }));
    for (let passed = 0; passed < 10; passed += 1) {
      await bothWait();
      await vi.advanceTimersByTimeAsync(400);
    }
    const { checkpoint } = await taken;

    expect(checkpoint).toMatchObject({ parts: 1, records: 10 });
    expect(await linesOf(checkpoint.lastPart)).toBe(all);
  });

  test('are stored again with the next page if that failed while it was awaited', async () => {
    let refusals = 1;
    const put: Store['put'] = async (key, ...rest) => {
      if (key.endsWith('.gz') && refusals-- > 0) throw new Error('the store was busy');
      return store.put(key, ...rest);
    };
    const begun = await begin();
    const scan = waitingScan({ 4: 60_000 });
    const taken = takeSlice(begun, slice({ scan, store: { ...store, put } }));
    await bothWait();
    await vi.advanceTimersByTimeAsync(30_000);
    await until(() => refusals === 0);
    await vi.advanceTimersByTimeAsync(30_000);
    const { checkpoint } = await taken;

    expect(checkpoint).toMatchObject({ parts: 1, records: 10, outcome: { consistency: 'proved' } });
    expect(await linesOf(checkpoint.lastPart)).toBe(all);
  });
});
