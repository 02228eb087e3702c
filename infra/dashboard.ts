import { Duration } from 'aws-cdk-lib';
import {
  type Alarm,
  AlarmStatusWidget,
  Dashboard as CloudWatchDashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  SingleValueWidget,
  Stats,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { placeOf } from './config-schedules.ts';
import type { Instance } from './config-schema.ts';
import type { OwnMetrics } from './metrics.ts';
import type { SyncFunction } from './sync-function.ts';

export type DashboardProps = Pick<Instance, 'schedules'> & {
  readonly metrics: OwnMetrics;
  readonly alarms: readonly Alarm[];
  readonly queues: Readonly<Record<string, IQueue>>;
  readonly functions: Readonly<Record<string, SyncFunction>>;
};

const WHOLE = 24;
const HALF = 12;
const THIRD = 8;

const DAY = Duration.days(1);

/** Is it well? The first row shows: what is red is not, and the figures of the last day say what was done. */
export class Dashboard extends Construct {
  constructor(scope: Construct, id: string, props: DashboardProps) {
    super(scope, id);
    new CloudWatchDashboard(this, 'Dashboard', {
      defaultInterval: DAY,
      widgets: [wellRow, dayRow, workRow, callsRow, textsRow, functionsRow].map((row) => row(props)),
    });
  }
}

type Row = (props: DashboardProps) => IWidget[];

const graph = (title: string, left: IMetric[], width: number, right: IMetric[] = []) =>
  new GraphWidget({ title, left, right, width, height: 6 });

/** A widget shows at most so many alarms. */
const MOST_ALARMS = 100;

const wellRow: Row = ({ alarms }) =>
  Array.from(
    { length: Math.ceil(alarms.length / MOST_ALARMS) },
    (_, index) =>
      new AlarmStatusWidget({
        title: index === 0 ? 'Is it well? No alarm is red' : 'Further alarms',
        alarms: alarms.slice(index * MOST_ALARMS, (index + 1) * MOST_ALARMS),
        width: WHOLE,
        height: 5,
      }),
  );

const dayRow: Row = ({ metrics }) => [
  new SingleValueWidget({
    title: 'The last day',
    width: WHOLE,
    height: 3,
    metrics: (
      ['SnapshotsPublished', 'SnapshotsRefused', 'JobsDone', 'JobsFailed', 'JobsUnknown', 'Requests'] as const
    ).map((name) => metrics(name, DAY)),
  }),
];

const workRow: Row = ({ metrics, queues, schedules }) => [
  graph(
    'Snapshots published',
    schedules.map((schedule) =>
      metrics('SnapshotsPublished', Duration.hours(1), { place: placeOf(schedule) }),
    ),
    THIRD,
  ),
  graph(
    'Jobs ended',
    (['JobsDone', 'JobsFailed', 'JobsUnknown', 'MessagesRefused'] as const).map((name) => metrics(name)),
    THIRD,
  ),
  graph(
    'Jobs that wait, and the oldest (s)',
    Object.entries(queues).map(([label, queue]) =>
      queue.metricApproximateNumberOfMessagesVisible({ label, statistic: Stats.MAXIMUM }),
    ),
    THIRD,
    Object.entries(queues).map(([label, queue]) =>
      queue.metricApproximateAgeOfOldestMessage({ label: `${label}, oldest` }),
    ),
  ),
];

const callsRow: Row = ({ metrics }) => [
  graph(
    'Calls of the platform',
    (['Requests', 'Retries', 'Throttled', 'Unauthorized', 'Forbidden'] as const).map((name) => metrics(name)),
    HALF,
    [metrics('WaitedMs')],
  ),
  graph(
    'The fleet’s budget: slots, and the rate now',
    (['SlotsUsed', 'SlotsWasted'] as const).map((name) => metrics(name)),
    HALF,
    [metrics('EffectiveRate').with({ statistic: Stats.MINIMUM })],
  ),
];

const textsRow: Row = ({ metrics }) => [
  graph('Texts scored, and tokens', [metrics('SentimentCalls')], 2 * HALF, [metrics('SentimentTokens')]),
];

const functionsRow: Row = ({ metrics, functions }) => [
  graph(
    'Errors of functions',
    Object.entries(functions).map(([label, { function: each }]) => each.metricErrors({ label })),
    HALF,
  ),
  graph(
    'Processes at once',
    Object.entries(functions).map(([label, { function: each }]) =>
      each.metric('ConcurrentExecutions', { label, statistic: Stats.MAXIMUM }),
    ),
    HALF,
    [metrics('SafeRate')],
  ),
];
