import { readFileSync } from 'node:fs';
import { Stack } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import { alarmsPage } from '../../infra/alarms-page.ts';
import { loggedNames, METRIC_NAMESPACE, metricNames } from '../../lib/contract.ts';
import { appOf, full, least, propertiesOf, resourcesOf, templateOf } from './instances.ts';

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
  readonly Metrics?: readonly { readonly MetricStat?: MetricStat }[];
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

test('docs/alarms.md is what `npm run reference` makes of the alarms and metrics', () => {
  expect(readFileSync('docs/alarms.md', 'utf8')).toBe(alarmsPage());
});

const sectionOf = ({ AlarmDescription: description }: AlarmProperties) => description.split('#').at(-1);

const PAGER = 'arn:aws:sns:eu-central-1:111122223333:pager';

const isPage = ({ AlarmActions: actions }: AlarmProperties) => actions.includes(PAGER);

const runbook = readFileSync('infra/RUNBOOK.md', 'utf8').split(/^## /m).slice(1);

test('each alarm has a section in the runbook, and each section an alarm', () => {
  const headings = runbook.map((section) => section.split('\n', 1)[0]?.toLowerCase());

  expect([...new Set(alarms.map(sectionOf))].sort()).toEqual([...headings].sort());
});

test('each alarm says what is wrong, links to the runbook and notifies somebody', () => {
  for (const alarm of alarms) {
    expect(alarm.AlarmDescription).toMatch(/^[A-Z].+\. https:\/\/wiki\.example\.com\/runbook#[a-z]+$/);
    expect(alarm.AlarmActions).toHaveLength(isPage(alarm) ? 3 : 2);
    expect(alarm.OKActions).toEqual(alarm.AlarmActions);
  }
});

test('each alarm goes off when it should', () => {
  const lines = alarms.map(
    ({
      id,
      ComparisonOperator,
      Threshold,
      EvaluationPeriods,
      DatapointsToAlarm,
      TreatMissingData,
      MetricName = 'computed',
      Period = 300,
    }) =>
      `${id}: ${MetricName} ${ComparisonOperator === 'GreaterThanThreshold' ? '>' : '<'} ${Threshold} in ${DatapointsToAlarm} of ${EvaluationPeriods} × ${Period} s, no data ${TreatMissingData}`,
  );

  expect(lines.sort()).toEqual([
    'Forbidden: Forbidden > 0 in 1 of 1 × 300 s, no data notBreaching',
    'FunctionErrors: computed > 0 in 1 of 4 × 300 s, no data notBreaching',
    'FunctionThrottles: computed > 0 in 3 of 4 × 300 s, no data notBreaching',
    'JobsDeadLetters: ApproximateNumberOfMessagesVisible > 0 in 1 of 1 × 300 s, no data notBreaching',
    'JobsFailed: JobsFailed > 0 in 1 of 1 × 300 s, no data notBreaching',
    'JobsUnknown: JobsUnknown > 0 in 1 of 1 × 300 s, no data notBreaching',
    'MessagesRefused: MessagesRefused > 0 in 1 of 1 × 300 s, no data notBreaching',
    'OldestJob: computed > 21600 in 1 of 1 × 300 s, no data notBreaching',
    'RareDeadLetters: ApproximateNumberOfMessagesVisible > 0 in 1 of 1 × 300 s, no data notBreaching',
    'ReportFailed: Errors > 0 in 3 of 14 × 300 s, no data notBreaching',
    'SentimentCalls: SentimentCalls > 1000 in 1 of 1 × 86400 s, no data notBreaching',
    'SentimentTokens: SentimentTokens > 2000 in 1 of 1 × 86400 s, no data notBreaching',
    'SnapshotMissingcalculations: SnapshotMissing > 0 in 1 of 2 × 3600 s, no data notBreaching',
    'SnapshotMissingcalculationsrevenue: SnapshotMissing > 0 in 1 of 2 × 3600 s, no data notBreaching',
    'SnapshotMissingcards: SnapshotMissing > 0 in 1 of 2 × 3600 s, no data notBreaching',
    'SnapshotMissingcardsfew: SnapshotMissing > 0 in 1 of 2 × 3600 s, no data notBreaching',
    'SnapshotMissingdatafiles: SnapshotMissing > 0 in 1 of 2 × 3600 s, no data notBreaching',
    'SnapshotMissingfiles: SnapshotMissing > 0 in 1 of 2 × 3600 s, no data notBreaching',
    'SnapshotRefused: SnapshotsRefused > 0 in 1 of 1 × 300 s, no data notBreaching',
    'TableAway: TableAway > 0 in 1 of 1 × 300 s, no data notBreaching',
    'Throttling: computed > 5 in 3 of 3 × 300 s, no data notBreaching',
    'Unauthorized: Unauthorized > 0 in 1 of 1 × 300 s, no data notBreaching',
  ]);
});

type MetricStat = { readonly Period: number; readonly Metric: { readonly Namespace: string } };

/** How long an alarm looks back at most, in seconds, and what namespaces it looks at. */
function lookBackOf(alarm: AlarmProperties) {
  const stats = (alarm.Metrics ?? []).flatMap(({ MetricStat: stat }) => (stat === undefined ? [] : [stat]));
  const period = Math.max(alarm.Period ?? 0, ...stats.map(({ Period }) => Period));
  return {
    seconds: period * alarm.EvaluationPeriods,
    namespaces: [alarm.Namespace, ...stats.map(({ Metric }) => Metric.Namespace)],
  };
}

test('each alarm on a metric of Lambda still sees an invocation that ran until its limit, 5 minutes later', () => {
  const limits = resourcesOf(template).flatMap(([, { Type, Properties }]) =>
    Type === 'AWS::Lambda::Function' ? [Number(Properties['Timeout'] ?? 0)] : [],
  );
  const onLambda = alarms.filter((alarm) => lookBackOf(alarm).namespaces.includes('AWS/Lambda'));

  expect(onLambda.map(({ id }) => id)).toEqual(['FunctionErrors', 'FunctionThrottles', 'ReportFailed']);
  expect(Math.max(...limits)).toBe(900);
  for (const alarm of onLambda)
    expect(lookBackOf(alarm).seconds).toBeGreaterThanOrEqual(Math.max(...limits) + 300);
});

test('no alarm looks back further than CloudWatch does', () => {
  for (const alarm of alarms) expect(lookBackOf(alarm).seconds).toBeLessThanOrEqual(604_800);
});

/** What an instance with these schedules expects, by its alarms and by what looks each hour, and its warnings. */
function expectedOf(schedules: readonly object[]) {
  const app = appOf({ ...least, schedules });
  const [stack] = app.node.children.filter(Stack.isStack);
  if (stack === undefined) throw new Error('expected a stack');
  const resources = resourcesOf(Template.fromStack(stack));
  const looked = resources.flatMap(([id, { Properties }]) =>
    id.startsWith('ExpectedSnapshotsHourly')
      ? (JSON.parse((Properties['Target'] as { readonly Input: string }).Input).expected as readonly object[])
      : [],
  );
  const watched = resources.flatMap(([, { Properties }]) =>
    Properties?.['MetricName'] === 'SnapshotMissing' ? [JSON.stringify(Properties['Dimensions'])] : [],
  );
  const warnings = Annotations.fromStack(stack).findWarning(
    '*',
    Match.stringLikeRegexp('is missing|digests'),
  );
  return { looked, watched, warnings: warnings.map(({ entry }) => String(entry.data).split(':', 1)[0]) };
}

test('a snapshot that is taken once a week, a month or a year has an alarm for a missing one too', () => {
  expect(
    expectedOf([
      { source: 'calculations', cron: '0 2 1 * ? *' },
      { source: 'cards' },
      { source: 'cards', as: 'few', cron: '0 5 ? * 2,6 *', datasets: ['d1'] },
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
      (place) => expect.stringContaining(`"${place}"`),
    ),
    warnings: [],
  });
});

test('a snapshot whose next time nobody knows has no such alarm, and a warning says so, as of a digest for nobody', () => {
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
      'no alarm says that a snapshot of data-files is missing',
      'no alarm says that a snapshot of calculations is missing',
      'no alarm says that a snapshot of cards is missing',
      'nobody receives the digests of cards',
    ],
  });
});

test('what looks for missing snapshots has an alarm of its own, and nothing looks where nothing is expected', () => {
  const errors = JSON.stringify(alarms.find(({ id }) => id === 'FunctionErrors'));
  const ids = (of: ReturnType<typeof templateOf>) => resourcesOf(of).map(([id]) => id);

  expect(errors).toMatch(/ExpectedSnapshotsWatchFunction/);
  expect(ids(template).filter((id) => id.startsWith('ExpectedSnapshotsWatch'))).not.toEqual([]);
  expect(ids(templateOf(least)).filter((id) => id.startsWith('ExpectedSnapshots'))).toEqual([]);
});

test('alarms watch the metrics of their own stack, under the names that the functions report', () => {
  const own = JSON.stringify(template.toJSON()).matchAll(
    /"Dimensions":(\[[^\]]*\]),"MetricName":"(\w+)","Namespace":"platform-sync"/g,
  );

  expect(METRIC_NAMESPACE).toBe('platform-sync');
  for (const [, dimensions = '', name] of own) {
    expect(metricNames).toContain(name);
    expect(JSON.parse(dimensions)).toContainEqual({ Name: 'service', Value: 'platform-sync-full' });
  }
});

test('one dashboard shows every alarm in its first row, and leads to dead letters, queries and the runbook', () => {
  expect(dashboardBody).toContain('Is it well?');
  for (const id of Object.keys(template.findResources('AWS::CloudWatch::Alarm')))
    expect(dashboardBody).toContain(id);
  expect(dashboardBody).toContain('[JobsDeadLetters](https://eu-central-1.console.aws.amazon.com/sqs/');
  expect(dashboardBody).toContain('Saved queries');
  expect(dashboardBody).toContain('[Runbook](https://wiki.example.com/runbook)');
});

test('every metric has an alarm, and what has none is no metric', () => {
  const watched = [
    ...JSON.stringify(alarms).matchAll(/"MetricName":"(\w+)","Namespace":"platform-sync"/g),
  ].map(([, name]) => name);

  expect([...new Set(watched)].sort()).toEqual([...metricNames].sort());
});

test('what is only in the logs is found by a saved query, which the dashboard shows', () => {
  const queries = propertiesOf(template, 'AWS::Logs::QueryDefinition');
  const text = queries.map(({ QueryString }) => QueryString).join('\n');

  for (const name of loggedNames) expect(text).toContain(`(${name})`);
  for (const { Name, LogGroupNames } of queries) {
    expect(Name).toMatch(/^platform-sync-full\/./);
    // One is of an id, which somebody puts into it.
    if (!Name.includes('ID')) expect(dashboardBody).toContain(Name.split('/')[1]);
    expect(LogGroupNames).toHaveLength(7);
  }
});

test('a Slack channel shows alarms, and nobody can command AWS from there', () => {
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

describe('overrides', () => {
  const overridden = (overrides: object) => alarmsOf({ ...least, alarms: { ...full.alarms, overrides } });

  test('change the threshold and the severity of an alarm, and turn one off', () => {
    const found = overridden({ JobsFailed: { threshold: 10, severity: 'page' }, Throttling: { off: true } });

    const of = (name: string) => found.find(({ id }) => id === name);
    expect(of('Throttling')).toBeUndefined();
    expect(of('JobsFailed')).toMatchObject({
      Threshold: 10,
      AlarmActions: expect.arrayContaining([PAGER]),
      AlarmDescription: expect.stringContaining('It goes off above 10. https://'),
    });
    expect(of('MessagesRefused')).toMatchObject({ Threshold: 0 });
  });

  test('of what does not exist, or is set elsewhere, are faults', () => {
    const attempt = () => overridden({ Jobsfailed: { off: true }, OldestJob: { threshold: 1 } });

    expect(attempt).toThrow('alarms.overrides.Jobsfailed: expected one of Unauthorized, ');
    expect(attempt).toThrow(
      'alarms.overrides.OldestJob.threshold: expected none: alarms.oldestJobHours sets it',
    );
  });
});

test('an instance has no alarm on what its job types cannot do', () => {
  const namesOf = (instance: object) => alarmsOf(instance).map(({ id }) => id);

  expect(namesOf(least)).toEqual(
    expect.arrayContaining(['SentimentCalls', 'SentimentTokens', 'JobsUnknown']),
  );
  expect(namesOf({ ...least, allow: { types: ['snapshot'] } })).toEqual([
    ...'Unauthorized Forbidden Throttling TableAway MessagesRefused JobsFailed OldestJob'.split(' '),
    ...'JobsDeadLetters RareDeadLetters SnapshotRefused FunctionErrors FunctionThrottles ReportFailed'.split(
      ' ',
    ),
  ]);
});
