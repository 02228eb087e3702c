import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scaled } from '../scale.ts';
import { brokenParts } from './simulation/broken-parts.ts';
import { type Plan, plans } from './simulation/plan.ts';
import { type Parts, simulate } from './simulation/simulate.ts';

/*
 * Several workers, one queue, a platform that knows what it executed, and a clock that nobody waits for. Each schedule
 * is generated from a seed and checked against the promises about jobs. A schedule that breaks one is shrunk, and
 * printed step by step. With `TEST_SCALE=100`, 200,000 of them run in about ten minutes.
 */

const RUNS = scaled(100, 2_000);

type Settings = { readonly parts?: Parts; readonly among?: Partial<Plan>; readonly breaks?: RegExp };

/** Holds for every schedule that breaks no promise, or none whose violation matches `breaks`. */
const keepsPromises = ({ parts, among, breaks = /./ }: Settings = {}) =>
  fc.asyncProperty(plans, async (plan) => {
    const { violations, trace } = await simulate({ ...plan, ...among }, parts);
    if (violations.some((violation) => breaks.test(violation)))
      throw new Error([...violations, ...trace].join('\n'));
  });

test('jobs keep their promises in any order and under any trouble', {
  timeout: 30_000 + 20 * RUNS,
}, async () => {
  await fc.assert(keepsPromises(), { numRuns: RUNS });
});

test('a schedule is the same each time it runs', async () => {
  await fc.assert(
    fc.asyncProperty(plans, async (plan) => {
      const first = await simulate(plan);
      const second = await simulate(plan);

      expect(second.trace).toEqual(first.trace);
    }),
    { numRuns: scaled(10, 50) },
  );
});

describe('the simulation detects', () => {
  test.for(Object.entries(brokenParts))('%s', async ([, part]) => {
    for (const seed of [1, 2, 3].slice(0, scaled(1, 3))) {
      const found = await fc.check(keepsPromises(part), { seed, numRuns: 2_000, endOnFailure: true });

      expect(found.failed).toBe(true);
    }
  });
});
