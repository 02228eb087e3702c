import type { App } from 'aws-cdk-lib';
import { describe, expect, test } from 'vitest';
import { sizeOf } from '../../infra/template-size.ts';
import { appOf, full, minimal, resourcesOf, templateOf } from './instances.ts';

const [rule] = full.eventRules.slice(1);
const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const uuidOf = (index: number) => `5f0d1c2b-3a49-4857-9665-${String(index).padStart(12, '0')}`;
const filesInto = (as: string) => ({ source: 'files', cron: '0 2 * * ? *', filesets: [uuidOf(0)], as });

/** The error that stops synth. */
function faultOf(app: App): string {
  const { exitCode } = process;
  try {
    app.synth();
    return 'nothing';
  } catch (error) {
    return String(error);
  } finally {
    process.exitCode = exitCode;
  }
}

const excessive = {
  ...minimal,
  allow: { functions: ['f', ...many(400, (index) => `function${index}`)] },
  eventRules: [
    { ...rule, name: 'long', pattern: { source: many(300, (index) => `source-${index}`) } },
    { ...rule, name: 'large', inputVariables: { text: 'x'.repeat(9_000) } },
  ],
  alarms: { email: 'a@example.com', runbook: `https://wiki.example.com/${'x'.repeat(1_000)}` },
  tags: Object.fromEntries(many(60, (index) => [`tag-${index}`, 'x'])),
  readers: many(400, (index) => `arn:aws:iam::111122223333:role/team/analysts-${index}`),
  schedules: many(30, (index) => ({ ...filesInto(`p${index}`), filesets: many(1_000, uuidOf) })),
};

describe('synth stops', () => {
  const report = faultOf(appOf(excessive));

  test.each([
    [
      '4096 bytes of environment variables',
      'shorten the field `allow`, or the lists (such as ids) of schedules that have no `cron`',
    ],
    [
      '2048 characters of event pattern',
      'split the rule in two, or use a shorter pattern that matches more events',
    ],
    ['8192 characters of input template', 'shorten the field `inputVariables`'],
    ['1024 characters of description', 'shorten the field `alarms.runbook`'],
    ['20480 bytes of bucket policy', 'configure fewer readers'],
    ['50 tags', 'configure fewer tags'],
    ['1048576 bytes of template', 'move some of the schedules and event rules to a second instance'],
  ])('if a stack exceeds this limit of AWS: %s', (limit, remedy) => {
    const [, after = ''] = report.split(`ERROR expected at most ${limit}, got `);

    expect(after.split('Suggested fix: ')[1]).toContain(remedy);
  });

  test('if a stack has more than 500 resources', () => {
    expect(faultOf(appOf({ ...minimal, schedules: many(220, (index) => filesInto(`p${index}`)) }))).toMatch(
      /Number of resources in stack 'platform-sync-least': \d+ is greater than allowed maximum of 500/,
    );
  });
});

test('the largest configuration is within the limits: the policy of each queue has one statement for thirty event rules', () => {
  const eventRules = many(30, (index) => ({ ...rule, name: `rule-${index}` }));

  const policies = resourcesOf(templateOf({ ...minimal, eventRules })).flatMap(([id, resource]) =>
    resource.Type === 'AWS::SQS::QueuePolicy' ? [[id, resource.Properties['PolicyDocument']] as const] : [],
  );

  for (const [, document] of policies) expect(sizeOf(document)).toBeLessThan(2_000);
  const fromRules = policies.filter(([, document]) =>
    JSON.stringify(document).includes('events.amazonaws.com'),
  );
  expect(fromRules.map(([id]) => id.replace(/Policy[0-9A-F]+$/, ''))).toEqual([
    'RareDeadLetters',
    'JobsFunctionsQueue',
  ]);
});

test.each([
  ['the name of a bucket that is imported', { 'Fn::ImportValue': 'bucket' }, 63],
  ['a parameter with a longest length', { Ref: 'Short' }, 20],
  ['a parameter without a maximum, which only AWS knows', { Ref: 'Any' }, 0],
  // arn:aws-us-gov:dynamodb:ap-southeast-2:123456789012:table/ and the name that CloudFormation builds from stack and id.
  ['the ARN of a table that the stack names', { 'Fn::GetAtt': ['Rows', 'Arn'] }, 58 + 128 + 4 + 15],
  // https://sqs.ap-southeast-2.amazonaws.com.cn/123456789012/
  ['the URL of a queue', { Ref: 'Jobs' }, 57 + 80],
  ['a name without its slash', { 'Fn::Join': ['/', { 'Fn::Split': ['//', { Ref: 'Short' }] }] }, 20],
])('a value that is known only at deployment counts with its maximum length: %s', (_, value, length) => {
  const known = {
    resources: { Rows: { Type: 'AWS::DynamoDB::Table' }, Jobs: { Type: 'AWS::SQS::Queue' } },
    parameters: { Short: { Type: 'String', MaxLength: 20 }, Any: { Type: 'String' } },
    longest: new Map([['{"Fn::ImportValue":"bucket"}', 63]]),
  };

  expect(sizeOf({ a: value }, known)).toBe('{"a":""}'.length + length);
});
