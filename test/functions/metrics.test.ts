import { expect, test } from 'vitest';
import { createMetrics } from '../../functions/metrics.ts';

/** Metrics, and the lines that each flush prints. */
function startMetrics() {
  const printed: unknown[] = [];
  let line: Record<string, unknown> = {};
  const printer = {
    addMetric: (name: string, unit: string, value: number) => {
      line = { ...line, [name]: `${value} ${unit}` };
    },
    addDimensions: (dimensions: Readonly<Record<string, string>>) => {
      line = { ...line, ...dimensions };
    },
    publishStoredMetrics: () => {
      printed.push(line);
      line = {};
    },
  };
  const metrics = createMetrics({ SYNC_STACK: 'acme' }, printer as never);
  return { metrics, printed };
}

const request = { kind: 'request', attempt: 1, durationMs: 5, sizeBytes: 10 } as const;

test('calls and their failures are counted', () => {
  const { metrics, printed } = startMetrics();

  metrics.observe({ ...request, operation: 'searchCalculations', status: 200 });
  metrics.observe({ ...request, operation: 'searchCalculations', status: 401 });
  metrics.observe({ ...request, operation: 'updateFormula', status: 403 });
  metrics.observe({ ...request, operation: 'analyzeSentiment', status: undefined });
  metrics.observe({
    kind: 'throttled',
    operation: 'searchCalculations',
    attempt: 1,
    retryAfterMs: undefined,
  });
  metrics.observe({ kind: 'waited', operation: 'searchCalculations', attempt: 1, waitedMs: 12.6 });
  metrics.observe({
    kind: 'retry',
    operation: 'searchCalculations',
    attempt: 1,
    delayMs: 5,
    failure: { kind: 'cut', detail: '' },
  });
  metrics.onSafeRate();
  metrics.flush();

  expect(printed).toEqual([
    {
      Requests: '4 Count',
      Unauthorized: '1 Count',
      Forbidden: '1 Count',
      SentimentCalls: '1 Count',
      Throttled: '1 Count',
      WaitedMs: '13 Milliseconds',
      Retries: '1 Count',
      SafeRate: '1 Count',
    },
  ]);
});

test('a single forbidden record raises no alarm', () => {
  const { metrics, printed } = startMetrics();

  metrics.observe({ ...request, operation: 'getDataFile', status: 403 });
  metrics.observe({ ...request, operation: 'listCards', status: 403 });
  metrics.flush();

  expect(printed).toEqual([{ Requests: '2 Count' }]);
});

test('jobs are counted in total and by type, snapshots by place', () => {
  const { metrics, printed } = startMetrics();

  metrics.jobFinished({ type: 'score', status: 'done' });
  metrics.jobFinished({ type: 'score', status: 'failed' });
  metrics.jobFinished({ type: 'run-function', status: 'unknown' });
  metrics.messageRefused();
  metrics.textScored({ type: 'DEFAULT', modelProviderUsage: { totalTokens: 40 } });
  metrics.snapshotEnded({ place: 'cards', kind: 'refused' });
  metrics.flush();

  expect(printed).toEqual([
    {
      JobsDone: '1 Count',
      JobsFailed: '1 Count',
      JobsUnknown: '1 Count',
      MessagesRefused: '1 Count',
      SentimentTokens: '40 Count',
      SnapshotsRefused: '1 Count',
    },
    { type: 'score', JobsDone: '1 Count', JobsFailed: '1 Count' },
    { type: 'run-function', JobsUnknown: '1 Count' },
    { place: 'cards', SnapshotsRefused: '1 Count' },
  ]);
});

test('each invocation prints its own sums, and nothing if nothing happened', () => {
  const { metrics, printed } = startMetrics();

  metrics.messageRefused();
  metrics.flush();
  metrics.flush();
  metrics.messageRefused();
  metrics.flush();

  expect(printed).toEqual([{ MessagesRefused: '1 Count' }, { MessagesRefused: '1 Count' }]);
});

test('slots are reported as granted since the previous flush', () => {
  const { metrics, printed } = startMetrics();
  const counts = { granted: 5, used: 4, wasted: 1, waitedMs: 0, throttled: 0, safeRate: 0, effectiveRate: 2 };
  let now = counts;
  metrics.followPace(() => now);

  now = { ...counts, granted: 15, used: 12, wasted: 2, effectiveRate: 1.4 };
  metrics.flush();
  metrics.flush();

  expect(printed).toEqual([
    {
      SlotsGranted: '10 Count',
      SlotsUsed: '8 Count',
      SlotsWasted: '1 Count',
      EffectiveRate: '1.4 Count/Second',
    },
    { SlotsGranted: '0 Count', SlotsUsed: '0 Count', SlotsWasted: '0 Count' },
  ]);
});
