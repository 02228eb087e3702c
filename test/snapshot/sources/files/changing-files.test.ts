import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { filesScan } from '../../../../lib/snapshot/sources/files/scan.ts';
import { scaled } from '../../../scale.ts';
import { respondingCall } from '../../responding-call.ts';
import { scanned } from '../../scanned.ts';
import { type FileChange, type SimulatedFiles, STARTED_MS, simulateFiles } from '../../simulated-files.ts';

const FILESET = '0b9f8a52-7b1c-4a57-9d0e-6f0a5f4f2c11';

/** A scan of these files: of the whole FileSet, or of a directory that files can be moved into. */
function scanOf({ call }: Pick<ReturnType<typeof simulateFiles>, 'call'>, directoryPath?: string) {
  const search = directoryPath === undefined ? {} : { directoryPath };
  return filesScan({ call, filesetIds: [FILESET], search, now: () => STARTED_MS });
}

const keysOf = (ids: readonly string[]) => ids.map((id) => `${FILESET}/${id}`);
const numbered = (count: number) => Array.from({ length: count }, (_, index) => 10 * index);

describe('a platform that is quiet', () => {
  test('is proved, with a single read, whatever its pages', async () => {
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
        expect(restarts).toBe(0);
      }),
      { numRuns: scaled(200, 2_000) },
    );
  });

  test('without totals is read once, and by cursor', async () => {
    const platform = simulateFiles({ paths: numbered(9), changes: [], caps: [3], hasTotals: false });

    const { keys, outcome } = await scanned(scanOf(platform));

    expect(keys).toHaveLength(9);
    expect(outcome).toMatchObject({ consistency: 'cursor', assumes: ['current-responses', 'fixed-order'] });
    expect(platform.requests()).toBe(3);
  });

  test('with files that were just created is proved by two reads that find the same', async () => {
    const platform = simulateFiles({
      paths: numbered(9),
      changes: [],
      caps: [3],
      lag: { files: 2, until: 0 },
    });

    const { keys, outcome } = await scanned(scanOf(platform));

    expect(keys).toHaveLength(9);
    expect(outcome).toMatchObject({ consistency: 'proved', assumes: ['exact-totals', 'unique-ids'] });
    expect(platform.requests()).toBe(6);
  });

  test('in a directory is proved by two reads that find the same', async () => {
    const platform = simulateFiles({ paths: numbered(9), changes: [], caps: [3] });

    const { outcome } = await scanned(scanOf(platform, '/reports'));

    expect(outcome).toMatchObject({ consistency: 'proved', assumes: ['exact-totals', 'unique-ids'] });
    expect(platform.requests()).toBe(6);
  });

  test('is proved by one response, if that is the whole list', async () => {
    const platform = simulateFiles({ paths: numbered(9), changes: [], lag: { files: 9, until: 0 } });

    const { outcome } = await scanned(scanOf(platform, '/reports'));

    expect(outcome).toMatchObject({ consistency: 'proved', assumes: ['exact-totals'] });
    expect(platform.requests()).toBe(1);
  });
});

describe('one change', () => {
  test.each<[string, readonly FileChange[], number]>([
    ['a file that is renamed to a place already passed', [{ kind: 'rename', at: 8, path: 0 }], 1],
    ['a file that is renamed to a place yet to come', [{ kind: 'rename', at: 0, path: 81 }], 1],
    ['a file that vanishes from a response', [{ kind: 'vanish', at: 4 }], 1],
  ])('%s makes the scan read everything again', async (_what, change, restarted) => {
    const platform = simulateFiles({ paths: numbered(9), changes: [[], change], caps: [3] });

    const { keys, outcome, restarts } = await scanned(scanOf(platform));

    expect(keys.toSorted()).toEqual(keysOf(platform.livedThrough()));
    expect(outcome.consistency).toBe('proved');
    expect(restarts).toBe(restarted);
  });

  test('a replica that lags behind is read again until it has caught up', async () => {
    const platform = simulateFiles({
      paths: numbered(9),
      changes: [],
      caps: [3],
      lag: { files: 4, until: 4 },
    });

    const { keys, outcome } = await scanned(scanOf(platform));

    expect(keys).toHaveLength(9);
    expect(outcome.consistency).toBe('proved');
  });

  test('a file that was added behind the cursor costs the proof, and nothing else', async () => {
    const changes = [[], [{ kind: 'add', path: 1, isOld: false } as const]];
    const platform = simulateFiles({ paths: numbered(9), changes, caps: [3] });

    const { keys, outcome, restarts } = await scanned(scanOf(platform));

    expect(keys).toHaveLength(9);
    expect(outcome).toMatchObject({ consistency: 'cursor', totals: { start: 9, end: 10 } });
    expect(restarts).toBe(0);
  });

  test('a file deleted, another added and a third one lost, all between two pages, are not proved', async () => {
    const changes: FileChange[][] = [
      [],
      [
        { kind: 'delete', at: 0 },
        { kind: 'rename', at: 7, path: 0 },
        { kind: 'add', path: 99, isOld: false },
      ],
    ];
    const platform = simulateFiles({ paths: numbered(9), changes, caps: [3] });

    const { keys, outcome } = await scanned(scanOf(platform));

    expect(keys).toEqual(expect.arrayContaining(keysOf(platform.livedThrough())));
    expect(outcome).toMatchObject({ consistency: 'proved', assumes: ['exact-totals', 'unique-ids'] });
  });
});

test('two reads that count the same but found different files prove nothing', async () => {
  const whileReadAgain: FileChange[] = [
    { kind: 'delete', at: 0 },
    { kind: 'rename', at: 7, path: 0 },
    { kind: 'add', path: 99, isOld: true },
  ];
  const platform = simulateFiles({
    paths: numbered(9),
    changes: [[], [], [], [], whileReadAgain],
    caps: [3],
  });

  const { keys, outcome, restarts } = await scanned(scanOf(platform, '/reports'));

  expect(keys).toEqual(expect.arrayContaining(keysOf(platform.livedThrough())));
  expect(outcome).toMatchObject({ consistency: 'cursor', totals: { start: 9, end: 9 } });
  expect(restarts).toBe(2);
});

describe('a list that does not behave', () => {
  test('is refused after three reads if a file comes twice in each, and has it once', async () => {
    const platform = simulateFiles({ paths: numbered(9), changes: [], caps: [3], oddities: ['repeat'] });

    const { keys, outcome, restarts } = await scanned(scanOf(platform));

    expect(keys).toHaveLength(9);
    expect(new Set(keys).size).toBe(9);
    expect(outcome).toMatchObject({ consistency: 'best-effort', assumes: [] });
    expect(restarts).toBe(2);
  });

  test('is refused after three reads if it never shows as many files as it reports', async () => {
    const lag = { files: 2, until: 1_000 };
    const platform = simulateFiles({ paths: numbered(9), changes: [], caps: [3], lag });

    const { keys, outcome } = await scanned(scanOf(platform));

    expect(keys).toHaveLength(7);
    expect(outcome.consistency).toBe('best-effort');
    expect(platform.requests()).toBe(9);
  });

  test('ends with a clear error if it sends empty pages with new cursors forever', async () => {
    let cursors = 0;
    const call = respondingCall(() => {
      cursors += 1;
      return JSON.stringify({ files: [], pageContext: { next: `cursor ${cursors}`, total: 7 } });
    });

    await expect(scanned(scanOf({ call }))).rejects.toThrow(
      `searchFiles (files of FileSet ${FILESET}) failed: the list did not end: 1000 pages in a row were empty, each with a new cursor`,
    );
    expect(cursors).toBe(1_000);
  });
});

describe('a platform that changes while it is read', () => {
  const path = fc.nat(9);
  const at = fc.nat(40);
  const change: fc.Arbitrary<FileChange> = fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('rename' as const), at, path }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), at }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('add' as const), path, isOld: fc.constant(false) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('vanish' as const), at }) },
  );
  const lag = fc.record({ files: fc.nat(4), until: fc.nat(12) });
  const schedule = (changes: fc.Arbitrary<FileChange>): fc.Arbitrary<SimulatedFiles> =>
    fc.record(
      {
        paths: fc.array(path, { maxLength: 24 }),
        changes: fc.array(fc.array(changes, { maxLength: 3 }), { maxLength: 14 }),
        caps: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 }),
        oddities: fc
          .array(fc.constantFrom('none', 'none', 'none', 'empty', 'repeat'), { maxLength: 7 })
          .map((some) => [...some, 'none' as const]),
        lag,
      },
      { requiredKeys: ['paths', 'changes', 'caps'] },
    );
  const entering = change.map((each): FileChange => (each.kind === 'add' ? { ...each, isOld: true } : each));

  test.each([
    ['a whole FileSet', change, undefined],
    ['a directory that files are moved into', entering, '/reports'],
  ])(
    '%s: no file comes twice, the scan ends, and what is proved has all that existed throughout',
    async (_, changes, directory) => {
      const runs = scaled(400, 5_000);
      const ends = { proved: 0, cursor: 0, 'best-effort': 0 };
      await fc.assert(
        fc.asyncProperty(schedule(changes), async (simulated) => {
          const platform = simulateFiles(simulated);

          const { keys, outcome } = await scanned(scanOf(platform, directory));

          expect(new Set(keys).size).toBe(keys.length);
          expect(platform.requests()).toBeLessThan(300);
          ends[outcome.consistency] += 1;
          if (outcome.consistency === 'proved')
            expect(keys).toEqual(expect.arrayContaining(keysOf(platform.livedThrough())));
        }),
        { numRuns: runs },
      );

      // All three occur, or this shows nothing.
      expect(Math.min(...Object.values(ends)) / runs).toBeGreaterThan(0.03);
    },
  );

  test('what is resumed from any position is proved only if nothing was lost, and has no file twice', async () => {
    await fc.assert(
      fc.asyncProperty(schedule(change), async (simulated) => {
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
});
