import { expect, test } from 'vitest';
import { createThrottling, throttledProblems } from '../../functions/throttling.ts';
import { simulateFleet } from '../pace/simulated-fleet.ts';

const RATE = 20;
const MINUTE = 60_000;

/** The report of a worker over 25 minutes while the platform allows this number of requests in any second. */
async function reportedAt(allowed: number, { loops }: { readonly loops: number }) {
  let nowMs = 0;
  let refused = 0;
  let calls = 0;
  const accepted: number[] = [];
  const { observe, followRate, problems } = createThrottling(RATE, () => nowMs);
  await simulateFleet({
    rate: RATE,
    durationMs: 25 * MINUTE,
    workers: [{ loops }],
    callMs: () => 300,
    refuse(atMs) {
      const recent = accepted.filter((each) => each > atMs - 1_000);
      accepted.splice(0, accepted.length, ...recent);
      calls += 1;
      if (recent.length >= allowed) {
        refused += 1;
        return 'absent';
      }
      accepted.push(atMs);
      return undefined;
    },
    onCall({ atMs, waitedMs, effectiveRate }) {
      nowMs = atMs;
      followRate(() => effectiveRate);
      observe({ kind: 'waited', operation: 'search', attempt: 1, waitedMs });
    },
  });
  const percent = Object.fromEntries(problems())['RateReduced'] ?? 0;
  return { percent, refusedPercent: (100 * refused) / calls };
}

/** The percentage above which there is an alarm. */
const LIMIT = 45;

test('a platform that allows half of the rate is detected, although it refuses too few calls for the problem Throttling', async () => {
  const { percent, refusedPercent } = await reportedAt(10, { loops: 8 });

  expect(refusedPercent).toBeLessThan(5);
  expect(percent).toBeGreaterThan(LIMIT);
});

test('a platform that allows nearly all of the rate is not reported, and neither is one that allows half while nothing waits', async () => {
  expect((await reportedAt(14, { loops: 8 })).percent).toBeLessThan(LIMIT);
  expect((await reportedAt(10, { loops: 1 })).percent).toBe(0);
});

test('if the platform refuses a single operation, this is reported as a problem with its name, while its calls are tried', () => {
  const nowMs = Date.UTC(2026, 10, 29, 12);
  const line = { effectiveRate: 0.04, isProbing: true };

  const problems = throttledProblems(
    [
      { ...line, operation: 'analyzeSentiment', sinceMs: nowMs - 95 * MINUTE, refusedAtMs: nowMs - MINUTE },
      { ...line, operation: 'runFunction', sinceMs: nowMs - 95 * MINUTE, refusedAtMs: nowMs - 61 * MINUTE },
    ],
    nowMs,
  );

  expect(problems).toEqual([['Throttling-analyzeSentiment', 95]]);
});
