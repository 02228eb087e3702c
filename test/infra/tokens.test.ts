import { readFileSync } from 'node:fs';
import { App, Aws, CfnParameter, Fn, Stack, Token, Validations } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { BUNDLING_STACKS } from 'aws-cdk-lib/cx-api';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, expect, test } from 'vitest';
import { PlatformSync, type PlatformSyncProps } from '../../infra/index.ts';
import { packageId, propertiesOf } from './instances.ts';

/*
 * Values that are known only at deployment: CDK tokens, here imports named after the field. docs/config.md lists the
 * fields that accept them. Each of these is deployed unchanged, and every other field rejects a token.
 */

/** The fields on the page without nested fields, and whether they accept a token. */
const fields = [...readFileSync('docs/config.md', 'utf8').matchAll(/^\| `(.+?)` \| (.+?) \| (yes)? *\|/gm)]
  .map(([, path = '', what = '', yes]) => ({ path, what, takes: yes === 'yes' }))
  .filter(({ what, takes }) => takes || !/^(list of )?object/.test(what));

const later = (path: string) => Fn.importValue(path);
const number = (path: string) => Token.asNumber(Fn.importValue(path));
const minimal = { baseUrl: 'https://a.example.com' };
const rule = { name: 'r', pattern: { source: ['a'] }, packageId, packageVersion: '1.0.0', functionName: 'f' };
const cron = '0 2 * * ? *';

/** Instances that set every field that accepts a token: as few as mutually exclusive fields allow. */
const instances = (): readonly object[] => [
  {
    name: later('name'),
    baseUrl: later('baseUrl'),
    tokenParameter: later('tokenParameter'),
    tokenKeyArn: later('tokenKeyArn'),
    tokenHeader: later('tokenHeader'),
    bucket: later('bucket'),
    prefix: later('prefix'),
    table: later('table'),
    key: later('key'),
    formerKeys: [later('formerKeys')],
    vpc: {
      id: 'vpc-0a1b2c3d',
      subnets: Fn.split(',', later('vpc.subnets')),
      securityGroups: [later('vpc.securityGroups')],
    },
    proxy: { url: 'http://proxy.example.com:3128', except: later('proxy.except') },
    links: {
      calculation: later('links.calculation'),
      card: later('links.card'),
      dataset: later('links.dataset'),
      'data-file': later('links.data-file'),
    },
    timeoutMs: number('timeoutMs'),
    compression: later('compression'),
    logLevel: later('logLevel'),
    allow: { packages: [later('allow.packages')], functions: Fn.split(',', later('allow.functions')) },
    schedules: [
      {
        source: 'calculations',
        as: 'a',
        name: later('schedules.name'),
        filters: [later('schedules.filters')],
        cron,
      },
      {
        source: 'files',
        as: 'late',
        filesets: [later('schedules.filesets')],
        directory: later('schedules.directory'),
        since: later('schedules.since'),
        until: later('schedules.until'),
        cron,
      },
      { source: 'cards', as: 'late', datasets: [later('schedules.datasets')], cron },
      { source: 'data-files', ids: [later('schedules.ids')], cron },
    ],
    functions: [
      {
        name: 'nightly',
        cron,
        packageId: later('functions.packageId'),
        packageVersion: later('functions.packageVersion'),
        functionName: later('functions.functionName'),
        inputVariables: { a: later('functions.inputVariables') },
        onUnknown: later('functions.onUnknown'),
      },
    ],
    eventRules: [
      {
        name: 'r',
        pattern: { source: ['aws.s3'], detail: { bucket: { name: [later('eventRules.pattern')] } } },
        bus: later('eventRules.bus'),
        packageId: later('eventRules.packageId'),
        packageVersion: later('eventRules.packageVersion'),
        functionName: later('eventRules.functionName'),
        inputVariables: { a: later('eventRules.inputVariables'), b: '$.detail' },
        onUnknown: later('eventRules.onUnknown'),
      },
    ],
    lifetimes: { logs: number('lifetimes.logs') },
    alarms: {
      email: later('alarms.email'),
      topicArn: later('alarms.topicArn'),
      topics: {
        page: later('alarms.topics.page'),
        ticket: later('alarms.topics.ticket'),
        notice: later('alarms.topics.notice'),
      },
      slack: {
        workspaceId: later('alarms.slack.workspaceId'),
        channelId: later('alarms.slack.channelId'),
      },
      overrides: { JobsFailed: { threshold: number('alarms.overrides.threshold') } },
      sentimentCallsPerDay: number('alarms.sentimentCallsPerDay'),
      sentimentTokensPerDay: number('alarms.sentimentTokensPerDay'),
      runbook: later('alarms.runbook'),
    },
    tags: { a: later('tags') },
  },
  {
    ...minimal,
    tokenSecretArn: later('tokenSecretArn'),
    fixedAddress: later('fixedAddress'),
    readers: [later('readers')],
    schedules: [{ source: 'calculations', cron }],
    lifetimes: {
      work: number('lifetimes.work'),
      oldVersions: number('lifetimes.oldVersions'),
      texts: number('lifetimes.texts'),
      scores: number('lifetimes.scores'),
      refused: number('lifetimes.refused'),
      runs: number('lifetimes.runs'),
    },
  },
  { ...minimal, vpc: { id: later('vpc.id'), subnets: ['subnet-0a1b2c3d'] } },
];

/** The template of one instance in a user's own stack, with the limits and cdk-nag as checks. */
function templateWith(make: (stack: Stack, app: App) => object, isChecked = true): Template {
  const app = new App({ context: { [BUNDLING_STACKS]: [] }, analyticsReporting: false });
  const stack = new Stack(app, 'theirs');
  const props = { ...minimal, ...make(stack, app) } as PlatformSyncProps;
  new PlatformSync(stack, 'Sync', props);
  if (isChecked) {
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    const { exitCode } = process;
    try {
      app.synth();
    } finally {
      process.exitCode = exitCode;
    }
  }
  return Template.fromStack(stack);
}

test('values known only at deployment are deployed unchanged, wherever the page allows them', () => {
  const synthesized = instances().map((instance) => JSON.stringify(templateWith(() => instance).toJSON()));

  const deployed = fields
    .filter(({ path }) => synthesized.some((text) => text.includes(`{"Fn::ImportValue":"${path}"}`)))
    .map(({ path }) => path);
  expect(deployed).toEqual(fields.filter(({ takes }) => takes).map(({ path }) => path));
  expect(deployed.length).toBeGreaterThan(50);
});

/** Settings with a token in a field that does not accept one, and with the other settings that the field needs. */
function refusing(path: string): object {
  const token = later(path);
  const [first = '', second = '', third = ''] = path.split('.');
  if (first === 'schedules')
    return { schedules: [{ source: 'files', filesets: [packageId], cron, [second]: token }] };
  if (first === 'functions')
    return {
      functions: [
        { name: 'f', cron, packageId, packageVersion: '1.0.0', functionName: 'f', [second]: token },
      ],
    };
  if (first === 'eventRules') return { eventRules: [{ ...rule, [second]: token }] };
  if (third !== '') return { [first]: { [second]: { JobsFailed: { [third]: token } } } };
  return { [first]: second === '' ? token : { [second]: second === 'types' ? [token] : token } };
}

/** Fields that belong to the stack, not the construct, and a field that only other sources have. */
const NOT_HERE = ['account', 'region', 'schedules.drill'];

test.each(fields.filter(({ path, takes }) => !takes && !NOT_HERE.includes(path)))(
  '$path must be known at synth, because resources depend on it: a CDK token is refused, and the fault says so',
  ({ path }) => {
    expect(() => templateWith(() => refusing(path), false)).toThrow(
      /expected .*, got (a value that is known only at deployment|\["\$\{Token)/,
    );
  },
);

describe('a CDK token', () => {
  test('for the name of a parameter may have a slash at its start or not: functions may read both forms, and find the ARN', () => {
    const template = templateWith((stack) => ({
      tokenParameter: new CfnParameter(stack, 'Name').valueAsString,
    }));

    const before = ['arn:', { Ref: 'AWS::Partition' }, ':ssm:', { Ref: 'AWS::Region' }, ':'];
    const of = (resource: string) => ({
      'Fn::Join': ['', [...before, { Ref: 'AWS::AccountId' }, `:${resource}`, { Ref: 'Name' }]],
    });
    template.hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          { Action: 'ssm:GetParameter', Effect: 'Allow', Resource: [of('parameter/'), of('parameter')] },
        ]),
      },
    });
    template.hasOutput('*', {
      Value: { 'Fn::Join': ['/', { 'Fn::Split': ['//', of('parameter/')] }] },
    });
  });

  test('for an origin lets functions connect to its port (default: 443) at any address', () => {
    const template = templateWith(() => ({ baseUrl: later('origin'), fixedAddress: true }));

    const host = { 'Fn::Select': [2, { 'Fn::Split': ['/', { 'Fn::ImportValue': 'origin' }] }] };
    const FromPort = {
      'Fn::Select': [1, { 'Fn::Split': [':', { 'Fn::Join': ['', [host, ':443']] }] }],
    };
    const opened = propertiesOf(template, 'AWS::EC2::SecurityGroupEgress');
    expect(opened.map(({ CidrIp }) => CidrIp)).toEqual(['0.0.0.0/1', '128.0.0.0/1']);
    for (const each of opened) expect(each).toMatchObject({ FromPort, ToPort: FromPort });
  });

  test('for a reader may be an account or a role, because IAM accepts both in the same position', () => {
    const template = templateWith((stack) => ({
      readers: new CfnParameter(stack, 'Readers', { type: 'CommaDelimitedList' }).valueAsList,
    }));

    const principals = propertiesOf(template, 'AWS::S3::BucketPolicy').flatMap(({ PolicyDocument }) =>
      PolicyDocument.Statement.map(({ Principal }: { readonly Principal: unknown }) => Principal),
    );
    expect(principals).toContainEqual({ AWS: { Ref: 'Readers' } });
  });

  test('for a bucket of another stack stands for that bucket, even in each policy', () => {
    const template = templateWith(
      (_, app) => ({
        bucket: new Bucket(new Stack(app, 'other'), 'Theirs').bucketName,
        prefix: 'a',
      }),
      false,
    );

    template.resourceCountIs('AWS::S3::Bucket', 0);
    for (const { Environment } of propertiesOf(template, 'AWS::Lambda::Function'))
      expect(JSON.stringify(Environment.Variables.SYNC_STORE)).toMatch(
        /^\{"Fn::Join":\["",\["s3:\/\/",\{"Fn::ImportValue"/,
      );
  });

  test('may be the account or the region within an ARN', () => {
    const alarms = { topicArn: `arn:${Aws.PARTITION}:sns:${Aws.REGION}:111122223333:alarms` };

    expect(() => templateWith(() => ({ alarms }), false)).not.toThrow();
  });
});
