import { readFileSync } from 'node:fs';
import { type App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { BUNDLING_STACKS } from 'aws-cdk-lib/cx-api';
import { createApp } from '../../infra/create-app.ts';

export const packageId = '0b9e4d5e-7d53-4c0d-9d4a-0d8c7f3f1a11';
export const filesetId = '5f0d1c2b-3a49-4857-9665-748392a1b0c9';

/** The smallest valid instance. */
export const minimal = { name: 'least', baseUrl: 'https://least.example.com' };

/** An instance with every setting. */
export const full = {
  name: 'full',
  account: '111122223333',
  region: 'eu-central-1',
  baseUrl: 'https://acme.example.com:8443',
  tokenSecretArn: 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:acme/token-AbCdEf',
  tokenHeader: 'X-Token',
  links: { card: 'https://acme.example.com/cards/{id}' },
  gates: { calculations: { shrunk: 0.8 }, 'cards.few': { shrunk: null } },
  prices: { unit: 'credits', score: 1, 'run-function': 0.5 },
  rate: 20,
  rateCeiling: 25,
  concurrency: 4,
  workers: 30,
  latencyMs: 2_000,
  codeFunctionMs: 500,
  timeoutMs: 30_000,
  compression: 'zstd',
  logLevel: 'debug',
  allow: {
    types: ['run-function', 'snapshot', 'score'],
    packages: [packageId],
    functions: ['addNumbers', 'f'],
  },
  schedules: [
    {
      source: 'calculations',
      cron: '0 2 * * ? *',
      timeZone: 'Europe/Berlin',
      accept: ['shrunk'],
      digest: true,
    },
    { source: 'calculations', cron: '0 3 ? * MON-FRI *', name: 'Revenue', as: 'revenue' },
    {
      source: 'files',
      as: 'in',
      cron: '0/30 4 * * ? *',
      filesets: [filesetId],
      directory: '/in',
      immediate: true,
    },
    { source: 'cards', digest: true },
    {
      source: 'cards',
      as: 'few',
      cron: '0 5 * * ? *',
      datasets: ['cd27b9a0-a9d4-446b-9b16-02103df7f112', 'dd27b9a0-a9d4-446b-9b16-02103df7f112'],
      drill: false,
    },
    { source: 'data-files', cron: '0 6 * * ? *', ids: ['17', '18'], publishedWithinHours: 48 },
  ],
  functions: [
    {
      name: 'sums',
      cron: '0 1 ? * MON-FRI *',
      timeZone: 'Europe/Berlin',
      packageId,
      packageVersion: '1.0.0',
      functionName: 'addNumbers',
      inputVariables: { first: 1, until: '<aws.scheduler.scheduled-time>' },
      onUnknown: 'retry',
    },
  ],
  eventRules: [
    {
      name: 'uploads',
      pattern: {
        source: ['aws.s3'],
        'detail-type': ['Object Created'],
        detail: { object: { key: [{ prefix: 'uploads/' }] } },
      },
      packageId,
      packageVersion: '1.0.0',
      functionName: 'addNumbers',
      inputVariables: {
        key: '$.detail.object.key',
        size: '$.detail.object.size',
        all: { tags: ['$.detail.object.etag', 'fixed'], whole: '$.detail.object' },
        limit: 5,
      },
      onUnknown: 'retry',
    },
    { name: 'bare', pattern: { source: ['mine'] }, packageId, packageVersion: '1.0.0', functionName: 'f' },
  ],
  dashboard: true,
  fixedAddress: true,
  lifetimes: {
    work: 20,
    oldVersions: 10,
    results: 60,
    texts: 40,
    scores: 100,
    refused: 50,
    runs: 400,
    logs: 90,
  },
  alarms: {
    email: 'night@example.com',
    topicArn: 'arn:aws:sns:eu-central-1:111122223333:alarms',
    oldestJobHours: 6,
    sentimentCallsPerDay: 1_000,
    sentimentTokensPerDay: 2_000,
    runbook: 'https://wiki.example.com/runbook',
    topics: { page: 'arn:aws:sns:eu-central-1:111122223333:pager' },
    slack: { workspaceId: 'T0123ABCD', channelId: 'C0123ABCD' },
  },
  readers: ['444455556666', 'arn:aws:iam::777788889999:role/team/analysts'],
  tags: { 'cost-center': '4711' },
};

/** A protected instance in an existing bucket and network, whose new versions are deployed gradually. */
export const within = {
  ...minimal,
  name: 'within',
  account: '111122223333',
  region: 'eu-central-1',
  bucket: 'their-bucket',
  prefix: 'teams/acme',
  key: 'arn:aws:kms:eu-central-1:111122223333:key/0b9e4d5e-7d53-4c0d-9d4a-0d8c7f3f1a11',
  vpc: {
    id: 'vpc-0a1b2c3d4e5f60718',
    subnets: ['subnet-0a1b2c3d4e5f60718', 'subnet-0a1b2c3d4e5f60719'],
    securityGroups: ['sg-0a1b2c3d4e5f60718'],
  },
  removal: 'protect',
  canaryMinutes: 10,
  functionsQueue: true,
};

/** The feature flags of CDK in `cdk.json`. */
const { 'platform-sync': _, ...switches } = JSON.parse(readFileSync('cdk.json', 'utf8')).context as Record<
  string,
  unknown
>;

/** The app as the command creates it, with these instances; the functions are not bundled. */
export const appOf = (...instances: readonly object[]): App =>
  createApp({
    context: { ...switches, 'platform-sync': { instances }, [BUNDLING_STACKS]: [] },
    analyticsReporting: false,
  });

/** The only stack of an app with one instance. */
function stackOf(instance: object): Stack {
  const [stack] = appOf(instance).node.children.filter(Stack.isStack);
  if (stack === undefined) throw new Error('expected a stack');
  return stack;
}

/** The template of an instance, synthesized once, since most tests use the same few instances. */
export function templateOf(instance: object): Template {
  const asJson = JSON.stringify(instance);
  const template = templates.get(asJson) ?? Template.fromStack(stackOf(instance));
  templates.set(asJson, template);
  return template;
}

const templates = new Map<string, Template>();

export type Resource = { readonly Type: string; readonly Properties: Readonly<Record<string, unknown>> };

export const resourcesOf = (template: Template): readonly (readonly [string, Resource])[] =>
  Object.entries(template.toJSON()['Resources'] as Record<string, Resource>);

/** The properties of all resources of a type. */
export const propertiesOf = (template: Template, type: string) =>
  Object.values(template.findResources(type)).map(({ Properties }) => Properties);
