import { expect, test } from 'vitest';
import { scaled } from '../../scale.ts';
import { planStorm } from './plan.ts';
import { brokenPromises } from './promises.ts';
import { runStorm } from './storm.ts';
import { stormTable } from './table.ts';

/*
 * Everything goes wrong at once, with real processes: workers are killed with -9 and stopped for longer than their
 * leases, one has a wrong clock, messages come twice, and each service loses responses, is late, throttles or is gone.
 * STORM_SECONDS and STORM_SEED make another storm, STORM_LOG names a file for what the workers log.
 */

/** None in the short run: CI has one of its own (`npm run test:storm`), since it takes half a minute. */
const SECONDS = Number(process.env['STORM_SECONDS'] ?? scaled(0, 24));
const SEED = Number(process.env['STORM_SEED'] ?? 1);
const JOBS_A_SECOND = 12;
/** How long it is waited for the last job: on a busy machine a long storm leaves a backlog of minutes. */
const RECOVER_MS = 60_000 + 1_000 * JOBS_A_SECOND * SECONDS;

test.runIf(SECONDS > 0)(
  `after a storm of ${SECONDS} s each job has its result, nothing ran twice, and all is counted`,
  {
    timeout: SECONDS * 1_000 + 2 * RECOVER_MS + 120_000,
  },
  async () => {
    const plan = planStorm(SEED, SECONDS);

    const after = await runStorm(plan, {
      jobs: SECONDS * JOBS_A_SECOND,
      chunks: Math.max(3, Math.round(SECONDS / 8)),
      rate: 40,
      // A short storm does not wait for what a long one does.
      ...(SECONDS < 60 ? { mostDelayMs: 3_000, spareMs: 2_000 } : { mostDelayMs: 900_000, spareMs: 30_000 }),
      recoverMs: RECOVER_MS,
    });

    const table = stormTable(plan, after);
    console.log(table);
    const again = `STORM_SEED=${SEED} STORM_SECONDS=${SECONDS} npx vitest run --config test/vitest.config.ts --root . test/jobs/storm`;
    expect(brokenPromises(after, plan), `${again}\n${table}`).toEqual([]);
  },
);
