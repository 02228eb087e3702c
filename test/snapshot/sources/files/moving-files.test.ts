import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { filesScan } from '../../../../lib/snapshot/sources/files/scan.ts';
import { scaled, scaledTimeout } from '../../../scale.ts';
import { scanned } from '../../scanned.ts';
import { type FileChange, type SimulatedFiles, simulateFiles } from '../../simulated-files.ts';

const FILESET = '0b9f8a52-7b1c-4a57-9d0e-6f0a5f4f2c11';

/** Of each kind: 30 kinds make 4,800 runs. */
const RUNS = scaled(8, 160);

const PATHS = 1_000;
const at = fc.nat(PATHS);
const path = fc.nat(PATHS);
const renames = fc.record({ kind: fc.constant('rename' as const), at, path });
const deletions = fc.record({ kind: fc.constant('delete' as const), at });
const creations = fc.record({ kind: fc.constant('add' as const), path, isOld: fc.constant(false) });
const entries = fc.record({ kind: fc.constant('add' as const), path, isOld: fc.constant(true) });

const kinds: readonly (readonly [string, fc.Arbitrary<FileChange>])[] = [
  ['renames', renames],
  ['renames and deletions', fc.oneof(renames, deletions)],
  ['renames and creations', fc.oneof(renames, creations)],
  ['moves within a directory, into it and out of it', fc.oneof(renames, entries, deletions)],
  ['all of these', fc.oneof({ weight: 3, arbitrary: renames }, deletions, creations, entries)],
];

const orders = ['ignores', 'refuses', 'sorts'] as const;

/** How the runs on each platform ended. */
const ends = {
  ignores: { proved: 0, 'best-effort': 0 },
  refuses: { proved: 0, 'best-effort': 0 },
  sorts: { proved: 0, 'best-effort': 0 },
};

/** Between 10 and 100 files in pages of 4 to 30, with up to two changes before a request, for a while or to the end. */
const scheduleOf = (change: fc.Arbitrary<FileChange>, fixed: Pick<SimulatedFiles, 'order' | 'hasTotals'>) =>
  fc.record({
    paths: fc.array(path, { minLength: 10, maxLength: 100, size: 'max' }),
    changes: fc
      .constantFrom(10, 60)
      .chain((most) =>
        fc.array(fc.array(change, { maxLength: 2, size: 'max' }), { maxLength: most, size: 'max' }),
      ),
    caps: fc.array(fc.integer({ min: 4, max: 30 }), { minLength: 1, maxLength: 2 }),
    ties: fc.constantFrom(1, 3, 1_000),
    order: fc.constant(fixed.order ?? 'ignores'),
    hasTotals: fc.constant(fixed.hasTotals ?? true),
  });

describe.each(kinds)('while there are %s', (_, change) => {
  describe.each(orders)('on a platform that %s the order it is asked for', (order) => {
    test.each([
      ['with', true],
      ['without', false],
    ])(
      '%s totals, a run that is published has each file that existed throughout, once',
      async (_totals, hasTotals) => {
        await fc.assert(
          fc.asyncProperty(scheduleOf(change, { order, hasTotals }), async (simulated) => {
            const platform = simulateFiles(simulated);
            const { call } = platform;

            const { keys, outcome } = await scanned(filesScan({ call, filesetIds: [FILESET], search: {} }));

            ends[order][outcome.consistency] += 1;
            expect(new Set(keys).size).toBe(keys.length);
            if (outcome.consistency === 'best-effort') return;
            expect(keys).toEqual(
              expect.arrayContaining(platform.livedThrough().map((id) => `${FILESET}/${id}`)),
            );
          }),
          { numRuns: RUNS, endOnFailure: true },
        );
      },
      scaledTimeout(240_000),
    );
  });
});

test('of the runs above, many are published on each platform, and not all where there is no order', () => {
  for (const order of orders) expect(ends[order].proved).toBeGreaterThan(RUNS);
  for (const order of ['ignores', 'refuses'] as const)
    expect(ends[order]['best-effort']).toBeGreaterThan(RUNS);
});
