import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { checks } from '../../lib/cli/doctor/checks.ts';
import { openBudget } from '../../lib/pace/stored-budget.ts';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { openSession } from '../../lib/session.ts';
import { readSettings } from '../../lib/settings.ts';
import { StoreError } from '../../lib/store/error.ts';
import { openStore } from '../../lib/store/open.ts';
import { startTestAws } from '../base/aws/start-test-aws.ts';
import { folderOfAll } from '../folder-of-each.ts';
import { refusal, startJsonServer } from '../local-aws/services/json-server.ts';
import { startAws } from '../local-aws/services/start-aws.ts';
import { refusedAt } from '../pace/throttled.ts';
import { createMemoryStore } from '../store/memory-store.ts';
import { runCommand, settingsOf } from './run-command.ts';

const folder = folderOfAll();
const running = new AsyncDisposableStack();
const NONE = { calculations: 3, datasets: 1, cards: 0, fileSets: 0, dataFiles: 0 } as const;

const platform = running.use(await startPlatform(NONE));
const aws = await startTestAws({
  buckets: ['bucket'],
  queues: [
    { name: 'dead' },
    { name: 'jobs', deadLetter: { queue: 'dead', maxReceiveCount: 1_000 } },
    { name: 'few', deadLetter: { queue: 'dead', maxReceiveCount: 3 } },
    { name: 'own' },
  ],
  tables: ['ledger'],
});
running.defer(aws.close);
const settings = {
  ...aws.settings,
  ...settingsOf(platform, `s3://${aws.bucket('bucket')}/acme`),
  SYNC_TABLE: 'ledger',
  SYNC_QUEUE_URL: aws.queueUrl('jobs'),
  SYNC_DEAD_LETTER_URL: aws.queueUrl('dead'),
};

afterAll(() => running.disposeAsync());

async function doctor(changed: Readonly<Record<string, string>> = {}, flags: readonly string[] = []) {
  return runCommand(['doctor', ...flags], { ...settings, ...changed });
}

/** Settings with a folder as the store, and neither a queue nor a table of their own. */
const ALONE = {
  SYNC_TABLE: '',
  SYNC_QUEUE_URL: '',
  SYNC_DEAD_LETTER_URL: '',
  SYNC_STORE: join(folder, 'store'),
};

const checkInput = () => ({
  environment: settings,
  settings: readSettings(settings),
  session: openSession({ environment: settings, err: () => undefined }),
  firstRead: async () => undefined,
  now: Date.now,
  signal: new AbortController().signal,
});

const statuses = (out: string) =>
  Object.fromEntries(
    [...out.matchAll(/^(\w+) +(ok|failed|skipped)/gm)].map(([, name, status]) => [name, status]),
  );

test('doctor runs each check in its order and exits 0 if all is well', async () => {
  const { code, out } = await doctor();

  expect(Object.entries(statuses(out))).toEqual([
    ['settings', 'ok'],
    ['packages', 'skipped'],
    ['proxy', 'skipped'],
    ['host', 'ok'],
    ['token', 'ok'],
    ['clock', 'ok'],
    ['bucket', 'ok'],
    ['queue', 'ok'],
    ['table', 'ok'],
    ['pace', 'ok'],
    ['catalog', 'skipped'],
    ['rights', 'ok'],
  ]);
  expect(code).toBe(0);
});

test('doctor names the operations that are throttled separately', async () => {
  const { host } = new URL(settings.PLATFORM_BASE_URL);
  const item = await openBudget({ table: 'ledger', host, environment: aws.settings, attempts: 5 });
  const atMs = Date.UTC(2026, 10, 29, 8);
  const operations = { analyzeSentiment: { aloneSinceMs: atMs, refusedAtMs: Date.now() }, runFunction: {} };
  await item.change('set', (budget) => ({ ...budget, operations }));
  await item.of?.('analyzeSentiment').change('set', (own) => ({ ...own, throttle: refusedAt(Date.now()) }));

  const { code, out } = await doctor();

  expect(out).toContain(
    'analyzeSentiment: throttled on its own since 2026-11-29T08:00:00.000Z: one call at a time until one succeeds',
  );
  expect(out).not.toContain('runFunction');
  expect(code).toBe(0);
});

test('if only a folder is configured, it holds the queue and the table, and --json prints one value', async () => {
  const { code, out } = await doctor(ALONE);
  const { well, checks } = JSON.parse((await doctor(ALONE, ['--json'])).out);

  expect(well).toBe(true);
  expect(checks[0]).toEqual({ name: 'settings', status: 'ok', detail: expect.any(String) });
  expect(checks.at(-1).name).toBe('rights');
  expect(statuses(out)).toMatchObject({ bucket: 'ok', queue: 'ok', table: 'ok' });
  expect(out).toContain('with an older copy of this file, requests');
  expect(code).toBe(0);
});

describe('doctor says what to do and exits 1', () => {
  const occupied = join(folder, 'a-file');
  writeFileSync(occupied, '');

  test.each([
    [
      'wrong settings',
      { PLATFORM_RATE: 'fast' },
      { settings: 'failed', host: 'skipped', rights: 'skipped' },
      'PLATFORM_RATE: expected a number',
    ],
    [
      'a host that is unavailable',
      { ...ALONE, PLATFORM_BASE_URL: 'http://127.0.0.1:9' },
      { host: 'failed', token: 'skipped', clock: 'skipped', bucket: 'ok' },
      '→ check PLATFORM_BASE_URL',
    ],
    [
      'a wrong token',
      { ...ALONE, PLATFORM_TOKEN: 'revoked-long-ago' },
      { host: 'ok', token: 'failed', clock: 'ok', rights: 'skipped' },
      '→ check the token in PLATFORM_TOKEN',
    ],
    [
      'a bucket that does not exist',
      { SYNC_STORE: 's3://nobody-has-this-bucket' },
      { bucket: 'failed', queue: 'ok' },
      '→ create the bucket, or change SYNC_STORE',
    ],
    ['a folder that is a file', { ...ALONE, SYNC_STORE: occupied }, { bucket: 'failed' }, 'a directory'],
    [
      'a table that does not exist',
      { SYNC_TABLE: 'no-such-table', PLATFORM_MAX_WAIT_MS: '1000' },
      { table: 'failed' },
      '→ create the table, or change SYNC_TABLE',
    ],
  ] as const)('%s', async (_, changed, expected, words) => {
    const { code, out } = await doctor(changed);

    expect(statuses(out)).toMatchObject(expected);
    expect(out).toContain(words);
    expect(out).not.toContain('revoked-long-ago');
    expect(code).toBe(1);
  });

  test('for a queue that does not exist', async () => {
    const { code, out } = await doctor({ SYNC_QUEUE_URL: `${settings['SYNC_QUEUE_URL']}-gone` });

    expect(statuses(out)).toMatchObject({ queue: 'failed' });
    expect(out).toContain('→ create the queue, or change SYNC_QUEUE_URL');
    expect(code).toBe(1);
  });

  test.each([
    ['few', 'maxReceiveCount is 3, expected 1000'],
    ['own', 'no RedrivePolicy'],
  ])('for a queue that turns jobs into dead letters, or drops them: %s', async (name, words) => {
    const { code, out } = await doctor({ SYNC_QUEUE_URL: aws.queueUrl(name) });

    expect(statuses(out)).toMatchObject({ queue: 'failed', table: 'ok' });
    expect(out).toContain(words);
    expect(out).toContain('→ set RedrivePolicy');
    expect(code).toBe(1);
  });

  test('for a store that ignores conditional writes; it says what breaks, and cleans up', async () => {
    const off = { 's3-conditional-writes': 'an endpoint that ignores them' };
    await using endpoint = await startAws({ buckets: ['bucket'], off });

    const { code, out } = await doctor({ ...endpoint.settings, ...ALONE, SYNC_STORE: 's3://bucket/acme' });

    const left = await openStore('s3://bucket', { s3: endpoint.settings });
    expect(statuses(out)).toMatchObject({ bucket: 'failed' });
    expect(out).toContain(
      'If-None-Match on an existing object; If-Match with the etag of the replaced object',
    );
    expect(out).toContain('two runs that are published at the same time');
    expect(await Array.fromAsync(left.list('acme/work/'))).toEqual([]);
    expect(code).toBe(1);
  });

  test.each<[{ algorithm: string; key?: string }, string]>([
    [{ algorithm: 'AES256' }, '→ set SYNC_ENCRYPTION=AES256'],
    [{ algorithm: 'aws:kms' }, '→ set SYNC_ENCRYPTION=aws:kms,'],
    [{ algorithm: 'aws:kms', key: 'theirs' }, 'the bucket’s policy may require aws:kms:KEY'],
  ])('for a bucket that only accepts puts with %j, until that is configured', async (demands, words) => {
    await using endpoint = await startAws({ buckets: [{ name: 'strict', demands }] });
    const environment = { ...endpoint.settings, ...ALONE, SYNC_STORE: 's3://strict/acme' };

    const refused = await doctor(environment);
    const SYNC_ENCRYPTION = [demands.algorithm, demands.key ?? []].flat().join(':');
    const well = await doctor({ ...environment, SYNC_ENCRYPTION });

    expect(statuses(refused.out)).toMatchObject({ bucket: 'failed' });
    expect(refused.out).toContain(words);
    expect(statuses(well.out)).toMatchObject({ bucket: 'ok' });
  });

  test('for Lake Formation, which does not open tables to a role with IAM rights alone', async () => {
    await using glue = await startJsonServer(() =>
      refusal(
        'AccessDeniedException',
        'Insufficient Lake Formation permission(s): Required Describe on stored_changes',
      ),
    );

    const { out } = await doctor({ SYNC_GLUE_DATABASE: 'acme', AWS_ENDPOINT_URL_GLUE: glue.endpoint });

    expect(statuses(out)).toMatchObject({ catalog: 'failed', rights: 'ok' });
    expect(out).toContain('look at acme.stored_changes: AccessDeniedException: Insufficient Lake Formation');
    expect(out).toContain('→ grant this role DESCRIBE');
  });

  test.each([
    ['denied', 'AccessDenied', 'so conditional writes were not tested'],
    ['other', '501 NotImplemented', 'overwrite each other’s'],
  ] as const)('for a store that refuses writes (%s) or conditional writes', async (kind, code, words) => {
    const store = createMemoryStore();
    const refuse = new StoreError('put', { kind, code });
    const put: typeof store.put = (key, body, given) =>
      kind === 'denied' || given?.condition ? Promise.reject(refuse) : store.put(key, body, given);

    const finding = await checks.bucket.check({
      ...checkInput(),
      session: { ...checkInput().session, store: async () => ({ ...store, put }) },
    });

    expect(finding.status).toBe('failed');
    expect(JSON.stringify(finding)).toContain(code);
    expect(JSON.stringify(finding)).toContain(words);
    expect([...store.objects.keys()]).toEqual([]);
  });

  test('for a token that may not read', async () => {
    await using other = await startPlatform({ ...NONE, forbidden: ['listCards', 'getDataFile'] });

    const { code, out } = await doctor({ ...ALONE, PLATFORM_BASE_URL: other.url });

    expect(statuses(out)).toMatchObject({ token: 'ok', rights: 'failed' });
    expect(out).toContain('may not read cards, data files (403)');
    expect(code).toBe(1);
  });
});

test('doctor fails if the clock is off by minutes', async () => {
  expect(await checks.clock.check({ ...checkInput(), now: () => Date.now() - 300_000 })).toMatchObject({
    status: 'failed',
    detail: expect.stringMatching(/^(299|300|301) s behind the platform’s$/),
    advice: expect.stringContaining('NTP'),
  });
});

test('doctor names a proxy and what goes through it', async () => {
  const checked = { ...checkInput(), environment: { ...settings, HTTPS_PROXY: 'http://me:hush@proxy:3128' } };
  const PLATFORM_BASE_URL = 'https://acme.example.com';

  expect(
    await checks.proxy.check({ ...checked, settings: { ...checked.settings, PLATFORM_BASE_URL } }),
  ).toEqual({
    status: 'ok',
    detail: expect.stringMatching(
      /^acme\.example\.com through http:\/\/proxy:3128, 127\.0\.0\.1:\d+ directly, /,
    ),
  });
});
