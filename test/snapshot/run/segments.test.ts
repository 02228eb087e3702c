import { expect, test } from 'vitest';
import { runKeys } from '../../../lib/snapshot/changes/line-members.ts';
import { emptyBatch } from '../../../lib/snapshot/page/record-fields.ts';
import { readCheckpoint, readParts } from '../../../lib/snapshot/run/checkpoint.ts';
import type { Saved, takeSlice } from '../../../lib/snapshot/run/take-run.ts';
import { type Scan, type ScanStep, verifiedIf } from '../../../lib/snapshot/scan.ts';
import type { Store } from '../../../lib/store/store.ts';
import { sampled } from '../../scale.ts';
import { storeOfEach } from '../../store/store-of-each.ts';
import { simulatedBatch } from '../simulated-platform.ts';
import { beginIn, sliceIn } from './begin-in.ts';

type SliceOptions = Parameters<typeof takeSlice>[1];

const store = storeOfEach();

/** A record, or what the segment does before the next record. */
type Planned = number | 'begins' | 'restarts';

/** A scan of a plan, one entry a step; its position is the number of done entries. It fails before `failAt`. */
function plannedScan(plan: readonly Planned[], failAt = Number.POSITIVE_INFINITY): Scan<unknown> {
  return async function* follow({ from }) {
    let segment: ScanStep<unknown>['segment'];
    for (const [at, planned] of plan.entries()) {
      if (at < Number(from ?? 0)) continue;
      if (at === failAt) throw new Error(`failed at ${at}`);
      const step = { position: at + 1, total: null };
      if (planned === 'restarts') yield { ...step, batch: emptyBatch, segment: planned };
      else if (planned === 'begins') segment = planned;
      else yield { ...step, batch: simulatedBatch([planned]), segment };
      if (planned !== 'begins') segment = undefined;
    }
    return { ...verifiedIf(true, []), totals: { start: null, end: null }, order: 'id', refused: [] };
  };
}

const begin = () => beginIn(store);

const slice = (saved: Saved, scan: Scan<unknown>, differences: Partial<SliceOptions> = {}) =>
  sliceIn(store, saved, { scan, ...differences });

const again = ({ checkpoint }: Saved) => readCheckpoint(store, 'calculations', checkpoint.run);

async function storedIds({ checkpoint }: Saved): Promise<string[]> {
  const parts = await readParts(store, checkpoint.lastPart);
  return (await Array.fromAsync(runKeys({ store, source: 'calculations', run: { parts } }))).flat();
}

const PLAN = [1, 2, 'begins', 3, 4, 'restarts', 5, 'restarts', 6, 7, 'begins', 8, 'restarts', 9] as const;
const TAKEN = ['1', '2', '6', '7', '9'];

test('a segment that restarts drops its own records, and none of another segment, whether or not they are in parts', async () => {
  const inOnePart = await slice(await begin(), plannedScan(PLAN));
  const inPartsOfOne = await slice(await begin(), plannedScan(PLAN), { partBytes: 0 });

  expect(await storedIds(inOnePart)).toEqual(TAKEN);
  expect(await storedIds(inPartsOfOne)).toEqual(TAKEN);
  expect(inOnePart.checkpoint.records).toBe(5);
  expect(inPartsOfOne.checkpoint.records).toBe(5);
});

test('the first segment begins with the run', async () => {
  const taken = await slice(await begin(), plannedScan([1, 2, 'restarts', 3]), { partBytes: 0 });

  expect(await storedIds(taken)).toEqual(['3']);
});

test('the types of dropped records are forgotten', async () => {
  const text: Scan<unknown> = async function* read(start) {
    const dropped = { ...simulatedBatch([1]), fields: { id: ['string' as const] } };
    yield { batch: dropped, position: 1, total: null };
    return yield* plannedScan(['restarts', 2])({ ...start, from: undefined });
  };

  const { checkpoint } = await slice(await begin(), text, { partBytes: 0 });

  expect(checkpoint.fields).toEqual({ id: ['number'] });
});

test.each([true, false])(
  'a run that fails before any step is resumed without a trace (each record in a separate part: %s)',
  async (isOnePart) => {
    for (const failAt of sampled(4, [...PLAN.keys()])) {
      const begun = await begin();
      const limits = isOnePart ? { partBytes: 0 } : {};

      await expect(slice(begun, plannedScan(PLAN, failAt), limits)).rejects.toThrow(`failed at ${failAt}`);
      const taken = await slice(await again(begun), plannedScan(PLAN), limits);

      expect(await storedIds(taken)).toEqual(TAKEN);
    }
  },
);

test('a run that is killed after any step is resumed without a trace', async () => {
  for (const killAt of sampled(6, [...PLAN.keys()])) {
    const begun = await begin();
    let steps = 0;
    // After a kill nothing is stored, not even by handlers of errors.
    const put: Store['put'] = async (...request) => {
      if (steps > killAt) throw new Error('killed');
      return store.put(...request);
    };
    const isOver = () => {
      steps += 1;
      if (steps > killAt) throw new Error('killed');
      return false;
    };

    const options = { partBytes: 0, isOver, store: { ...store, put } };
    await slice(begun, plannedScan(PLAN), options).catch(() => undefined);
    const taken = await slice(await again(begun), plannedScan(PLAN));

    expect(await storedIds(taken)).toEqual(TAKEN);
  }
});

test('the keys of the current segment are read back, and none of another segment', async () => {
  const received: string[][] = [];
  const reading: Scan<unknown> = async function* read(start) {
    const steps = plannedScan(PLAN)(start);
    for (;;) {
      const { done, value } = await steps.next();
      received.push((await Array.fromAsync(start.readBackKeys())).flat());
      if (done) return value;
      yield value;
    }
  };

  await slice(await begin(), reading);

  expect(received).toEqual([
    [],
    ['1'],
    ['1', '2'],
    ['3'],
    ['3', '4'],
    [],
    ['5'],
    [],
    ['6'],
    ['6', '7'],
    ['8'],
    [],
    ['9'],
  ]);
});
