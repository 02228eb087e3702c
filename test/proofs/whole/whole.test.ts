import { expect, test } from 'vitest';
import { sampled, scaled } from '../../scale.ts';
import { breaks } from './breaks.ts';
import { kindNames, kinds, planOf, tableKinds } from './plan.ts';
import { simulate } from './simulate.ts';

/*
 * Runs scheduler, slices, queue, workers, ledger, pace, store and platform together on one virtual clock, with faults
 * at every border (docs/proofs.md). `npm run simulate -- --seeds 1..1000` runs many more schedules.
 */

/** The seed of the first short schedule: faults of all kinds occur in it and the next ones. A full run has more schedules. */
const FIRST = 29;
const SEEDS = [
  FIRST,
  ...(scaled(0, 1) > 0 ? [31] : []),
  ...Array.from({ length: scaled(0, 40) }, (_, index) => 1_000 + index),
];

const SCHEDULES = tableKinds.flatMap((table) => SEEDS.map((seed) => [table, seed] as const));

test.for(SCHEDULES)(
  'the simulated system keeps its promises: npm run simulate -- --table %s --seeds %i --log',
  async ([table, seed]) => {
    const { violations } = await simulate(planOf(seed, table));

    expect(violations).toEqual([]);
  },
);

test.for(kindNames)('a simulation of only %s does this work and keeps its promises', async (kind) => {
  const plan = planOf(FIRST);

  const { violations, facts } = await simulate({ ...plan, ...kinds[kind](plan) });

  expect(violations).toEqual([]);
  const done = ['texts', 'batches', 'published'].filter((what) => facts[what] !== 0);
  expect(done).toEqual(
    { jobs: ['texts'], scans: ['published'], batches: ['texts', 'batches'], limits: ['texts'] }[kind],
  );
});

test('a simulation with the same seed does the same each time it runs', async () => {
  const [first, second] = [await simulate(planOf(33)), await simulate(planOf(33))];

  expect(first.violations).toEqual([]);
  expect(second.trace).toEqual(first.trace);
});

const taken = Object.entries(breaks).filter(([, { isSlow }]) => isSlow !== true || scaled(0, 1) > 0);

/** Number of seeds to try: most schedules exercise a rule, but after a change of the code some may not. */
const TRIES = 5;

test.for(sampled(2, taken))('the simulation detects %s', async ([, { parts, among, seed: first, shows }]) => {
  const found: string[] = [];
  for (let seed = first; seed < first + TRIES && found.length === 0; seed += 1) {
    const plan = planOf(seed);
    const { violations } = await simulate({ ...plan, ...among?.(plan) }, parts());
    found.push(...violations.filter((each) => shows.test(each)));
  }

  expect(found).not.toEqual([]);
});
