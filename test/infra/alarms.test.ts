import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { METRIC_NAMESPACE, metricNames } from '../../lib/contract.ts';
import { full, resourcesOf, templateOf } from './instances.ts';

type AlarmProperties = {
  readonly AlarmDescription: string;
  readonly AlarmActions: readonly unknown[];
  readonly ComparisonOperator: string;
  readonly Threshold: number;
  readonly EvaluationPeriods: number;
  readonly TreatMissingData: string;
  readonly Namespace?: string;
  readonly MetricName?: string;
  readonly Period?: number;
};

const template = templateOf(full);

const alarms = resourcesOf(template).flatMap(([id, { Type, Properties }]) =>
  Type === 'AWS::CloudWatch::Alarm'
    ? [{ id: id.replace(/^Alarms|[0-9A-F]{8}$/g, ''), ...(Properties as unknown as AlarmProperties) }]
    : [],
);

const sectionOf = ({ AlarmDescription: description }: AlarmProperties) => description.split('#').at(-1);

const runbook = readFileSync('infra/RUNBOOK.md', 'utf8').split(/^## /m).slice(1);

test('each alarm has a section in the runbook, and each section an alarm', () => {
  const headings = runbook.map((section) => section.split('\n', 1)[0]?.toLowerCase());

  expect([...new Set(alarms.map(sectionOf))].sort()).toEqual([...headings].sort());
});

test('each section has meaning, check and fix', () => {
  for (const section of runbook) {
    expect(section).toMatch(/\*\*Meaning\.\*\* .+/);
    expect(section).toMatch(/\*\*Check\.\*\* .+/);
    expect(section).toMatch(/\*\*Fix\.\*\* .+/);
  }
});

test('each alarm says what is wrong, links to the runbook and notifies somebody', () => {
  for (const alarm of alarms) {
    expect(alarm.AlarmDescription).toMatch(/^[A-Z].+\. https:\/\/wiki\.example\.com\/runbook#[a-z]+$/);
    expect(alarm.AlarmActions).toHaveLength(2);
  }
});

test('each alarm goes off when it should', () => {
  const lines = alarms.map(
    ({
      id,
      ComparisonOperator,
      Threshold,
      EvaluationPeriods,
      TreatMissingData,
      MetricName = 'computed',
      Period = 300,
    }) =>
      `${id}: ${MetricName} ${ComparisonOperator === 'GreaterThanThreshold' ? '>' : '<'} ${Threshold} in ${EvaluationPeriods} × ${Period} s, no data ${TreatMissingData}`,
  );

  expect(lines.sort()).toEqual([
    'EventsDeadLetters: ApproximateNumberOfMessagesVisible > 0 in 1 × 300 s, no data notBreaching',
    'Forbidden: Forbidden > 0 in 1 × 300 s, no data notBreaching',
    'FunctionErrors: computed > 0 in 1 × 300 s, no data notBreaching',
    'FunctionThrottles: computed > 0 in 3 × 300 s, no data notBreaching',
    'JobsDeadLetters: ApproximateNumberOfMessagesVisible > 0 in 1 × 300 s, no data notBreaching',
    'JobsFailed: JobsFailed > 0 in 1 × 300 s, no data notBreaching',
    'JobsUnknown: JobsUnknown > 0 in 1 × 300 s, no data notBreaching',
    'MessagesRefused: MessagesRefused > 0 in 1 × 300 s, no data notBreaching',
    'OldestJob: computed > 21600 in 1 × 300 s, no data notBreaching',
    'SafeRate: SafeRate > 0 in 1 × 300 s, no data notBreaching',
    'SchedulesDeadLetters: ApproximateNumberOfMessagesVisible > 0 in 1 × 300 s, no data notBreaching',
    'SentimentCalls: SentimentCalls > 1000 in 1 × 86400 s, no data notBreaching',
    'SentimentTokens: SentimentTokens > 2000 in 1 × 86400 s, no data notBreaching',
    'SnapshotMissingcalculations: SnapshotsPublished < 1 in 26 × 3600 s, no data breaching',
    'SnapshotMissingcalculationsrevenue: SnapshotsPublished < 1 in 26 × 3600 s, no data breaching',
    'SnapshotMissingcards: SnapshotsPublished < 1 in 26 × 3600 s, no data breaching',
    'SnapshotMissingcardsfew: SnapshotsPublished < 1 in 26 × 3600 s, no data breaching',
    'SnapshotMissingdatafiles: SnapshotsPublished < 1 in 48 × 3600 s, no data breaching',
    'SnapshotMissingfiles: SnapshotsPublished < 1 in 26 × 3600 s, no data breaching',
    'SnapshotRefused: SnapshotsRefused > 0 in 1 × 300 s, no data notBreaching',
    'SnapshotsDeadLetters: ApproximateNumberOfMessagesVisible > 0 in 1 × 300 s, no data notBreaching',
    'TextsDeadLetters: ApproximateNumberOfMessagesVisible > 0 in 1 × 300 s, no data notBreaching',
    'Throttling: computed > 5 in 3 × 300 s, no data notBreaching',
    'Unauthorized: Unauthorized > 0 in 1 × 300 s, no data notBreaching',
  ]);
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

test('one dashboard shows every alarm in its first row', () => {
  const [dashboard] = Object.values(template.findResources('AWS::CloudWatch::Dashboard'));
  const body = JSON.stringify(dashboard?.['Properties'].DashboardBody);

  expect(body).toContain('Is it well?');
  for (const id of Object.keys(template.findResources('AWS::CloudWatch::Alarm'))) expect(body).toContain(id);
});
