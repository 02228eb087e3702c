import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { filesScan } from '../../../../lib/snapshot/sources/files/scan.ts';
import { scaled } from '../../../scale.ts';
import { scanned } from '../../scanned.ts';
import { type FileChange, type SimulatedFiles, simulateFiles } from '../../simulated-files.ts';

const FILESET = '0b9f8a52-7b1c-4a57-9d0e-6f0a5f4f2c11';

const scanOf = ({ call }: Pick<ReturnType<typeof simulateFiles>, 'call'>) =>
  filesScan({ call, filesetIds: [FILESET], search: {} });

const keysOf = (ids: readonly string[]) => ids.map((id) => `${FILESET}/${id}`);
const numbered = (count: number) => Array.from({ length: count }, (_, index) => 10 * index);

describe('a platform whose files do not change', () => {
  test('is proved, by at most two reads, whatever its pages', async () => {
    const quiet = fc.record({
      paths: fc.array(fc.nat(9), { maxLength: 30 }),
      changes: fc.constant([]),
      caps: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 }),
      oddities: fc
        .array(fc.constantFrom('none', 'none', 'empty'), { maxLength: 5 })
        .map((some) => [...some, 'none' as const]),
    });
    await fc.assert(
      fc.asyncProperty(quiet, async (simulated) => {
        const platform = simulateFiles(simulated);

        const { keys, outcome, restarts } = await scanned(scanOf(platform));

        expect(keys.toSorted()).toEqual(keysOf(platform.livedThrough()));
        expect(outcome).toMatchObject({ consistency: 'proved', refused: [] });
        expect(restarts).toBeLessThan(2);
      }),
      { numRuns: scaled(200, 2_000) },
    );
  });

  test.each<[string, Partial<SimulatedFiles>]>([
    ['ignores the order that is asked for', {}],
    ['ignores the order that is asked for, while its paths happen to have it', { ties: 1 }],
    ['refuses the order that is asked for', { order: 'refuses' }],
    ['sorts by creation, but has too few files to show it', { order: 'sorts', ties: 1 }],
  ])('that %s is proved by two reads that find the same', async (_, differences) => {
    for (const hasTotals of [true, false]) {
      const paths = numbered(9);
      const platform = simulateFiles({ paths, changes: [], caps: [3], hasTotals, ...differences });

      const { keys, outcome } = await scanned(scanOf(platform));

      expect(keys).toHaveLength(9);
      expect(outcome).toMatchObject({ consistency: 'proved', assumes: ['not-missed-twice'], passes: 2 });
    }
  });

  test('that sorts by creation time is proved by one read and one more request', async () => {
    for (const ties of [1, 4, 40]) {
      const platform = simulateFiles({
        ...{ paths: numbered(40).reverse(), changes: [], caps: [10] },
        ...{ hasTotals: false, order: 'sorts', ties },
      });

      const { keys, outcome } = await scanned(scanOf(platform));

      expect(keys).toEqual(keysOf(platform.livedThrough()));
      expect(outcome).toMatchObject({
        consistency: 'proved',
        assumes: ['current-responses', 'fixed-creation-times', 'kept-order'],
        passes: 1,
        order: 'created',
      });
      expect(platform.requests()).toBe(5);
    }
  });

  test('is proved by one response, if that is the whole list', async () => {
    const platform = simulateFiles({ paths: numbered(9), changes: [], hasTotals: false });

    const { outcome } = await scanned(scanOf(platform));

    expect(outcome).toMatchObject({ consistency: 'proved', assumes: ['current-responses'], passes: 1 });
    expect(platform.requests()).toBe(1);
  });
});

test('a list in the order of creation that grows with each request ends where it ended at the start', async () => {
  const added = Array.from({ length: 3 }, (): FileChange => ({ kind: 'add', path: 99, isOld: false }));
  for (const hasTotals of [true, false]) {
    const platform = simulateFiles({
      ...{ paths: numbered(40), changes: Array.from({ length: 200 }, () => added), caps: [10] },
      ...{ hasTotals, order: 'sorts', ties: 4 },
    });

    const { keys, outcome } = await scanned(scanOf(platform));

    expect(keys).toEqual(expect.arrayContaining(keysOf(platform.livedThrough())));
    expect(outcome).toMatchObject({ consistency: 'proved', passes: 1 });
    expect(platform.requests()).toBeLessThan(12);
  }
});

test.each<[string, readonly FileChange[]]>([
  ['a file that is renamed to a place already passed', [{ kind: 'rename', at: 8, path: 0 }]],
  ['a file that is renamed to a place yet to come', [{ kind: 'rename', at: 0, path: 81 }]],
  ['a file that is added behind the cursor', [{ kind: 'add', path: 1, isOld: false }]],
  ['a file that vanishes from a response', [{ kind: 'vanish', at: 4 }]],
  [
    'a file deleted, another added and a third one lost, all between two pages,',
    [
      { kind: 'delete', at: 0 },
      { kind: 'rename', at: 7, path: 0 },
      { kind: 'add', path: 99, isOld: false },
    ],
  ],
])('one change (%s) is repaired by two more reads', async (_what, change) => {
  for (const hasTotals of [true, false]) {
    const platform = simulateFiles({ paths: numbered(9), changes: [[], [], change], caps: [3], hasTotals });

    const { keys, outcome, restarts } = await scanned(scanOf(platform));

    expect(keys).toEqual(expect.arrayContaining(keysOf(platform.livedThrough())));
    expect(outcome).toMatchObject({ consistency: 'proved', passes: 3 });
    expect(restarts).toBe(2);
  }
});

describe('a platform that changes while it is read', () => {
  const path = fc.nat(9);
  const at = fc.nat(40);
  const change: fc.Arbitrary<FileChange> = fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('rename' as const), at, path }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), at }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('add' as const), path, isOld: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('vanish' as const), at }) },
  );
  const lag = fc.record({ files: fc.nat(4), until: fc.nat(12) });
  const schedule: fc.Arbitrary<SimulatedFiles> = fc.record(
    {
      paths: fc.array(path, { maxLength: 24 }),
      changes: fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 14 }),
      caps: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 }),
      oddities: fc
        .array(fc.constantFrom('none', 'none', 'none', 'empty', 'repeat'), { maxLength: 7 })
        .map((some) => [...some, 'none' as const]),
      lag,
    },
    { requiredKeys: ['paths', 'changes', 'caps'] },
  );

  test('yields no file twice, the scan ends, and a proved run has all files that existed throughout', async () => {
    const runs = scaled(800, 10_000);
    const ends = { proved: 0, 'best-effort': 0 };
    await fc.assert(
      fc.asyncProperty(schedule, async (simulated) => {
        const platform = simulateFiles(simulated);

        const { keys, outcome } = await scanned(scanOf(platform));

        expect(new Set(keys).size).toBe(keys.length);
        expect(platform.requests()).toBeLessThan(300);
        ends[outcome.consistency] += 1;
        if (outcome.consistency === 'proved')
          expect(keys).toEqual(expect.arrayContaining(keysOf(platform.livedThrough())));
      }),
      { numRuns: runs },
    );

    // The test shows something only if both outcomes occur.
    expect(Math.min(...Object.values(ends)) / runs).toBeGreaterThan(0.03);
  });

  test('is proved after a resume from any position only if nothing was lost, and yields no file twice', async () => {
    await fc.assert(
      fc.asyncProperty(schedule, async (simulated) => {
        const { positions } = await scanned(scanOf(simulateFiles(simulated)));

        for (const { position, ...passed } of positions) {
          const platform = simulateFiles(simulated);
          await scanned(scanOf(platform));
          const { keys, outcome } = await scanned(scanOf(platform), { from: position, passed });

          expect(new Set(keys).size).toBe(keys.length);
          if (outcome.consistency === 'proved')
            expect(keys).toEqual(expect.arrayContaining(keysOf(platform.livedThrough())));
        }
      }),
      { numRuns: scaled(60, 400) },
    );
  });

  test('yields published runs with all files that existed throughout, whatever it does with an order', async () => {
    const runs = scaled(240, 4_800);
    const place = fc.nat(1_000);
    const move: fc.Arbitrary<FileChange> = fc.oneof(
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('rename' as const), at: place, path: place }) },
      fc.record({ kind: fc.constant('delete' as const), at: place }),
      fc.record({ kind: fc.constant('add' as const), path: place, isOld: fc.boolean() }),
    );
    const orders = ['ignores', 'refuses', 'sorts'] as const;
    const moving = fc.record({
      paths: fc.array(place, { minLength: 10, maxLength: 100, size: 'max' }),
      changes: fc
        .constantFrom(10, 60)
        .chain((most) =>
          fc.array(fc.array(move, { maxLength: 2, size: 'max' }), { maxLength: most, size: 'max' }),
        ),
      caps: fc.array(fc.integer({ min: 4, max: 30 }), { minLength: 1, maxLength: 2 }),
      ties: fc.constantFrom(1, 3, 1_000),
      order: fc.constantFrom(...orders),
      hasTotals: fc.boolean(),
    });
    const ends: string[] = [];

    await fc.assert(
      fc.asyncProperty(moving, async (simulated) => {
        const platform = simulateFiles(simulated);

        const { keys, outcome } = await scanned(scanOf(platform));

        ends.push(`${simulated.order} ${outcome.consistency}`);
        expect(new Set(keys).size).toBe(keys.length);
        if (outcome.consistency === 'proved')
          expect(keys).toEqual(expect.arrayContaining(keysOf(platform.livedThrough())));
      }),
      { numRuns: runs, endOnFailure: true },
    );

    // Without an order both outcomes must occur, and on each platform enough runs must be proved, or the test shows
    // nothing.
    const count = (end: string) => ends.filter((each) => each === end).length;
    for (const order of orders) expect(count(`${order} proved`)).toBeGreaterThan(runs / 30);
    for (const order of ['ignores', 'refuses'])
      expect(count(`${order} best-effort`)).toBeGreaterThan(runs / 30);
  });
});
