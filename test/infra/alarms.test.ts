import { readFileSync } from 'node:fs';
import { Stack } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import { Alarms, alarmOf } from '../../infra/alarms.ts';
import { alarmsPage } from '../../infra/alarms-page.ts';
import { measureNames, problemNames, resources } from '../../lib/contract.ts';
import { appOf, full, minimal, propertiesOf, resourcesOf, templateOf } from './instances.ts';
import { at, type FilterProperties, matches } from './metric-filter.ts';

type AlarmProperties = {
  readonly AlarmDescription: string;
  readonly AlarmActions: readonly unknown[];
  readonly OKActions: readonly unknown[];
  readonly ComparisonOperator: string;
  readonly Threshold: number;
  readonly EvaluationPeriods: number;
  readonly DatapointsToAlarm: number;
  readonly TreatMissingData: string;
  readonly Namespace?: string;
  readonly MetricName?: string;
  readonly Period?: number;
  readonly Metrics?: readonly { readonly Expression?: string; readonly Period?: number }[];
};

const alarmsOf = (instance: object) =>
  resourcesOf(templateOf(instance)).flatMap(([id, { Type, Properties }]) =>
    Type === 'AWS::CloudWatch::Alarm'
      ? [{ id: id.replace(/^Alarms|[0-9A-F]{8}$/g, ''), ...(Properties as unknown as AlarmProperties) }]
      : [],
  );

const template = templateOf(full);
const alarms = alarmsOf(full);
const [dashboard] = propertiesOf(template, 'AWS::CloudWatch::Dashboard');
const dashboardBody = JSON.stringify(dashboard?.DashboardBody);

test('docs/alarms.md is what `npm run reference` generates from the alarms and metrics', () => {
  expect(readFileSync('docs/alarms.md', 'utf8')).toBe(alarmsPage());
});

const PAGER = 'arn:aws:sns:eu-central-1:111122223333:pager';

const isPage = ({ AlarmActions: actions }: AlarmProperties) => actions.includes(PAGER);

/** The conditions of an instance. */
function conditionsOf(instance: object) {
  const found = appOf(instance)
    .node.findAll()
    .find((each) => each instanceof Alarms);
  if (found === undefined) throw new Error('expected alarms');
  return { alarms: found, conditions: Object.entries(found.conditions) };
}

test('each condition has a section in the runbook, and each section has a condition', () => {
  const headings = readFileSync('infra/RUNBOOK.md', 'utf8')
    .split(/^## /m)
    .slice(1)
    .map((section) => section.split('\n', 1)[0]);
  const sections = conditionsOf(full).conditions.map(([name, { section = name }]) => section);

  expect([...new Set(sections)].sort()).toEqual([...headings].sort());
});

test('each condition that raises an alarm notifies a person at its severity', () => {
  const { alarms: found, conditions } = conditionsOf(full);

  // On the left is what raises an alarm, on the right the alarm and its severity.
  expect(
    Object.fromEntries(
      conditions.map((each) => [each[0], `${each[1].severity} by ${alarmOf(found, each)?.node.id}`]),
    ),
  ).toEqual({
    Unauthorized: 'page by Page',
    Forbidden: 'ticket by Ticket',
    Throttling: 'notice by Notice',
    OperationThrottled: 'ticket by Ticket',
    RateReduced: 'notice by Notice',
    TableUnavailable: 'notice by Notice',
    ResourceMissing: 'page by Page',
    ResourceRefused: 'page by Page',
    TablesResourceMissing: 'ticket by Ticket',
    TablesResourceRefused: 'ticket by Ticket',
    MessagesRefused: 'ticket by Ticket',
    JobsFailed: 'ticket by Ticket',
    JobsUnknown: 'ticket by Ticket',
    OldestJob: 'page by OldestJob',
    JobsDeadLetters: 'ticket by JobsDeadLetters',
    RareDeadLetters: 'ticket by RareDeadLetters',
    SnapshotRefused: 'ticket by Ticket',
    'SnapshotMissing-calculations': 'page by Page',
    'SnapshotMissing-calculations.revenue': 'page by Page',
    'SnapshotMissing-files.in': 'page by Page',
    'SnapshotMissing-cards': 'page by Page',
    'SnapshotMissing-cards.few': 'page by Page',
    'SnapshotMissing-data-files': 'page by Page',
    'FunctionMissing-sums': 'page by Page',
    FunctionErrors: 'ticket by Ticket',
    FunctionThrottles: 'ticket by Ticket',
    ReportFailed: 'ticket by Ticket',
    SentimentCalls: 'page by Page',
    SentimentTokens: 'page by Page',
  });
});

test('each alarm says what is wrong, links to the runbook and notifies a person', () => {
  for (const alarm of alarms) {
    expect(alarm.AlarmDescription).toMatch(/^[A-Z].+ https:\/\/wiki\.example\.com\/runbook#[A-Za-z]+/);
    expect(alarm.AlarmActions).toHaveLength(isPage(alarm) ? 3 : 2);
    expect(alarm.OKActions).toEqual(alarm.AlarmActions);
  }
});

test('an alarm for several problems says which section of the runbook each has', () => {
  const page = alarms.find(({ id }) => id === 'Page');

  expect(page?.AlarmDescription).toBe(
    'Something is being lost, or does not work. The notification names the problem; its section is https://wiki.example.com/runbook#PROBLEM in lower case: Unauthorized, ResourceMissing-… (#resourcemissing), ResourceRefused-… (#resourcerefused), SnapshotMissing-… (#snapshotmissing), FunctionMissing-… (#functionmissing), SentimentCalls, SentimentTokens.',
  );
});

test('an alarm for several problems has a metric series for each, which CloudWatch can look back at', () => {
  const queries = alarms.flatMap(({ id, EvaluationPeriods, Metrics = [] }) =>
    Metrics.flatMap(({ Expression = '', Period = 300 }) =>
      Expression.startsWith('SELECT') ? [{ id, Expression, seconds: Period * EvaluationPeriods }] : [],
    ),
  );

  // The latest three hours are all that an alarm on a query looks at; a problem that is checked hourly must stay
  // visible that long.
  for (const { seconds } of queries) {
    expect(seconds).toBeGreaterThan(3_600);
    expect(seconds).toBeLessThanOrEqual(10_800);
  }
  expect(queries.map(({ Expression }) => Expression)).toEqual(
    ['page', 'ticket', 'notice'].map(
      (severity) =>
        `SELECT SUM(${severity}) FROM SCHEMA("platform-sync/platform-sync-full", problem) GROUP BY problem ORDER BY SUM() DESC`,
    ),
  );
});

const filtersOf = (of: ReturnType<typeof templateOf>) =>
  propertiesOf(of, 'AWS::Logs::MetricFilter') as unknown as readonly FilterProperties[];

/** The metrics that the filters of one function count for a log line, with their counts. */
function countedAs(line: object, ofFunction: string, of = template) {
  return filtersOf(of).flatMap(({ FilterPattern, LogGroupName, MetricTransformations: [metric] }) =>
    JSON.stringify(LogGroupName).includes(ofFunction) && matches(FilterPattern, line)
      ? [`${metric.MetricName}: ${String(at(line, metric.Dimensions?.[0]?.Value ?? '$'))}`]
      : [],
  );
}

test('a log line about a problem is counted once, at the severity of the problem, if its value is above the limit', () => {
  const problem = (name: string, value: number) => ({ msg: 'problem', problem: name, value });

  expect(countedAs(problem('Unauthorized', 1), 'JobsRunJobsLog')).toEqual(['page: Unauthorized']);
  expect(countedAs(problem('JobsFailed', 3), 'JobsRunJobsLog')).toEqual(['ticket: JobsFailed']);
  expect(countedAs(problem('TableUnavailable', 1), 'SnapshotsSnapshotLog')).toEqual([
    'notice: TableUnavailable',
  ]);
  expect(countedAs(problem('Throttling', 5), 'JobsRunJobsLog')).toEqual([]);
  expect(countedAs(problem('Throttling', 5.1), 'JobsRunJobsLog')).toEqual(['notice: Throttling']);
  expect(countedAs(problem('RateReduced', 45), 'JobsRunJobsLog')).toEqual([]);
  expect(countedAs(problem('RateReduced', 50), 'JobsRunJobsLog')).toEqual(['notice: RateReduced']);
  expect(countedAs(problem('Unauthorized', 9), 'ExpectedSnapshotsWatchLog')).toEqual(['page: Unauthorized']);
  const alone = [30, 31].map((minutes) =>
    countedAs({ problem: 'Throttling-analyzeSentiment', value: minutes }, 'ExpectedSnapshotsWatchLog'),
  );
  expect(alone).toEqual([[], ['ticket: Throttling-analyzeSentiment']]);
  expect(countedAs(problem('SentimentCalls', 1_000), 'JobsRunJobsLog')).toEqual([]);
  expect(countedAs(problem('SentimentCalls', 1_001), 'JobsRunJobsLog')).toEqual(['page: SentimentCalls']);
  expect(countedAs(problem('SnapshotMissing-cards.few', 26), 'ExpectedSnapshotsWatchLog')).toEqual([
    'page: SnapshotMissing-cards.few',
  ]);
  expect(countedAs(problem('FunctionMissing-sums', 1), 'ExpectedSnapshotsWatchLog')).toEqual([
    'page: FunctionMissing-sums',
  ]);
  expect(countedAs(problem('ReportFailed', 3), 'ReportsWriteLog')).toEqual(['ticket: ReportFailed']);
  expect(countedAs(problem('FunctionThrottles', 901), 'ReportsWriteLog')).toEqual([
    'ticket: FunctionThrottles',
  ]);
  expect(countedAs({ msg: 'measured', JobsFailed: 3 }, 'JobsRunJobsLog')).toEqual([]);
});

test.each(resources)(
  'a lasting failure of %s raises a page, but only a ticket in the functions that build tables and reports',
  (part) => {
    const now = 'JobsRunJobsLog SnapshotsSnapshotLog TextsSplitTextsLog ExpectedSnapshotsWatchLog'.split(' ');

    for (const name of ['ResourceMissing', 'ResourceRefused']) {
      const problem = `${name}-${part}`;
      const line = { msg: 'message not handled', problem };
      for (const each of now) expect(countedAs(line, each)).toEqual([`page: ${problem}`]);
      for (const each of ['TablesWriteLog', 'ReportsWriteLog'])
        expect(countedAs(line, each)).toEqual([`ticket: ${problem}`]);
    }
  },
);

test('an invocation that failed, ran out of time or crashed is counted, but a report is retried first', () => {
  // Source: "platform.report" in the schema of Lambda's telemetry, which its JSON log format writes.
  const report = (status: string) => ({
    time: '2026-11-27T03:00:00.000Z',
    type: 'platform.report',
    record: { requestId: 'r', metrics: { durationMs: 900_000, maxMemoryUsedMB: 100 }, status },
  });

  for (const each of ['JobsRunJobsLog', 'TextsSplitTextsLog', 'ExpectedSnapshotsWatchLog', 'TablesWriteLog'])
    for (const status of ['error', 'failure', 'timeout'])
      expect(countedAs(report(status), each)).toEqual([`ticket: ${status}`]);
  expect(countedAs(report('success'), 'JobsRunJobsLog')).toEqual([]);
  expect(countedAs(report('timeout'), 'ReportsWriteLog')).toEqual([]);
});

test('a metric filter counts every problem that functions report', () => {
  const patterns = filtersOf(template).map(({ FilterPattern }) => FilterPattern);

  for (const name of problemNames)
    expect(patterns.join('\n')).toMatch(new RegExp(`\\$\\.problem = "${name}(-\\*)?"`));
});

/** The snapshots that an instance expects by its alarms and its hourly check, and the warnings of synth. */
function expectedOf(schedules: readonly object[]) {
  const app = appOf({ ...minimal, schedules });
  const [stack] = app.node.children.filter(Stack.isStack);
  if (stack === undefined) throw new Error('expected a stack');
  const resources = resourcesOf(Template.fromStack(stack));
  const looked = resources.flatMap(([id, { Properties }]) =>
    id.startsWith('ExpectedSnapshotsHourly')
      ? (JSON.parse((Properties['Target'] as { readonly Input: string }).Input).expected as readonly object[])
      : [],
  );
  const watched = app.node
    .findAll()
    .flatMap((each) => (each instanceof Alarms ? Object.keys(each.conditions) : []))
    .filter((name) => name.startsWith('SnapshotMissing'));
  const warnings = Annotations.fromStack(stack).findWarning(
    '*',
    Match.stringLikeRegexp('a missing snapshot|digests'),
  );
  return { looked, watched, warnings: warnings.map(({ entry }) => String(entry.data).split(/[:,]/, 1)[0]) };
}

test('even a weekly, monthly or yearly snapshot has an alarm for missing runs', () => {
  expect(
    expectedOf([
      { source: 'calculations', cron: '0 2 1 * ? *' },
      { source: 'cards' },
      {
        source: 'cards',
        as: 'few',
        cron: '0 5 ? * 2,6 *',
        datasets: ['cd27b9a0-a9d4-446b-9b16-02103df7f112'],
      },
      { source: 'data-files', cron: '0 6 ? * SUN *', ids: ['17'] },
      { source: 'data-files', as: 'yearly', cron: '0 6 1 1 ? *', ids: ['17'] },
      { source: 'data-files', as: 'said', cron: '0 6 ? * SUN *', ids: ['17'], publishedWithinHours: 500 },
    ]),
  ).toEqual({
    looked: [
      { place: 'calculations', hours: 31 * 24 + 2 },
      { place: 'cards', hours: 31 * 24 + 2 },
      { place: 'cards.few', hours: 98 },
      { place: 'data-files', hours: 170 },
      { place: 'data-files.yearly', hours: 366 * 24 + 2 },
      { place: 'data-files.said', hours: 500 },
    ],
    watched: ['calculations', 'cards', 'cards.few', 'data-files', 'data-files.yearly', 'data-files.said'].map(
      (place) => `SnapshotMissing-${place}`,
    ),
    warnings: [],
  });
});

test('synth warns of a snapshot that has no alarm for missing runs, because its next time is unknown, and of a digest without recipients', () => {
  expect(
    expectedOf([
      { source: 'data-files', cron: '0 6 1 1 ? 2027', ids: ['17'] },
      { source: 'calculations', cron: '0 6 1 1 ? 2027' },
      { source: 'cards', digest: true },
    ]),
  ).toEqual({
    looked: [],
    watched: [],
    warnings: [
      'a missing snapshot of data-files will not raise an alarm',
      'a missing snapshot of calculations will not raise an alarm',
      'a missing snapshot of cards will not raise an alarm',
      'digests of cards have no recipient',
    ],
  });
});

test('the hourly check exists even if no snapshot is expected, since it also checks the token and the table', () => {
  const ids = resourcesOf(templateOf(minimal)).map(([id]) => id.replace(/[0-9A-F]{8}$/, ''));

  expect(ids).toEqual(expect.arrayContaining(['ExpectedSnapshotsWatchFunction', 'ExpectedSnapshotsHourly']));
});

test('one dashboard shows every alarm in its first row, and links to dead letters, queries and the runbook', () => {
  expect(dashboardBody).toContain('Alarms (red');
  for (const id of Object.keys(template.findResources('AWS::CloudWatch::Alarm')))
    expect(dashboardBody).toContain(id);
  expect(dashboardBody).toContain('[JobsDeadLetters](https://eu-central-1.console.aws.amazon.com/sqs/');
  expect(dashboardBody).toContain('Saved queries');
  expect(dashboardBody).toContain('[Runbook](https://wiki.example.com/runbook)');
});

test('a saved query finds each measured event, and the dashboard shows it', () => {
  const queries = propertiesOf(template, 'AWS::Logs::QueryDefinition');
  const text = queries.map(({ QueryString }) => QueryString).join('\n');

  for (const name of measureNames) expect(text).toContain(`(${name})`);
  for (const { Name, LogGroupNames } of queries) {
    expect(Name).toMatch(/^platform-sync-full\/./);
    // The query for an id is not on the dashboard, since a person must insert the id.
    if (!Name.includes('ID')) expect(dashboardBody).toContain(Name.split('/')[1]);
    expect(LogGroupNames).toHaveLength(8);
  }
});

test('a Slack channel shows alarms, and no one can run AWS commands from it', () => {
  template.hasResourceProperties('AWS::Chatbot::SlackChannelConfiguration', {
    SlackWorkspaceId: 'T0123ABCD',
    SlackChannelId: 'C0123ABCD',
    SnsTopicArns: [{ Ref: Match.stringLikeRegexp('^AlarmsTopic') }],
  });
  const [channel] = propertiesOf(template, 'AWS::Chatbot::SlackChannelConfiguration');
  const [role = ''] = channel?.IamRoleArn['Fn::GetAtt'] ?? [];
  expect(template.findResources('AWS::IAM::Role')[role]?.['Properties']).not.toHaveProperty(
    'ManagedPolicyArns',
  );
  expect(JSON.stringify(template.findResources('AWS::IAM::Policy'))).not.toContain(`"Ref":"${role}"`);
});

describe('an override of an alarm condition', () => {
  const overridden = (overrides: object) => ({ ...minimal, alarms: { ...full.alarms, overrides } });

  test('that sets a threshold creates a separate alarm, which counts in periods of five minutes', () => {
    const instance = overridden({ JobsFailed: { threshold: 10, severity: 'page' } });

    expect(alarmsOf(instance).find(({ id }) => id === 'JobsFailed')).toMatchObject({
      Namespace: 'platform-sync/platform-sync-least',
      MetricName: 'JobsFailed',
      Threshold: 10,
      Period: 300,
      AlarmActions: expect.arrayContaining([PAGER]),
      AlarmDescription: expect.stringContaining('It goes off above 10. https://'),
    });
    const line = { problem: 'JobsFailed', value: 1 };
    expect(countedAs(line, 'JobsRunJobsLog', templateOf(instance))).toEqual(['JobsFailed: [object Object]']);
  });

  test('can change the percentage above which a problem counts, and its severity', () => {
    const instance = overridden({ Throttling: { threshold: 20, severity: 'page' } });
    const counted = (value: number) =>
      countedAs({ problem: 'Throttling', value }, 'JobsRunJobsLog', templateOf(instance));

    expect(counted(20)).toEqual([]);
    expect(counted(21)).toEqual(['page: Throttling']);
  });

  test('can turn a condition off; the alarm of a severity goes with its last condition', () => {
    const instance = overridden({
      Throttling: { off: true },
      RateReduced: { off: true },
      TableUnavailable: { off: true },
    });

    expect(
      countedAs({ problem: 'TableUnavailable', value: 1 }, 'JobsRunJobsLog', templateOf(instance)),
    ).toEqual([]);
    expect(alarmsOf(instance).map(({ id }) => id)).not.toContain('Notice');
  });

  test('can give one place another severity than the other places', () => {
    const instance = {
      ...full,
      alarms: { ...full.alarms, overrides: { 'SnapshotMissing-cards': { severity: 'notice' } } },
    };
    const counted = (place: string) =>
      countedAs(
        { problem: `SnapshotMissing-${place}`, value: 1 },
        'ExpectedSnapshotsWatchLog',
        templateOf(instance),
      );

    expect(counted('cards')).toEqual(['notice: SnapshotMissing-cards']);
    expect(counted('cards.few')).toEqual(['page: SnapshotMissing-cards.few']);
  });

  test('is a fault if the condition is unknown, or if another setting sets its threshold', () => {
    const attempt = () => alarmsOf(overridden({ Jobsfailed: { off: true }, OldestJob: { threshold: 1 } }));

    expect(attempt).toThrow('alarms.overrides.Jobsfailed: expected one of Unauthorized, ');
    expect(attempt).toThrow(
      'alarms.overrides.OldestJob.threshold: this threshold is set by alarms.oldestJobHours instead',
    );
  });
});

test('an instance has no alarm condition that its job types cannot cause', () => {
  const namesOf = (instance: object) => conditionsOf(instance).conditions.map(([name]) => name);

  expect(namesOf(minimal)).toEqual(
    expect.arrayContaining(['SentimentCalls', 'SentimentTokens', 'JobsUnknown']),
  );
  expect(namesOf({ ...minimal, allow: { types: ['snapshot'] } })).toEqual([
    ...'Unauthorized Forbidden Throttling OperationThrottled RateReduced TableUnavailable ResourceMissing ResourceRefused'.split(
      ' ',
    ),
    ...'TablesResourceMissing TablesResourceRefused MessagesRefused JobsFailed OldestJob'.split(' '),
    ...'JobsDeadLetters RareDeadLetters SnapshotRefused FunctionErrors'.split(' '),
    ...'FunctionThrottles ReportFailed'.split(' '),
  ]);
});
