import { Duration } from 'aws-cdk-lib';
import {
  type Alarm,
  AlarmStatusWidget,
  Dashboard as CloudWatchDashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  LogQueryVisualizationType,
  LogQueryWidget,
  Stats,
  TextWidget,
  TextWidgetBackground,
} from 'aws-cdk-lib/aws-cloudwatch';
import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { logQueries, type SavedLogQuery } from './log-queries.ts';
import type { SyncFunction } from './sync-function.ts';

export type DashboardProps = {
  /** Whether there is a dashboard, which costs $3 a month; the queries are saved without it too. */
  readonly dashboard: boolean;
  /** The folder of its saved queries. */
  readonly serviceName: string;
  /** Links, as Markdown. */
  readonly links: string;
  readonly alarms: readonly Alarm[];
  readonly queues: Readonly<Record<string, IQueue>>;
  readonly functions: Readonly<Record<string, SyncFunction>>;
};

const WHOLE = 24;
const HALF = 12;
const THIRD = 8;

const DAY = Duration.days(1);

/**
 * The dashboard of an instance: the first row shows the alarms and the figures of the last day. Figures that
 * no alarm needs come from log queries, which run, and cost, only when the dashboard is open; each query is
 * also saved.
 */
export class Dashboard extends Construct {
  constructor(scope: Construct, id: string, props: DashboardProps) {
    super(scope, id);
    if (props.dashboard)
      new CloudWatchDashboard(this, 'Dashboard', {
        defaultInterval: DAY,
        widgets: [wellRow, linksRow, dayRow, workRow, callsRow, textsRow, functionsRow, faultsRow].map(
          (row) => row(props),
        ),
      });
    for (const [name, { title, lines }] of Object.entries(logQueries))
      new CfnQueryDefinition(this, `Query-${name}`, {
        // A slash turns the text before it into a folder.
        name: `${props.serviceName}/${title}`,
        queryString: lines.join('\n| '),
        logGroupNames: logGroupNamesOf(props),
      });
  }
}

type Row = (props: DashboardProps) => IWidget[];

const graph = (title: string, left: IMetric[], width: number, right: IMetric[] = []) =>
  new GraphWidget({ title, left, right, width, height: 6 });

const wellRow: Row = ({ alarms }) => [
  new AlarmStatusWidget({
    title: 'Is it well? No alarm is red',
    alarms: [...alarms],
    width: WHOLE,
    height: 3,
  }),
];

const linksRow: Row = ({ links }) => [
  new TextWidget({ markdown: links, width: WHOLE, height: 2, background: TextWidgetBackground.TRANSPARENT }),
];

const dayRow: Row = (props) => [found(logQueries.problems, props, HALF), found(logQueries.day, props, HALF)];

const workRow: Row = (props) => [
  found(logQueries.places, props, THIRD),
  found(logQueries.jobs, props, THIRD),
  graph(
    'Jobs that wait, and the oldest (s)',
    Object.entries(props.queues).map(([label, queue]) =>
      queue.metricApproximateNumberOfMessagesVisible({ label, statistic: Stats.MAXIMUM }),
    ),
    THIRD,
    Object.entries(props.queues).map(([label, queue]) =>
      queue.metricApproximateAgeOfOldestMessage({ label: `${label}, oldest` }),
    ),
  ),
];

const callsRow: Row = (props) => [
  found(logQueries.calls, props, THIRD),
  found(logQueries.budget, props, THIRD),
  found(logQueries.waits, props, THIRD),
];

const textsRow: Row = (props) => [
  found(logQueries.texts, props, THIRD),
  found(logQueries.refused, props, THIRD),
  found(logQueries.throttled, props, THIRD),
];

const functionsRow: Row = ({ functions }) => [
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
  ),
];

const faultsRow: Row = (props) => [found(logQueries.faults, props, WHOLE)];

/** A widget with the result of a log query over all functions. */
const found = ({ title, as, lines }: SavedLogQuery, props: DashboardProps, width: number, height = 6) =>
  new LogQueryWidget({
    title,
    view: as === 'table' ? LogQueryVisualizationType.TABLE : LogQueryVisualizationType.LINE,
    queryLines: [...lines],
    logGroupNames: logGroupNamesOf(props),
    width,
    height,
  });

const logGroupNamesOf = ({ functions }: DashboardProps) =>
  Object.values(functions).map(({ function: { logGroup } }) => logGroup.logGroupName);
