import { expect, test } from 'vitest';
import { createMetrics } from '../../functions/metrics.ts';

/** Metrics, and the lines that each flush writes. */
function startMetrics() {
  const lines: Line[] = [];
  const write = (line: string) => lines.push(JSON.parse(line));
  const metrics = createMetrics({ SYNC_STACK: 'acme' }, write, () => 1_000);
  /** Without what each line has. */
  const written = () => lines.map(({ _aws, level, timestamp, msg, service, ...rest }) => rest);
  return { metrics, lines, written };
}

type Line = Readonly<Record<string, unknown>> & {
  readonly _aws?: { readonly CloudWatchMetrics: readonly object[] };
};

const request = { kind: 'request', attempt: 1, durationMs: 5, sizeBytes: 10 } as const;

test('calls and their failures are counted', () => {
  const { metrics, written } = startMetrics();

  const search = { operation: 'searchCalculations', attempt: 1 };
  metrics.observe({ ...request, ...search, status: 200 });
  metrics.observe({ ...request, ...search, status: 401 });
  metrics.observe({ ...request, operation: 'updateFormula', status: 403 });
  metrics.observe({ ...request, operation: 'analyzeSentiment', status: undefined });
  metrics.observe({ kind: 'throttled', ...search, retryAfterMs: undefined });
  metrics.observe({ kind: 'waited', ...search, waitedMs: 12.6 });
  metrics.observe({ kind: 'retry', ...search, delayMs: 5, failure: { kind: 'cut', detail: '' } });
  metrics.onTableAway();
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
      TableAway: 1,
    },
  ]);
});

test('a single forbidden record raises no alarm', () => {
  const { metrics, written } = startMetrics();

  metrics.observe({ ...request, operation: 'getDataFile', status: 403 });
  metrics.observe({ ...request, operation: 'listCards', status: 403 });
  metrics.flush();

  expect(written()).toEqual([{ Requests: 2 }]);
});

test('jobs are counted in total and by type, snapshots by place', () => {
  const { metrics, written } = startMetrics();

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
});

test('CloudWatch makes metrics of what alarms need, by stack, and of nothing else', () => {
  const { metrics, lines } = startMetrics();

  metrics.jobFinished({ type: 'score', status: 'done' });
  metrics.jobFinished({ type: 'score', status: 'failed' });
  metrics.flush();

  expect(lines).toEqual([
    {
      _aws: {
        Timestamp: 1_000,
        CloudWatchMetrics: [
          {
            Namespace: 'platform-sync',
            Dimensions: [['service']],
            Metrics: [{ Name: 'JobsFailed', Unit: 'Count' }],
          },
        ],
      },
      level: 'info',
      timestamp: '1970-01-01T00:00:01.000Z',
      msg: 'measured',
      service: 'acme',
      JobsDone: 1,
      JobsFailed: 1,
      byType: { score: { JobsDone: 1, JobsFailed: 1 } },
    },
  ]);
});

test('runs that are refused are a metric, and all are in the log by their places', () => {
  const { metrics, lines } = startMetrics();

  metrics.snapshotEnded({ place: 'cards', kind: 'published' });
  metrics.snapshotEnded({ place: 'files', kind: 'refused' });
  metrics.flush();

  expect(lines).toMatchObject([
    { place: 'cards', SnapshotsPublished: 1 },
    {
      _aws: { CloudWatchMetrics: [{ Dimensions: [['service']], Metrics: [{ Name: 'SnapshotsRefused' }] }] },
      place: 'files',
    },
  ]);
  expect(lines[0]).not.toHaveProperty('_aws');
});

test('each invocation writes its own sums, and nothing if nothing happened', () => {
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

test('slots are reported as granted since the previous flush, and no zeros', () => {
  const { metrics, written } = startMetrics();
  const counts = { granted: 5, used: 4, wasted: 1, waitedMs: 0, throttled: 0, effectiveRate: 2 };
  let now = counts;
  metrics.followPace(() => now);

  now = { ...counts, granted: 15, used: 12, effectiveRate: 1.4 };
  metrics.flush();
  metrics.flush();

  expect(written()).toEqual([{ SlotsGranted: 10, SlotsUsed: 8, EffectiveRate: 1.4 }]);
});
