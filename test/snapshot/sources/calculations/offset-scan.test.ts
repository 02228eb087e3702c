import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type OffsetPosition,
  type OffsetScanOptions,
  offsetScan,
} from '../../../../lib/snapshot/sources/calculations/offset-scan.ts';
import type { ReadPage } from '../../../../lib/snapshot/sources/calculations/pages.ts';
import { NO_PROGRESS, OrderError } from '../../../../lib/snapshot/sources/calculations/progress.ts';
import { scaled } from '../../../scale.ts';
import { fromBeginning, scanned as scannedBy } from '../../scanned.ts';
import { type Change, idsPage, rowsOf, simulatePlatform, watched } from '../../simulated-platform.ts';

const scanned = ({ from, ...options }: OffsetScanOptions & { readonly from?: OffsetPosition }) =>
  scannedBy(offsetScan(options), { from });

/** A platform that sends the same two pages forever: one for the highest ids, one for all other requests. */
function fixedPages(top: readonly (number | bigint)[], page: readonly (number | bigint)[]): ReadPage {
  return async ({ ascending }) => idsPage(ascending ? page : top);
}

describe('a platform that does not change', () => {
  test('is read completely, in the order of ids, and proved', async () => {
    const platform = simulatePlatform({ steps: rowsOf(10), changes: [] });

    const { keys, outcome } = await scanned({ readPage: platform.readPage, limit: 4 });

    expect(keys).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '10']);
    expect(outcome).toEqual({
      consistency: 'proved',
      assumes: ['current-responses'],
      totals: { start: 10, end: 10 },
      order: 'id',
      missing: [],
      refused: [],
    });
  });

  test('is read in pages that overlap by one row, and no page past the highest id is requested', async () => {
    const platform = simulatePlatform({ steps: rowsOf(10), changes: [] });
    const requested: number[] = [];
    const readPage: ReadPage = async (request) => {
      requested.push(request.offset);
      return platform.readPage(request);
    };

    await scanned({ readPage, limit: 4 });

    expect(requested).toEqual([0, 0, 3, 6]);
  });

  test.each([
    ['small', 10, [0, 0, 3, 6]],
    ['large', 5_000_000, [0, 0, 3]],
  ])('has two pages of %s size fetched ahead, or one that is large', async (_, sizeBytes, expected) => {
    const platform = simulatePlatform({ steps: rowsOf(20), changes: [] });
    const requested: number[] = [];
    const readPage: ReadPage = async (request) => {
      requested.push(request.offset);
      return { ...(await platform.readPage(request)), sizeBytes };
    };
    const steps = offsetScan({ readPage, limit: 4 })(fromBeginning);

    await steps.next();

    expect(requested).toEqual(expected);
    await steps.return(undefined as never);
  });

  test('with ids above 2^53 is read in their order as integers', async () => {
    const ids = [99n, 9_007_199_254_740_993n, 9_007_199_254_740_994n, 10_000_000_000_000_000n];

    const { keys } = await scanned({ readPage: fixedPages([10_000_000_000_000_000n], ids), limit: 10 });

    expect(keys).toEqual(ids.map(String));
  });
});

test('an order that the platform did not keep to stops the scan', async () => {
  const scan = scanned({ readPage: fixedPages([9], [1, 5, 3, 9]), limit: 10 });

  await expect(scan).rejects.toThrow(
    new OrderError('the platform did not keep to the ascending order of ids: 3 came after 5 at row 2'),
  );
});

test('a platform that does not sort in descending order is detected: its first row is not the highest', async () => {
  const scan = scanned({ readPage: fixedPages([1, 2], [1, 2, 3, 4]), limit: 10 });

  await expect(scan).rejects.toThrow('did not keep to the descending order of ids: 2 came after 1');
});

test('the scan gives up on a platform that sends the same page forever', async () => {
  const scan = scanned({ readPage: fixedPages([99], [1, 2, 3, 4]), limit: 4 });

  await expect(scan).rejects.toThrow('the scan made no progress');
});

test('the scan gives up on a platform that shows its highest id, and no page', async () => {
  await expect(scanned({ readPage: fixedPages([99], []), limit: 4 })).rejects.toThrow(
    'the scan made no progress: 65 pages up to row 0 brought nothing new',
  );
});

test('an end reported by a degraded response is not called proved', async () => {
  const deletions: readonly Change[] = [{ kind: 'delete', at: 3 }];
  const platform = simulatePlatform({ steps: rowsOf(4), changes: [[], deletions] });
  let tops = 0;
  const readPage: ReadPage = async (request) => {
    tops += request.ascending ? 0 : 1;
    return { ...(await platform.readPage(request)), degraded: !request.ascending && tops > 1 };
  };

  const { keys, outcome } = await scanned({ readPage, limit: 10 });

  expect(keys).toEqual(['1', '2', '3']);
  expect(outcome).toMatchObject({ consistency: 'best-effort', refused: ['degraded'] });
});

/** A scan that has taken the ids up to 6. */
const upToSix: OffsetPosition = {
  ...NO_PROGRESS,
  target: '9',
  isExtended: false,
  next: 6,
  stepBack: 0,
  last: '6',
  taken: 6,
};

describe('a position', () => {
  test('says how far the scan is', async () => {
    const platform = simulatePlatform({
      steps: rowsOf(6),
      changes: [[], [{ kind: 'add' }]],
      caps: [2, 4, 3],
    });

    const { positions } = await scanned({ readPage: platform.readPage, limit: 5 });

    const position = { target: '6', isExtended: false, stepBack: 0, idle: 0, degraded: false };
    const totals = { start: 6, end: 7 };
    expect(positions.map((each) => each.position)).toEqual([
      { ...position, next: 4, last: '4', taken: 4, pages: 1, totals },
      { ...position, next: 6, last: '6', taken: 6, pages: 2, totals },
    ]);
  });

  test('does not go back if a short page ends below it', async () => {
    const pages = [[8, 9], [7, 8, 9], [4, 5], [9], [5, 6, 7, 8, 9]];
    const { requested, read } = watched(async () => idsPage(pages[requested.length - 1] ?? []));

    const { keys, positions } = await scanned({ readPage: read, limit: 5, pagesAhead: 0, from: upToSix });

    expect(keys).toEqual(['7', '8', '9']);
    expect(positions).toHaveLength(1);
    expect(requested).toEqual(['>5', '>4', '>3', '<0', '>4']);
  });
});

describe('the end', () => {
  test('is asked for again, once, if both totals are above what was taken', async () => {
    const platform = simulatePlatform({
      steps: rowsOf(4),
      changes: [[], [], [{ kind: 'add' }], [{ kind: 'add' }]],
    });
    const { requested, read } = watched(async (request) => ({
      ...(await platform.readPage(request)),
      total: 20,
    }));

    const { keys, positions } = await scanned({ readPage: read, limit: 4, pagesAhead: 0 });

    expect(requested).toEqual(['<0', '>0', '<0', '>3']);
    expect(keys).toEqual(['1', '2', '3', '4', '5', '6']);
    expect(positions.map(({ position }) => position.isExtended)).toEqual([false, true]);
  });

  test('of a platform that had no rows at the start comes after a page that brings nothing', async () => {
    const added: Change[] = Array.from({ length: 5 }, () => ({ kind: 'add' }));
    const { requested, read } = watched(
      simulatePlatform({ steps: rowsOf(0), changes: [[], added] }).readPage,
    );

    const { keys } = await scanned({ readPage: read, limit: 3 });

    expect(keys).toEqual(['1', '2', '3', '4', '5']);
    expect(requested).toEqual(['<0', '>0', '>2', '>4', '<0']);
  });
});

test('the last total is the last that was reported', async () => {
  const totals = [5, 7, null];
  const platform = simulatePlatform({ steps: rowsOf(6), changes: [] });
  const { requested, read } = watched(async (request) => ({
    ...(await platform.readPage(request)),
    total: totals[requested.length - 1] ?? null,
  }));

  const { outcome } = await scanned({ readPage: read, limit: 4, pagesAhead: 0 });

  expect(outcome.totals).toEqual({ start: 5, end: 7 });
});

test('a page that stays degraded costs the proof, although the end was not', async () => {
  const platform = simulatePlatform({ steps: rowsOf(3), changes: [] });
  const readPage: ReadPage = async (request) => ({
    ...(await platform.readPage(request)),
    degraded: request.ascending,
  });

  const { outcome } = await scanned({ readPage, limit: 4 });

  expect(outcome).toMatchObject({ consistency: 'best-effort', refused: ['degraded'] });
});

describe('the pages ahead', () => {
  /** What is requested by the first step; then the caller stops. */
  async function afterOneStep(
    rows: number,
    limit: number,
    total: number | null,
    changes: readonly Change[][] = [],
  ) {
    const platform = simulatePlatform({ steps: rowsOf(rows), changes });
    const signals: (AbortSignal | undefined)[] = [];
    const { requested, read } = watched(async (request) => {
      signals.push(request.signal);
      return { ...(await platform.readPage(request)), total };
    });
    const steps = offsetScan({ readPage: read, limit })(fromBeginning);
    await steps.next();
    await steps.return(undefined as never);
    return { requested, aborted: signals.map((signal) => signal?.aborted) };
  }

  test('are requested if no total is known, and aborted if the caller stops', async () => {
    expect(await afterOneStep(20, 4, null)).toEqual({
      requested: ['<0', '>0', '>3', '>6'],
      aborted: [undefined, false, true, true],
    });
  });

  test('end where the total ends', async () => {
    expect((await afterOneStep(20, 4, 7)).requested).toEqual(['<0', '>0', '>3']);
    expect((await afterOneStep(20, 4, 8)).requested).toEqual(['<0', '>0', '>3', '>6']);
  });

  test('are none if there were no rows at the start', async () => {
    const added: Change[] = Array.from({ length: 9 }, () => ({ kind: 'add' }));

    expect((await afterOneStep(0, 4, null, [[], added])).requested).toEqual(['<0', '>0']);
  });

  test('are none after the highest id, or a page of a single row', async () => {
    expect((await afterOneStep(4, 4, null)).requested).toEqual(['<0', '>0']);
    expect((await afterOneStep(4, 1, null)).requested).toEqual(['<0', '>0']);
    expect((await afterOneStep(4, 2, null)).requested).toEqual(['<0', '>0', '>1', '>2']);
  });
});

describe('a platform that changes while it is read', () => {
  const change: fc.Arbitrary<Change> = fc.oneof(
    fc.record({ kind: fc.constant('delete' as const), at: fc.nat(40) }),
    fc.record({ kind: fc.constant('add' as const) }),
  );
  const schedule = fc.record({
    steps: fc.nat(40).map(rowsOf),
    limit: fc.integer({ min: 2, max: 9 }),
    changes: fc.array(fc.array(change, { maxLength: 6 }), { maxLength: 20 }),
    caps: fc.array(fc.integer({ min: 2, max: 9 }), { minLength: 1, maxLength: 4 }),
  });

  test('loses no record that exists throughout the scan, takes none twice, and ends', async () => {
    await fc.assert(
      fc.asyncProperty(schedule, async ({ limit, ...simulated }) => {
        const platform = simulatePlatform(simulated);

        const { keys, positions, outcome } = await scanned({ readPage: platform.readPage, limit });

        expect(new Set(keys).size).toBe(keys.length);
        expect(new Set(positions.map(({ records }) => records)).size).toBe(positions.length);
        expect(keys).toEqual(expect.arrayContaining(platform.livedThrough()));
        expect(outcome.consistency).toBe('proved');
        expect(platform.requests()).toBeLessThan(200);
      }),
      { numRuns: scaled(300, 3_000) },
    );
  });

  test('can be resumed from any position as if the scan had never stopped', async () => {
    await fc.assert(
      fc.asyncProperty(schedule, async ({ limit, ...simulated }) => {
        const { positions } = await scanned({ readPage: simulatePlatform(simulated).readPage, limit });

        for (const { records, position } of positions) {
          const again = simulatePlatform(simulated);
          const first = await scanned({ readPage: again.readPage, limit });
          const rest = await scanned({ readPage: again.readPage, limit, from: position });
          const keys = [...first.keys.slice(0, records), ...rest.keys];

          expect(new Set(keys).size).toBe(keys.length);
          expect(keys).toEqual(expect.arrayContaining(again.livedThrough()));
          expect(rest.outcome.consistency).toBe('proved');
        }
      }),
      { numRuns: scaled(50, 300) },
    );
  });
});
