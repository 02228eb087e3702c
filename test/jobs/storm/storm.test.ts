import { expect, test } from 'vitest';
import { scaled } from '../../scale.ts';
import type { Engine } from './grounds.ts';
import { allServices, planStorm } from './plan.ts';
import { brokenPromises } from './promises.ts';
import { runStorm } from './storm.ts';

/*
 * Everything goes wrong at the same time, with real processes: workers are killed with SIGKILL or stopped for longer
 * than their leases, messages arrive twice, and each service loses responses, is slow, throttles or is unavailable. On
 * AWS one worker has a wrong clock; in a folder the platform is the only service, and there are twice as many jobs a
 * second. STORM_SECONDS and STORM_SEED plan another storm; STORM_LOG names a file for the logs of the workers.
 */

/** The short run of the tests has no storm: CI runs one separately (`npm run test:storm`), since it takes half a minute. */
const SECONDS = Number(process.env['STORM_SECONDS'] ?? scaled(0, 24));
const SEED = Number(process.env['STORM_SEED'] ?? 1);
/** The size of a storm on each engine, for a number of seconds. */
const storms = {
  AWS: {
    size: { workers: 3, services: allServices },
    jobsASecond: 12,
    chunks: Math.max(3, Math.round(SECONDS / 8)),
    ownTexts: [12, 20],
    rate: 40,
  },
  // 24 s have 2,000 jobs and 2,000 rows, nearly all with a text of their own.
  'a folder': {
    size: { workers: 4, services: ['platform'] },
    jobsASecond: 84,
    chunks: Math.max(3, Math.round(SECONDS / 1.2)),
    ownTexts: [92, 100],
    rate: 100,
  },
} as const satisfies Record<Engine, object>;

const engines = Object.entries(storms) as [Engine, (typeof storms)[Engine]][];

for (const [engine, { size, jobsASecond, ...options }] of engines) {
  /** How long to wait for the last job: one minute, plus time for the backlog of a long storm on a busy machine. */
  const recoverMs = 60_000 + 1_000 * 12 * SECONDS;

  test.runIf(SECONDS > 0)(
    `after a storm of ${SECONDS} s in ${engine}, each job has its result, nothing ran twice, and everything is counted`,
    { timeout: SECONDS * 1_000 + 2 * recoverMs + 120_000 },
    async () => {
      const plan = planStorm(SEED, { seconds: SECONDS, ...size });

      const after = await runStorm(plan, {
        engine,
        ...options,
        jobs: SECONDS * jobsASecond,
        // A short storm cannot wait for the delays that a long one waits for.
        ...(SECONDS < 60 ? { maxDelayMs: 3_000, spareMs: 2_000 } : { maxDelayMs: 900_000, spareMs: 30_000 }),
        recoverMs,
      });

      const again = `STORM_SEED=${SEED} STORM_SECONDS=${SECONDS} npx vitest run --config test/vitest.config.ts --root . test/jobs/storm`;
      expect(brokenPromises(after, plan), again).toEqual([]);
    },
  );
}
