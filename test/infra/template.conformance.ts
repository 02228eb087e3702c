import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { enginesOf } from '../base/aws/engines.ts';
import { linesOf } from '../run-program.ts';
import { appOf, full, minimal, packageId, within } from './instances.ts';

const REGIONS = [
  'us-east-1',
  'us-west-2',
  'eu-central-1',
  'eu-west-1',
  'ap-southeast-2',
  'sa-east-1',
] as const;

const target = { packageId, packageVersion: '1.0.0', functionName: 'f' };

/** Configurations that together include each resource, and omit each optional one. */
const configurations = {
  minimal,
  full,
  within,
  trial: { ...minimal, removal: 'destroy' },
  'fixed-address': { ...minimal, fixedAddress: true },
  schedules: {
    ...minimal,
    schedules: [
      { source: 'calculations', cron: '*/30 22-4 ? JAN-NOV MON-SUN 2026-2030', timeZone: 'Asia/Kolkata' },
      { source: 'calculations', cron: '0 3 LW * ? *', name: 'Revenue', as: 'revenue' },
      { source: 'cards', as: 'd1', cron: '0 5 ? * 6L *', datasets: ['cd27b9a0-a9d4-446b-9b16-02103df7f112'] },
    ],
    lifetimes: { runs: 30 },
  },
  events: {
    ...minimal,
    eventRules: [
      {
        ...target,
        name: 'numbers',
        pattern: { source: ['mine'], detail: { size: [{ numeric: ['>', 0, '<=', 5] }, null, 1.5, true] } },
      },
      {
        ...target,
        name: 'texts',
        inputVariables: { key: '$.detail.key', size: { $path: '$.detail.size', $default: null } },
        pattern: {
          source: ['mine'],
          'detail.key': [{ 'anything-but': { suffix: ['.tmp', '.log'] } }, { wildcard: 'a\\*b*' }],
        },
      },
      {
        ...target,
        name: 'branches',
        pattern: { source: ['mine'], $or: [{ a: [{ cidr: '10.0.0.0/24' }] }, { b: [{ exists: false }] }] },
      },
    ],
  },
  operators: {
    ...minimal,
    tokenHeader: 'X-Token',
    allow: { types: ['run-function'] },
    alarms: { topicArn: 'arn:aws:sns:eu-central-1:111122223333:alarms' },
    tags: { 'cost-center': '4711' },
  },
} as const;

/** Warnings that do not affect a deployment, with the reason. */
const accepted: Readonly<Record<string, string>> = {
  W3005: 'CDK lists dependencies that a reference implies too',
  W3037: "cfn-lint's list of actions lacks one that the API has",
};

/** Actions that AWS documents and cfn-lint does not list, in lower case as it prints them. */
const UNLISTED_ACTIONS = ['describealarmcontributors'];

const isAccepted = ({ Level, Message, Rule }: Finding): boolean => {
  if (Level === 'Error' || accepted[Rule.Id] === undefined) return false;
  return (
    Rule.Id !== 'W3037' || UNLISTED_ACTIONS.some((action) => Message.startsWith(`'${action}' is not one of`))
  );
};

type Finding = {
  readonly Filename: string;
  readonly Level: string;
  readonly Message: string;
  readonly Rule: { readonly Id: string };
  readonly Location: { readonly Path: readonly (string | number)[] };
};

let folder = '';
let findings: readonly Finding[] = [];

const fileOf = (name: string) => join(folder, `${name}.json`);

beforeAll(async () => {
  const { cfnLint } = enginesOf(process.env);
  if (cfnLint === undefined) throw new Error('expected the engine cfnLint');
  folder = await mkdtemp(join(tmpdir(), 'platform-sync-templates-'));
  for (const [name, instance] of Object.entries(configurations)) {
    const [stack] = appOf(instance).synth().stacks;
    await writeFile(fileOf(name), JSON.stringify(stack?.template));
  }
  const files = Object.keys(configurations).map(fileOf);
  const options = ['--include-experimental', '--non-zero-exit-code', 'none', '--format', 'json'];
  const output = await linesOf([
    ...cfnLint.command,
    ...options,
    '--regions',
    ...REGIONS,
    '--template',
    ...files,
  ]);
  findings = JSON.parse(output.join('\n'));
}, 300_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

test.each(Object.keys(configurations))(
  'the template %s has no errors, and only accepted warnings',
  (name) => {
    const found = findings.filter(({ Filename }) => Filename === fileOf(name));

    expect(
      found
        .filter((finding) => !isAccepted(finding))
        .map(({ Rule, Location, Message }) => `${Rule.Id} ${Location.Path.join('.')}: ${Message}`),
    ).toEqual([]);
  },
);

test('each accepted warning still appears', () => {
  expect(new Set(findings.map(({ Rule }) => Rule.Id))).toEqual(new Set(Object.keys(accepted)));
});
