import { describe, expect, test } from 'vitest';
import { createMetrics } from '../../functions/metrics.ts';

/** Starts metrics, and collects the lines that each flush writes. */
function startMetrics(now: () => number = () => 1_000) {
  const lines: Line[] = [];
  const write = (line: string) => lines.push(JSON.parse(line));
  const metrics = createMetrics({ SYNC_STACK: 'acme', PLATFORM_RATE: '20' }, write, now);
  const of = (kind: string) =>
    lines
      .filter(({ msg }) => msg === kind)
      // Removes the members that each line has.
      .map(({ level, timestamp, msg, service, ...rest }) => rest);
  return {
    metrics,
    lines,
    written: () => of('measured'),
    problems: () => of('problem').map(({ problem, value }) => [problem, value]),
  };
}

type Line = Readonly<Record<string, unknown>>;

const request = { kind: 'request', attempt: 1, durationMs: 5, sizeBytes: 10 } as const;

test('calls and their failures are counted', () => {
  const { metrics, written, problems } = startMetrics();

  const search = { operation: 'searchCalculations', attempt: 1 };
  metrics.observe({ ...request, ...search, status: 200 });
  metrics.observe({ ...request, ...search, status: 401 });
  metrics.observe({ ...request, operation: 'updateFormula', status: 403 });
  metrics.observe({ ...request, operation: 'analyzeSentiment', status: undefined });
  metrics.observe({ kind: 'throttled', ...search, retryAfterMs: undefined });
  metrics.observe({ kind: 'waited', ...search, waitedMs: 12.6 });
  metrics.observe({ kind: 'retry', ...search, delayMs: 5, failure: { kind: 'cut', detail: '' } });
  metrics.flush();

  expect(written()).toEqual([
    {
      Requests: 4,
      Unauthorized: 1,
      Forbidden: 1,
      SentimentCalls: 1,
      Throttled: 1,
      WaitedMs: 13,
      Retries: 1,
    },
  ]);
  expect(problems()).toEqual([
    ['Unauthorized', 1],
    ['Forbidden', 1],
  ]);
});

test('a few calls with status 403 are not reported as a problem', () => {
  const { metrics, written, problems } = startMetrics();

  metrics.observe({ ...request, operation: 'getDataFile', status: 403 });
  metrics.observe({ ...request, operation: 'listCards', status: 403 });
  metrics.flush();

  expect(written()).toEqual([{ Requests: 2 }]);
  expect(problems()).toEqual([]);
});

test('jobs are counted in total and by type, snapshots by place', () => {
  const { metrics, written, problems } = startMetrics();

  metrics.jobFinished({ type: 'score', status: 'done' });
  metrics.jobFinished({ type: 'score', status: 'failed' });
  metrics.jobFinished({ type: 'run-function', status: 'unknown' });
  metrics.messageRefused();
  metrics.textScored({ type: 'DEFAULT', modelProviderUsage: { totalTokens: 40 } });
  metrics.snapshotEnded({ place: 'cards', kind: 'refused' });
  metrics.flush();

  expect(written()).toEqual([
    { place: 'cards', SnapshotsRefused: 1 },
    {
      JobsDone: 1,
      JobsFailed: 1,
      JobsUnknown: 1,
      MessagesRefused: 1,
      SentimentTokens: 40,
      byType: { score: { JobsDone: 1, JobsFailed: 1 }, 'run-function': { JobsUnknown: 1 } },
    },
  ]);
  expect(problems()).toEqual([
    ['MessagesRefused', 1],
    ['JobsFailed', 1],
    ['JobsUnknown', 1],
    ['SnapshotRefused', 1],
  ]);
});

test('a problem is logged in a separate line, which names it', () => {
  const { metrics, lines } = startMetrics();

  metrics.jobFinished({ type: 'score', status: 'done' });
  metrics.jobFinished({ type: 'score', status: 'failed' });
  metrics.flush();

  expect(lines).toEqual([
    {
      level: 'info',
      timestamp: '1970-01-01T00:00:01.000Z',
      msg: 'measured',
      service: 'acme',
      JobsDone: 1,
      JobsFailed: 1,
      byType: { score: { JobsDone: 1, JobsFailed: 1 } },
    },
    {
      level: 'warn',
      timestamp: '1970-01-01T00:00:01.000Z',
      msg: 'problem',
      service: 'acme',
      problem: 'JobsFailed',
      value: 1,
    },
  ]);
});

test('the texts scored in a day are reported for all processes together', () => {
  const { metrics, problems } = startMetrics();
  metrics.observe({ ...request, operation: 'analyzeSentiment', status: 200 });
  metrics.textScored({ type: 'DEFAULT', modelProviderUsage: { totalTokens: 40 } });

  expect(metrics.scored()).toEqual({ calls: 1, tokens: 40 });
  metrics.scoredInDay({ calls: 70, tokens: 900 });
  metrics.flush();

  expect(problems()).toEqual([
    ['SentimentCalls', 70],
    ['SentimentTokens', 900],
  ]);
  expect(metrics.scored()).toEqual({ calls: 0, tokens: 0 });
});

describe('throttling', () => {
  const MINUTE = 60_000;

  /** The report after these windows of five minutes, each with these numbers of requests and 429s. */
  function reportedAfter(...windows: readonly (readonly [requests: number, throttled: number])[]) {
    let nowMs = 0;
    const { metrics, problems } = startMetrics(() => nowMs);
    const search = { operation: 'searchCalculations', attempt: 1 };
    for (const [requests, throttled] of windows) {
      nowMs += 5 * MINUTE;
      for (let count = 0; count < requests; count += 1)
        metrics.observe({ ...request, ...search, status: 200 });
      for (let count = 0; count < throttled; count += 1)
        metrics.observe({ kind: 'throttled', ...search, retryAfterMs: undefined });
    }
    nowMs += 5 * MINUTE;
    metrics.flush();
    return problems();
  }

  test('is a problem if three consecutive windows have it, and its value is the lowest share of the three', () => {
    expect(reportedAfter([10, 5], [10, 1], [10, 3])).toEqual([['Throttling', 10]]);
  });

  test('is not reported if one of three windows had no throttling, or few requests', () => {
    expect(reportedAfter([10, 5], [10, 0], [10, 3])).toEqual([]);
    expect(reportedAfter([10, 5], [9, 9], [10, 3])).toEqual([]);
    expect(reportedAfter([10, 5], [10, 3])).toEqual([]);
  });
});

describe('a reduced rate', () => {
  const MINUTE = 60_000;

  /** The report after windows of five minutes in which ten calls waited, at these rates instead of 20 requests a second. */
  function reportedAt(rates: readonly number[], waitedMs = 90) {
    let nowMs = 0;
    let effectiveRate = 20;
    const { metrics, problems } = startMetrics(() => nowMs);
    metrics.followPace(() => ({ ...NO_SLOTS, effectiveRate }));
    for (const rate of rates) {
      nowMs += 5 * MINUTE;
      effectiveRate = rate;
      for (let call = 0; call < 10; call += 1)
        metrics.observe({ kind: 'waited', operation: 'searchCalculations', attempt: 1, waitedMs });
    }
    nowMs += 5 * MINUTE;
    metrics.flush();
    return problems();
  }

  const NO_SLOTS = { granted: 0, used: 0, wasted: 0, waitedMs: 0, throttled: 0 };

  test('is a problem if calls wait in three consecutive windows, and its value is the smallest reduction in percent', () => {
    expect(reportedAt([10, 8, 4])).toEqual([['RateReduced', 50]]);
    expect(reportedAt([10, 10])).toEqual([]);
    expect(reportedAt([10, 20, 10])).toEqual([]);
  });

  test('is not reported while calls hardly wait', () => {
    expect(reportedAt([10, 8, 4], 24)).toEqual([]);
  });
});

test('each invocation writes only its own sums, and nothing if it made no calls', () => {
  const { metrics, written } = startMetrics();

  metrics.messageRefused();
  metrics.flush();
  metrics.flush();
  metrics.textScored({ type: 'DEFAULT' });
  metrics.flush();
  metrics.messageRefused();
  metrics.flush();

  expect(written()).toEqual([{ MessagesRefused: 1 }, { MessagesRefused: 1 }]);
});

test('slots granted since the previous flush are reported, without zeros', () => {
  const { metrics, written } = startMetrics();
  const counts = { granted: 5, used: 4, wasted: 1, waitedMs: 0, throttled: 0, effectiveRate: 2 };
  let now = counts;
  metrics.followPace(() => now);

  now = { ...counts, granted: 15, used: 12, effectiveRate: 1.4 };
  metrics.flush();
  metrics.flush();

  expect(written()).toEqual([{ SlotsGranted: 10, SlotsUsed: 8, EffectiveRate: 1.4 }]);
});
