import { describe, expect, test } from 'vitest';
import { printJson } from '../../../../lib/base/json/json.ts';
import { runKeys } from '../../../../lib/snapshot/changes/line-members.ts';
import { readCheckpoint, readParts } from '../../../../lib/snapshot/run/checkpoint.ts';
import type { Saved, takeSlice } from '../../../../lib/snapshot/run/take-run.ts';
import type { Scan } from '../../../../lib/snapshot/scan.ts';
import { calculationScan } from '../../../../lib/snapshot/sources/calculations/scan.ts';
import type { Store } from '../../../../lib/store/store.ts';
import { storeOfEach } from '../../../store/store-of-each.ts';
import { respondingCall, statusError } from '../../responding-call.ts';
import { beginIn, sliceIn } from '../../run/begin-in.ts';

type SliceOptions = Parameters<typeof takeSlice>[1];

const store = storeOfEach();

const ROWS = Array.from({ length: 16 }, (_, index) => ({ id: index + 1, created: (index + 1) * 10 }));
const IDS = ROWS.map(({ id }) => String(id));

type Body = { sort: { field: string; ascending: boolean }; offset: number; limit: number };

/**
 * A platform of 16 rows that sorts by one field until rows from the tenth on are requested; from then on its order is
 * different. It responds with 500 to the call with the number `failAt`.
 */
function losingPlatform(field: 'id' | 'created', failAt = Number.POSITIVE_INFINITY) {
  let calls = 0;
  let isLost = false;
  const call = respondingCall(({ body }) => {
    const { sort, offset, limit } = body as Body;
    if (sort.field !== field) throw statusError(400);
    calls += 1;
    if (calls === failAt) throw statusError(500);
    isLost ||= sort.ascending && offset >= 9;
    const shuffled = ROWS.toSorted((a, b) => ((a.id * 7) % 17) - ((b.id * 7) % 17));
    const rows = isLost ? shuffled : sort.ascending ? ROWS : ROWS.toReversed();
    return printJson({ results: rows.slice(offset, offset + limit), totalHits: ROWS.length });
  });
  const scan = calculationScan({ call, selection: {}, limit: 3, sleep: async () => undefined });
  return { scan: scan as Scan<unknown>, calls: () => calls };
}

const begin = () => beginIn(store);

/** Takes one slice. Without a part size, one part stays open until something closes it. */
const slice = (saved: Saved, scan: Scan<unknown>, differences: Partial<SliceOptions> = {}) =>
  sliceIn(store, saved, { scan, ...differences });

const ofOnePart: Partial<SliceOptions> = { partBytes: 0, isOver: () => true };

/** Takes two parts of a run, and a third slice with `rest`. */
async function afterTwoParts(scan: Scan<unknown>, rest: Partial<SliceOptions> = {}): Promise<Saved> {
  const first = await slice(await begin(), scan, ofOnePart);
  return slice(await slice(first, scan, ofOnePart), scan, rest);
}

const again = ({ checkpoint }: Saved) => readCheckpoint(store, 'calculations', checkpoint.run);

/** The content of a run: its checkpoint, and the ids and counts of each part. */
async function storedBy({ checkpoint }: Saved) {
  const parts = await readParts(store, checkpoint.lastPart);
  const ids: string[][] = [];
  for (const part of parts) {
    const run = { parts: [part] };
    ids.push((await Array.fromAsync(runKeys({ store, source: 'calculations', run }))).flat());
  }
  const counts = parts.map(({ records, firstKey, lastKey }) => ({ records, firstKey, lastKey }));
  return { ids, counts, checkpoint };
}

const undisturbed = {
  records: 16,
  fields: { id: ['number'], created: ['number'] },
  outcome: {
    consistency: 'best-effort',
    assumes: [],
    totals: { start: 16, end: 16 },
    order: 'none',
    refused: [],
  },
};

/** Expects the content of an undisturbed run: each id once over all parts, with correct counts. */
async function expectUndisturbed(saved: Saved): Promise<void> {
  const { ids, counts, checkpoint } = await storedBy(saved);
  expect(ids.flat().toSorted()).toEqual(IDS.toSorted());
  expect(counts).toEqual(
    ids.map((keys) => ({ records: keys.length, firstKey: keys[0], lastKey: keys.at(-1) })),
  );
  expect(checkpoint).toMatchObject({ ...undisturbed, parts: ids.length });
}

describe.each(['id', 'created'] as const)(
  'a run whose platform stops sorting by %s after several parts',
  (field) => {
    test('has every id exactly once over all parts, including the open part', async () => {
      const saved = await afterTwoParts(losingPlatform(field).scan);

      const { ids } = await storedBy(saved);
      await expectUndisturbed(saved);
      expect(ids).toHaveLength(3);
      expect(ids.flat()).toEqual(expect.arrayContaining(IDS.slice(0, 9)));
    });

    test('has the same result if the run is stopped at each of its checkpoints', async () => {
      const { scan } = losingPlatform(field);

      let saved = await begin();
      let slices = 0;
      while (saved.checkpoint.outcome === null) {
        saved = await slice(await again(saved), scan, ofOnePart);
        slices += 1;
      }

      expect(slices).toBeGreaterThan(6);
      await expectUndisturbed(saved);
    });

    test('has the same result whichever call fails, if the run is resumed after it', async () => {
      let failures = 0;

      for (let failAt = 1; failAt <= 20; failAt += 1) {
        const { scan } = losingPlatform(field, failAt);
        const begun = await begin();
        // A failure of a page that was read ahead and not used stays unnoticed.
        const saved = await slice(begun, scan).catch(() => undefined);
        failures += saved === undefined ? 1 : 0;
        await expectUndisturbed(saved ?? (await slice(await again(begun), scan)));
      }

      expect(failures).toBeGreaterThan(14);
    });

    test('has the same result whichever object a killed process stored last', async () => {
      let kills = 0;

      for (let isKilled = true; isKilled; ) {
        const platform = losingPlatform(field);
        const begun = await slice(
          await slice(await begin(), platform.scan, ofOnePart),
          platform.scan,
          ofOnePart,
        );
        const dying = slice(begun, platform.scan, { store: storeUntil(kills) });
        isKilled = await dying.then(
          () => false,
          () => true,
        );
        if (isKilled) await expectUndisturbed(await slice(await again(begun), platform.scan));
        kills += 1;
      }

      // The slice puts five objects: the open part and a checkpoint, then the part, its entry and a checkpoint.
      expect(kills - 1).toBe(5);
    });
  },
);

function storeUntil(puts: number): Store {
  let remaining = puts;
  const put: Store['put'] = async (...args) => {
    remaining -= 1;
    if (remaining < 0) throw new Error('killed');
    return store.put(...args);
  };
  return { ...store, put };
}
