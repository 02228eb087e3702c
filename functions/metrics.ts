import { Metrics, type MetricUnit } from '@aws-lambda-powertools/metrics';
import type { JobFinished } from '../lib/jobs/handle-message.ts';
import { METRIC_NAMESPACE, type MetricName } from '../lib/metric-names.ts';
import type { PaceCounts } from '../lib/pace/pace.ts';
import type { PlatformEvent } from '../lib/platform/events.ts';
import { analyzeSentiment } from '../lib/platform/operations/analyze-sentiment.ts';
import { getDataFile } from '../lib/platform/operations/get-data-file.ts';
import { listCards } from '../lib/platform/operations/list-cards.ts';
import type { Sentiment } from '../lib/platform/records.ts';
import type { Environment } from '../lib/settings.ts';

/** What a function measures: sums, which `flush` prints as CloudWatch embedded metrics at the end of an invocation. */
export type FunctionMetrics = {
  readonly observe: (event: PlatformEvent) => void;
  readonly jobFinished: (event: Pick<JobFinished, 'type' | 'status'>) => void;
  readonly messageRefused: () => void;
  readonly onSafeRate: () => void;
  readonly textScored: (sentiment: Sentiment) => void;
  readonly snapshotEnded: (ended: { readonly place: string; readonly kind: 'published' | 'refused' }) => void;
  /** From now on, each flush reports what the pace has granted since the previous one. */
  readonly followPace: (counts: () => PaceCounts) => void;
  readonly flush: () => void;
};

/** Powertools' own metrics, or a stand-in for them. */
type Printer = Pick<Metrics, 'addMetric' | 'addDimensions' | 'publishStoredMetrics'>;

/** Measures for the stack that SYNC_STACK names, which is the dimension `service` of each metric. */
export function createMetrics(
  { SYNC_STACK: stack = 'local' }: Environment,
  printer: Printer = new Metrics({ namespace: METRIC_NAMESPACE, serviceName: stack }),
): FunctionMetrics {
  /** Sums by name: over everything, and for each value of another dimension. */
  const sums = new Map<
    string,
    { readonly dimensions: Dimensions; readonly values: Map<MetricName, number> }
  >();
  const add = (name: MetricName, value: number, dimensions: Dimensions = {}) => {
    const key = JSON.stringify(dimensions);
    const sum = sums.get(key) ?? { dimensions, values: new Map() };
    sum.values.set(name, (sum.values.get(name) ?? 0) + value);
    sums.set(key, sum);
  };
  const addBoth = (name: MetricName, dimensions: Dimensions) => {
    add(name, 1);
    add(name, 1, dimensions);
  };
  let addPace = () => {};
  return {
    followPace(counts) {
      let before = counts();
      addPace = () => {
        const now = counts();
        for (const [name, field] of SLOT_METRICS) add(name, now[field] - before[field]);
        if (now.granted > before.granted) add('EffectiveRate', now.effectiveRate);
        before = now;
      };
    },
    observe: (event) => {
      for (const [name, value] of Object.entries(measuresOf(event)) as [MetricName, number][])
        add(name, value);
    },
    jobFinished: ({ type, status }) => addBoth(JOB_METRICS[status], { type }),
    messageRefused: () => add('MessagesRefused', 1),
    onSafeRate: () => add('SafeRate', 1),
    textScored: ({ modelProviderUsage: usage }) => add('SentimentTokens', usage?.totalTokens ?? 0),
    snapshotEnded: ({ place, kind }) => addBoth(SNAPSHOT_METRICS[kind], { place }),
    flush() {
      addPace();
      for (const { dimensions, values } of sums.values()) {
        if (Object.keys(dimensions).length > 0) printer.addDimensions(dimensions);
        for (const [name, value] of values) printer.addMetric(name, unitOf(name), value);
        printer.publishStoredMetrics();
      }
      sums.clear();
    },
  };
}

type Dimensions = Readonly<Record<string, string>>;

const JOB_METRICS = {
  done: 'JobsDone',
  failed: 'JobsFailed',
  unknown: 'JobsUnknown',
} as const satisfies Record<JobFinished['status'], MetricName>;

const SLOT_METRICS = [
  ['SlotsGranted', 'granted'],
  ['SlotsUsed', 'used'],
  ['SlotsWasted', 'wasted'],
] as const satisfies readonly (readonly [MetricName, keyof PaceCounts])[];

const SNAPSHOT_METRICS = {
  published: 'SnapshotsPublished',
  refused: 'SnapshotsRefused',
} as const satisfies Record<string, MetricName>;

/** A single record that the token's user may not read is named in the manifest, and no reason to wake anybody up. */
const MAY_BE_FORBIDDEN: readonly string[] = [listCards.name, getDataFile.name];

function measuresOf(event: PlatformEvent): Readonly<Partial<Record<MetricName, number>>> {
  switch (event.kind) {
    case 'request':
      return {
        Requests: 1,
        ...(event.status === 401 ? { Unauthorized: 1 } : {}),
        ...(event.status === 403 && !MAY_BE_FORBIDDEN.includes(event.operation) ? { Forbidden: 1 } : {}),
        ...(event.operation === analyzeSentiment.name ? { SentimentCalls: 1 } : {}),
      };
    case 'retry':
      return { Retries: 1 };
    case 'throttled':
      return { Throttled: 1 };
    case 'waited':
      return { WaitedMs: Math.round(event.waitedMs) };
    default:
      return event satisfies never;
  }
}

function unitOf(name: MetricName): (typeof MetricUnit)['Count' | 'Milliseconds' | 'CountPerSecond'] {
  if (name === 'WaitedMs') return 'Milliseconds';
  return name === 'EffectiveRate' ? 'Count/Second' : 'Count';
}
