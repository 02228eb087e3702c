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
  /** Whether to create the dashboard, which costs $3 a month. The queries are saved even without it. */
  readonly dashboard: boolean;
  /** The folder of the saved queries. */
  readonly serviceName: string;
  /** Links, as Markdown. */
  readonly links: string;
  readonly alarms: readonly Alarm[];
  readonly queues: Readonly<Record<string, IQueue>>;
  readonly functions: Readonly<Record<string, SyncFunction>>;
};

/** The widths of widgets, in columns of the dashboard's grid. */
const FULL_WIDTH = 24;
const HALF_WIDTH = 12;
const THIRD_WIDTH = 8;

const DAY = Duration.days(1);

/**
 * The dashboard of an instance, with the alarms at the top. Figures that no alarm needs come from log queries, which
 * run and cost only while the dashboard is open. Each query is also saved.
 */
export class Dashboard extends Construct {
  constructor(scope: Construct, id: string, props: DashboardProps) {
    super(scope, id);
    if (props.dashboard)
      new CloudWatchDashboard(this, 'Dashboard', {
        defaultInterval: DAY,
        widgets: [alarmsRow, linksRow, dayRow, workRow, callsRow, textsRow, functionsRow, faultsRow].map(
          (row) => row(props),
        ),
      });
    for (const [name, { title, query }] of Object.entries(logQueries))
      new CfnQueryDefinition(this, `Query-${name}`, {
        // The part before the slash becomes a folder.
        name: `${props.serviceName}/${title}`,
        queryString: query.join('\n| '),
        logGroupNames: logGroupNamesOf(props),
      });
  }
}

type Row = (props: DashboardProps) => IWidget[];

const graph = (title: string, left: IMetric[], width: number, right: IMetric[] = []) =>
  new GraphWidget({ title, left, right, width, height: 6 });

const alarmsRow: Row = ({ alarms }) => [
  new AlarmStatusWidget({
    title: 'Alarms (red: in alarm)',
    alarms: [...alarms],
    width: FULL_WIDTH,
    height: 3,
  }),
];

const linksRow: Row = ({ links }) => [
  new TextWidget({
    markdown: links,
    width: FULL_WIDTH,
    height: 2,
    background: TextWidgetBackground.TRANSPARENT,
  }),
];

const dayRow: Row = (props) => [
  logQuery(logQueries.problems, props, HALF_WIDTH),
  logQuery(logQueries.day, props, HALF_WIDTH),
];

const workRow: Row = (props) => [
  logQuery(logQueries.places, props, THIRD_WIDTH),
  logQuery(logQueries.jobs, props, THIRD_WIDTH),
  graph(
    'Waiting jobs, and the age of the oldest (s)',
    Object.entries(props.queues).map(([label, queue]) =>
      queue.metricApproximateNumberOfMessagesVisible({ label, statistic: Stats.MAXIMUM }),
    ),
    THIRD_WIDTH,
    Object.entries(props.queues).map(([label, queue]) =>
      queue.metricApproximateAgeOfOldestMessage({ label: `${label}, oldest` }),
    ),
  ),
];

const callsRow: Row = (props) => [
  logQuery(logQueries.calls, props, THIRD_WIDTH),
  logQuery(logQueries.budget, props, THIRD_WIDTH),
  logQuery(logQueries.waits, props, THIRD_WIDTH),
];

const textsRow: Row = (props) => [
  logQuery(logQueries.texts, props, THIRD_WIDTH),
  logQuery(logQueries.refused, props, THIRD_WIDTH),
  logQuery(logQueries.throttled, props, THIRD_WIDTH),
];

const functionsRow: Row = ({ functions }) => [
  graph(
    'Errors of functions',
    Object.entries(functions).map(([label, { function: each }]) => each.metricErrors({ label })),
    HALF_WIDTH,
  ),
  graph(
    'Concurrent processes',
    Object.entries(functions).map(([label, { function: each }]) =>
      each.metric('ConcurrentExecutions', { label, statistic: Stats.MAXIMUM }),
    ),
    HALF_WIDTH,
  ),
];

const faultsRow: Row = (props) => [logQuery(logQueries.faults, props, FULL_WIDTH)];

/** A widget with the result of a log query over all functions. */
const logQuery = ({ title, as, query }: SavedLogQuery, props: DashboardProps, width: number, height = 6) =>
  new LogQueryWidget({
    title,
    view: as === 'table' ? LogQueryVisualizationType.TABLE : LogQueryVisualizationType.LINE,
    queryLines: [...query],
    logGroupNames: logGroupNamesOf(props),
    width,
    height,
  });

const logGroupNamesOf = ({ functions }: DashboardProps) =>
  Object.values(functions).map(({ function: { logGroup } }) => logGroup.logGroupName);
