import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../infra/config.ts';
import { homeOf } from '../../infra/config-arns.ts';
import { messageOf } from '../../infra/config-schedules.ts';
import { followersOf } from '../../infra/schedules.ts';
import { readAllow } from '../../lib/jobs/allow.ts';
import { parseMessage } from '../../lib/jobs/message/message.ts';
import { readFollowers } from '../../lib/jobs/types/snapshot/open-snapshots.ts';
import { filesetId, full, minimal, packageId } from './instances.ts';

function faultsOf(context: unknown): readonly string[] {
  try {
    readConfig(context);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

const faultsIn = (instance: object) => faultsOf({ instances: [{ ...minimal, ...instance }] });

describe('the configuration', () => {
  test('may be an object, or JSON from -c', () => {
    expect(readConfig({ instances: [minimal] })).toEqual(
      readConfig(JSON.stringify({ instances: [minimal] })),
    );
  });

  test('has the documented defaults', () => {
    expect(readConfig({ instances: [minimal] })[0]).toMatchObject({
      rate: 2,
      concurrency: 8,
      compression: 'gzip',
      logLevel: 'info',
      schedules: [],
      eventRules: [],
      fixedAddress: false,
    });
  });

  test('accepts everything that can be set', () => {
    expect(faultsOf({ instances: [full, minimal] })).toEqual([]);
  });

  test('reports all faults together: the field, what was expected, and what it got', () => {
    const faults = faultsOf({
      instances: [
        { ...minimal, baseUrl: 'http://acme.example.com', rate: 0, rateCeiling: 'all', rat: 3 },
        {
          ...minimal,
          workers: 3,
          schedules: [
            { source: 'calculations', cron: '0 2 * * *', name: 'Revenue' },
            { source: 'files', cron: '0 2 * * ? *', filesets: ['no-uuid'], immediate: true },
            { source: 'cards', cron: '0 2 * * ? *' },
            { source: 'cards', accept: ['no-such-reason'] },
            { source: 'reports' },
          ],
          eventRules: [
            { name: 'rule', pattern: { a: [] }, packageId: 'x', packageVersion: '1', functionName: 'f' },
          ],
          lifetimes: { work: 3, logs: 8 },
          alarms: { email: 'nobody' },
        },
      ],
    });

    expect(faults).toEqual([
      'instances.0.baseUrl: expected an origin over https, such as https://acme.example.com, without path, query or user, got "http://acme.example.com"',
      'instances.0.rate: expected a number from 0.001 to 10000, got 0',
      'instances.0.rateCeiling: expected a number from 0.001 to 10000, got "all"',
      'instances.0.rat: expected no such field, got 3',
      'instances.1.schedules.0 (calculations).cron: expected a cron expression of six fields, such as 0 2 * * ? *, with ? for one of the two days, got "0 2 * * *"',
      'instances.1.schedules.1 (files).filesets.0: expected a UUID (8-4-4-4-12 hex digits), got "no-uuid"',
      'instances.1.schedules.3 (cards).accept.0: expected one of empty, shrunk, degraded, type, selection, platform, unproved, incomplete, future, broken, got "no-such-reason"',
      'instances.1.schedules.4 (reports).source: expected a schedule of calculations, files, cards or data-files, got "reports"',
      'instances.1.eventRules.0 (rule).pattern.a: expected an object of fields, each with a list of matching values or a further object, got []',
      'instances.1.eventRules.0 (rule).packageId: expected the UUID of a package, got "x"',
      'instances.1.lifetimes.work: expected a whole number from 15 to 3650, got 3',
      'instances.1.lifetimes.logs: expected one of 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653, got 8',
      'instances.1.alarms.email: expected an e-mail address of at most 320 characters, got "nobody"',
      'instances.1.name: expected a name that no other instance has, got "least"',
      'instances.1.schedules.0 (calculations).as: expected its own place, since name or filters narrows the snapshot, got nothing',
      'instances.1.schedules.1 (files).directory: expected a directory, since immediate is given, got nothing',
      'instances.1.schedules.2 (cards).cron: expected no cron: a schedule of cards without datasets runs right after the calculations, got "0 2 * * ? *"',
      'instances.1.schedules.3 (cards).as: expected a place that no other schedule has, got nothing',
      expect.stringMatching(
        /^instances.1.eventRules.0 \(rule\).pattern: expected a pattern that does not match/,
      ),
      'instances.1.workers: expected at least 9: 2 for jobs, 2 for code functions, 1 for each schedule, got 3',
    ]);
  });

  test.each([
    ['nothing', undefined, 'platform-sync: expected an object of instances, got nothing'],
    ['no JSON', '{', 'platform-sync: expected JSON, got invalid JSON (1 characters)'],
    ['no instance', { instances: [] }, 'instances: expected at least one instance, got []'],
  ])('reports %s as a fault', (_, context, fault) => {
    expect(faultsOf(context)).toEqual([fault]);
  });

  test.each([
    ['a partial ARN', { tokenSecretArn: 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:acme' }],
    [
      'an unknown time zone',
      { schedules: [{ source: 'calculations', cron: '0 2 * * ? *', timeZone: 'Mars' }] },
    ],
    ['an invalid path', { eventRules: [{ ...full.eventRules[1], inputVariables: { a: '$.detail.*' } }] }],
    ['a name with <', { eventRules: [{ ...full.eventRules[1], inputVariables: { a: { '<b': 1 } } }] }],
    ['a number that is rounded', { eventRules: [{ ...full.eventRules[1], inputVariables: { a: 2 ** 60 } }] }],
    ['a second rule of the same name', { eventRules: [full.eventRules[1], full.eventRules[1]] }],
    ['an origin with a path', { baseUrl: 'https://acme.example.com/api' }],
    [
      'a data-file id that JSON would round',
      { schedules: [{ source: 'data-files', cron: '0 2 * * ? *', ids: [2 ** 60] }] },
    ],
  ])('refuses %s', (_, instance) => {
    expect(faultsIn(instance)).toHaveLength(1);
  });
});

describe('what EventBridge would reject is rejected at synth', () => {
  test('in a pattern: the error names the rule, the path, what was expected, and what it got', () => {
    const pattern = {
      source: ['aws.s3'],
      detail: { bucket: { name: ['uploads'] }, size: [], key: 'a' },
    };

    expect(faultsIn({ eventRules: [{ ...full.eventRules[1], name: 'uploads', pattern }] })).toEqual([
      'instances.0.eventRules.0 (uploads).pattern.detail.size: expected an object of fields, each with a list of matching values or a further object, got []',
      'instances.0.eventRules.0 (uploads).pattern.detail.key: expected an object of fields, each with a list of matching values or a further object, got "a"',
    ]);
  });

  test('in the values of an event rule: the error names the rule, the path, what was expected, and what it got', () => {
    const inputVariables = {
      a: '$5',
      b: [
        { $path: '$.detail.b', $optional: true },
        { $path: '$.detail.b', default: 0 },
      ],
      c: { text: '<b>' },
      d: { $path: '$.detail.d', $default: { $any: '$' } },
      'not-$-first': { path: '$.detail.e', default: { $constant: '$e' } },
    };

    expect(faultsIn({ eventRules: [{ ...full.eventRules[1], inputVariables }] })).toEqual([
      'instances.0.eventRules.0 (bare).inputVariables.a: expected a path such as $.detail.object.key; to pass a string that begins with $ as it is, use {"$constant": …}, got "$5"',
      'instances.0.eventRules.0 (bare).inputVariables.b.0: expected a field with a `$default`, since leaving out a list entry would shift the entries after it, got {"$path":"$.detail.b","$optional":true}',
      'instances.0.eventRules.0 (bare).inputVariables.b.1: expected one of {"$path": …}, {"$path": …, "$default": …}, {"$path": …, "$optional": true} and {"$constant": …}, since a name begins with $, got {"$path":"$.detail.b","default":0}',
      'instances.0.eventRules.0 (bare).inputVariables.c.text: expected no < or >, between which EventBridge inserts a variable, got "<b>"',
    ]);
  });
});

describe('synth accepts exactly what the functions accept:', () => {
  const [instance] = readConfig({ instances: [full] });

  test('each schedule becomes a job', () => {
    const kinds = (instance?.schedules ?? []).map(
      (schedule) => parseMessage(JSON.stringify(messageOf(schedule)), { messageId: 'm', allow: {} }).kind,
    );

    expect(kinds).toEqual(['job', 'job', 'job', 'job', 'job', 'job']);
  });

  test('a schedule may contain everything that a message may, and its message is unchanged', () => {
    const request = {
      source: 'files',
      as: 'large',
      filesets: [filesetId.toUpperCase()],
      where: [{ field: 'size', operator: 'greater_than', value: ['1000'] }],
      since: '2026-11-21',
      until: '2026-11-22T09:15:00+01:00',
    };

    const [narrowed] = readConfig({
      instances: [{ ...minimal, schedules: [{ ...request, cron: '0 2 * * ? *' }] }],
    });

    const [message] = (narrowed?.schedules ?? []).map(messageOf);
    expect(message).toEqual({ version: 1, type: 'snapshot', ...request });
    expect(parseMessage(JSON.stringify(message), { messageId: 'm', allow: {} })).toMatchObject({
      job: { filesets: [filesetId], since: '2026-11-21T00:00:00.000Z', until: '2026-11-22T08:15:00.000Z' },
    });
  });

  test('a schedule may not contain what a message may not', () => {
    const wrong = { source: 'files', since: 'June', where: [{ field: 'size' }], fileset: 'x' };

    expect(faultsIn({ schedules: [wrong] })).toEqual([
      'instances.0.schedules.0 (files).filesets: expected a list of FileSet ids, got nothing',
      'instances.0.schedules.0 (files).where.0.operator: expected text, got nothing',
      'instances.0.schedules.0 (files).where.0.value: expected a list of texts, got nothing',
      'instances.0.schedules.0 (files).since: expected a date such as 2026-11-21 or 2026-11-21T09:15:00Z, got "June"',
      'instances.0.schedules.0 (files).fileset: expected no such field, got "x"',
      'instances.0.schedules.0 (files).as: expected a name, since the schedule does not copy the whole source, got nothing',
      'instances.0.schedules.0 (files).cron: expected a cron expression of six fields, such as 0 2 * * ? *, with ? for one of the two days, got nothing',
    ]);
  });

  test('a schedule of cards that sets no datasets follows the snapshots of calculations', () => {
    expect(readFollowers(followersOf(instance?.schedules ?? []))).toMatchObject([
      { type: 'snapshot', source: 'cards', drill: true },
    ]);
  });

  test('functions read the setting `allow` as synth does', () => {
    expect(readAllow(JSON.stringify(instance?.allow))).toEqual(full.allow);
  });

  test.each([
    ['6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403/1.0.0/x', true],
    ['6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403/1.0.0/x/y', false],
    ['6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403/1.0.0/', false],
    ['6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403//x', false],
    ['x', true],
    ['x/y', false],
  ])('both accept %s in `allow.functions`: %s', (entry, isAccepted) => {
    const allow = { functions: [entry] };
    const read = () => readAllow(JSON.stringify(allow));

    expect(faultsIn({ allow }).length === 0).toBe(isAccepted);
    if (isAccepted) expect(read()).toEqual(allow);
    else expect(read).toThrow('SYNC_ALLOW.functions.0: expected ');
  });
});

describe('settings that depend on each other', () => {
  const nightly = { source: 'calculations', cron: '0 2 * * ? *' };
  const at = 'instances.0.';

  test.each([
    [
      'schedules whose jobs are not allowed',
      { schedules: [nightly], allow: { types: ['score'] } },
      'allow.types: expected snapshot in the list, or no schedules, got ["score"]',
    ],
    [
      'an event rule whose jobs are not allowed',
      { eventRules: [full.eventRules[1]], allow: { types: ['snapshot'] } },
      'allow.types: expected run-function in the list, or no eventRules, got ["snapshot"]',
    ],
    [
      'an event rule of a function that is not allowed',
      { eventRules: [full.eventRules[1]], allow: { functions: ['g'] } },
      'eventRules.0 (bare).functionName: expected a value that allow lists (add it there), got "f"',
    ],
    [
      'an event rule of a package that is not allowed',
      { eventRules: [full.eventRules[1]], allow: { packages: [filesetId] } },
      `eventRules.0 (bare).packageId: expected a value that allow lists (add it there), got "${packageId}"`,
    ],
    [
      'cards that follow calculations without a schedule',
      { schedules: [{ ...nightly, name: 'Revenue', as: 'revenue' }, { source: 'cards' }] },
      'schedules.1 (cards).source: expected a source that has its own ids and cron, or a schedule of all calculations for it to follow, got "cards"',
    ],
    [
      'a time limit that every run misses',
      { schedules: [{ ...nightly, publishedWithinHours: 24 }] },
      'schedules.0 (calculations).publishedWithinHours: expected more than 24, the hours between two runs of its cron; with fewer, the alarm would go off each time, got 24',
    ],
    [
      'a day that no month has',
      { schedules: [{ ...nightly, cron: '0 2 30 2 ? *' }] },
      'schedules.0 (calculations).cron: expected a cron expression that matches a date in 2026 or later, got "0 2 30 2 ? *"',
    ],
    [
      'a year that is over',
      { schedules: [{ ...nightly, cron: '0 2 * * ? 2020' }] },
      'schedules.0 (calculations).cron: expected a cron expression that matches a date in 2026 or later, got "0 2 * * ? 2020"',
    ],
    [
      'event rules without the queue of code functions',
      { eventRules: full.eventRules, functionsQueue: false },
      'functionsQueue: expected true or absent: event rules send to this queue, got false',
    ],
    [
      'digests without the report, which they name',
      { schedules: [{ ...nightly, digest: true }], writeReport: false },
      'schedules.0 (calculations).digest: expected false or absent, since writeReport is false, got true',
    ],
    [
      'digests that are neither wanted nor not',
      { schedules: [{ ...nightly, digest: 'daily' }] },
      'schedules.0 (calculations).digest: expected true or false, got "daily"',
    ],
    [
      'tags that IAM takes for one',
      { tags: { team: 'a', Team: 'b' } },
      'tags.Team: expected a name that differs from team by more than letter case: IAM keeps only one of the two, got "b"',
    ],
  ])('are refused if they contradict each other: %s', (_, instance, fault) => {
    expect(faultsIn(instance)).toEqual([`${at}${fault}`]);
  });

  test('are accepted if they agree', () => {
    const allow = { packages: [packageId.toUpperCase()], functions: [`${packageId}/1.0.0/f`] };

    expect(
      faultsIn({
        schedules: [{ ...nightly, publishedWithinHours: 25, digest: true }, { source: 'cards' }],
        eventRules: [full.eventRules[1]],
        functionsQueue: true,
        allow,
        tags: { team: 'a', teams: 'b' },
      }),
    ).toEqual([]);
    expect(faultsIn({ functionsQueue: false })).toEqual([]);
  });
});

describe('an ARN in the configuration', () => {
  const key = 'arn:aws:kms:eu-central-1:111122223333:key/0b9e4d5e-7d53-4c0d-9d4a-0d8c7f3f1a11';
  const secret = full.tokenSecretArn;

  test('must have the account and region of the instance', () => {
    const instance = {
      region: 'us-east-1',
      account: '111122223333',
      tokenSecretArn: secret,
      tokenKeyArn: key,
    };

    expect(faultsIn({ ...instance, alarms: { topicArn: full.alarms.topicArn } })).toEqual([
      `instances.0.tokenSecretArn: expected a secret in us-east-1, like the rest of the instance, got "${secret.slice(0, 59)}…`,
      `instances.0.tokenKeyArn: expected a key in us-east-1, like the rest of the instance, got "${key.slice(0, 59)}…`,
      'instances.0.alarms.topicArn: expected a topic in us-east-1, like the rest of the instance, got "arn:aws:sns:eu-central-1:111122223333:alarms"',
    ]);
  });

  test('decides the account and region of an instance that sets neither', () => {
    const elsewhere = 'arn:aws:sns:eu-central-1:444455556666:alarms';
    const instance = { tokenSecretArn: secret, alarms: { topicArn: elsewhere } };

    expect(faultsIn(instance)).toEqual([
      'instances.0.account: expected the account of the deployment, since the ARNs are of several accounts (111122223333, 444455556666), got nothing',
    ]);
    expect(faultsIn({ ...instance, account: '111122223333' })).toEqual([]);
    const [read] = readConfig({ instances: [{ ...minimal, tokenSecretArn: secret }] });
    expect(read && homeOf(read)).toEqual({ account: '111122223333', region: 'eu-central-1' });
  });

  test('of a secret in another account requires the ARN of a key, because AWS’s own key cannot be shared', () => {
    const central = { account: '444455556666', tokenSecretArn: secret };

    expect(faultsIn(central)).toEqual([
      'instances.0.tokenKeyArn: expected the ARN of the key, since the token is in another account and AWS’s own key cannot be shared, got nothing',
    ]);
    expect(faultsIn({ ...central, tokenKeyArn: key })).toEqual([]);
  });

  test('of a key is refused if neither a parameter nor a secret is named', () => {
    expect(faultsIn({ tokenKeyArn: key })).toEqual([
      expect.stringMatching(/^instances\.0\.tokenKeyArn: expected tokenParameter or tokenSecretArn as well/),
    ]);
    expect(faultsIn({ tokenKeyArn: key, tokenParameter: '/acme/token' })).toEqual([]);
  });

  test('of a parameter must be in the region of the instance, and cannot be combined with the ARN of a secret', () => {
    const tokenParameter = 'arn:aws:ssm:eu-central-1:111122223333:parameter/acme/token';

    expect(faultsIn({ region: 'us-east-1', account: '111122223333', tokenParameter })).toEqual([
      `instances.0.tokenParameter: expected a parameter in us-east-1, like the rest of the instance, got "${tokenParameter}"`,
    ]);
    expect(faultsIn({ tokenParameter: '/acme/token', tokenSecretArn: secret })).toEqual([
      expect.stringMatching(
        /^instances\.0\.tokenSecretArn: expected no tokenSecretArn, since tokenParameter has the token/,
      ),
    ]);
    const [read] = readConfig({ instances: [{ ...minimal, tokenParameter }] });
    expect(read && homeOf(read)).toEqual({ account: '111122223333', region: 'eu-central-1' });
  });

  test.each([
    ['token', true],
    ['/token', true],
    ['/platform-sync/acme.token_2', true],
    ['arn:aws:ssm:eu-central-1:111122223333:parameter/token', true],
    ['arn:aws-us-gov:ssm:us-gov-west-1:111122223333:parameter/acme/token', true],
    [`/${Array(15).fill('a').join('/')}`, true],
    [`/${Array(16).fill('a').join('/')}`, false],
    [`/${'a'.repeat(900)}`, false],
    ['acme/token', false],
    ['/acme/token/', false],
    ['/acme//token', false],
    ['/acme/token:3', false],
    ['/aws/reference/secretsmanager/token', false],
    ['SSM-token', false],
    ['arn:aws:ssm:eu-central-1:111122223333:parameter/aws/token', false],
    ['arn:aws:ssm:eu-central-1:111122223333:parameter', false],
    [secret, false],
    ['', false],
  ])('or a name is accepted for the parameter of the token (%j): %s', (tokenParameter, isAccepted) => {
    expect(faultsIn({ tokenParameter }).length === 0).toBe(isAccepted);
  });
});

describe('an event rule', () => {
  const faultsOfPattern = (pattern: object, place: object = {}) =>
    faultsIn({ ...place, eventRules: [{ ...full.eventRules[1], pattern }] });
  const s3 = { source: ['aws.s3'], 'detail-type': ['Object Created'] };
  const trail = { 'detail-type': ['AWS API Call via CloudTrail'] };
  const theirs = { bucket: 'lake', prefix: 'teams/acme' };
  const finished = 'platform-sync, JobFinished';
  const stored = 'aws.s3, Object Created';

  test.each<[string, string, object, object?]>([
    ['all that comes from here', finished, { source: ['platform-sync'] }],
    ['all of an account', finished, { account: ['111122223333'] }],
    ['a field alone', finished, { detail: { tags: [{ exists: false }] } }],
    ['functions that fail', finished, { source: ['platform-sync'], detail: { status: ['failed'] } }],
    ['any type but another', finished, { detail: { type: [{ 'anything-but': ['snapshot'] }] } }],
    ['several sources in branches', finished, { $or: [{ source: ['mine'] }, { source: ['yours'] }] }],
    ['a beginning of our source', finished, { source: [{ prefix: 'platform-' }] }],
    ['what another match type may find', finished, { source: [{ wildcard: 'mine*' }] }],
    ['results in a store', finished, { 'detail-type': ['JobFinished'], 'detail.store': ['s3://elsewhere'] }],
    ['what any bucket stores', stored, s3],
    ['all that AWS sends', stored, { source: [{ prefix: 'aws.' }] }],
    ['anything but our ends of jobs', stored, { source: [{ 'anything-but': 'platform-sync' }] }],
    ['any bucket with a name', stored, { ...s3, 'detail.bucket.name': [{ prefix: 'acme-' }] }],
    ['keys of results', stored, { ...s3, detail: { object: { key: [{ prefix: 'results/run-' }] } } }],
    ['keys that end like results', stored, { ...s3, detail: { object: { key: [{ suffix: '.json' }] } } }],
    ['the bucket that is given', stored, { ...s3, detail: { bucket: { name: ['lake'] } } }, theirs],
    ['its folder', stored, { ...s3, 'detail.object.key': [{ prefix: 'teams/' }] }, theirs],
    ['puts that a trail records', 'aws.s3, AWS API', { ...trail, source: ['aws.s3'] }],
    ['rows that a trail records', 'aws.dynamodb, AWS API', { ...trail, source: ['aws.dynamodb'] }],
  ])('that would trigger itself is refused: %s', (_, event, pattern, place) => {
    expect(faultsOfPattern(pattern, place)).toEqual([
      expect.stringContaining(`does not match the events that its own function causes (${event}`),
    ]);
  });

  test.each<[string, object, object?]>([
    ['snapshots that are published', { source: ['platform-sync'], detail: { type: ['snapshot'] } }],
    ['another source', { source: ['mine'] }],
    [
      'another source, or one of several',
      { source: ['mine', { 'anything-but': ['platform-sync', 'aws.s3'] }], 'detail-type': ['Any'] },
    ],
    ['a bucket of others, whatever happens there', { source: ['aws.s3'], 'detail.bucket.name': ['uploads'] }],
    ['another detail-type', { 'detail-type': ['Order Placed'] }],
    ['a bucket of others', { ...s3, detail: { bucket: { name: ['uploads'] } } }],
    ['keys of others', { ...s3, detail: { object: { key: [{ prefix: 'uploads/' }, 'a.csv'] } } }],
    [
      'other folders of the bucket that is given',
      { ...s3, detail: { bucket: { name: ['lake'] }, object: { key: [{ prefix: 'results/' }] } } },
      theirs,
    ],
    [
      'changes of a bucket’s policy',
      { ...trail, source: ['aws.s3'], 'detail.eventName': ['PutBucketPolicy'] },
    ],
    [
      'tables that are created',
      { ...trail, source: ['aws.dynamodb'], detail: { eventName: ['CreateTable'] } },
    ],
  ])('that cannot trigger itself is accepted: %s', (_, pattern, place) => {
    expect(faultsOfPattern(pattern, place)).toEqual([]);
  });
});

test('the JSON schema for editors accepts a configuration that synth accepts, and refuses an unknown name', () => {
  const schema = JSON.parse(readFileSync('infra/config.schema.json', 'utf8'));
  const accepts = new Ajv2020({ strict: false }).compile(schema);
  const withInstances = (...instances: object[]) => ({ context: { 'platform-sync': { instances } } });

  expect(accepts(JSON.parse(readFileSync('cdk.json', 'utf8')))).toBe(true);
  expect(accepts(withInstances(full, minimal))).toBe(true);
  expect(accepts(withInstances({ ...minimal, rat: 3 }))).toBe(false);
  expect(accepts(withInstances({ ...minimal, alarms: { emial: 'a@example.com' } }))).toBe(false);
});
