import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { checkClock } from '../../lib/cli/doctor/checks.ts';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { openSession } from '../../lib/session.ts';
import { readSettings } from '../../lib/settings.ts';
import { startTestAws } from '../base/aws/start-test-aws.ts';
import { folderOfAll } from '../folder-of-each.ts';
import { runCommand, settingsOf } from './run-command.ts';

const folder = folderOfAll();
const running = new AsyncDisposableStack();
const NONE = { calculations: 3, datasets: 1, cards: 0, fileSets: 0, dataFiles: 0 } as const;

const platform = running.use(await startPlatform(NONE));
const aws = await startTestAws({
  buckets: ['bucket'],
  queues: [{ name: 'jobs' }, { name: 'dead' }],
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

/** Nothing but a folder. */
const ALONE = {
  SYNC_TABLE: '',
  SYNC_QUEUE_URL: '',
  SYNC_DEAD_LETTER_URL: '',
  SYNC_STORE: join(folder, 'store'),
};

/** Each check with its status, and of a failed one what it says. */
const statuses = (out: string) =>
  Object.fromEntries(
    [...out.matchAll(/^(\w+) +(ok|failed|skipped)/gm)].map(([, name, status]) => [name, status]),
  );

test('all is well: each check in its order, exit 0', async () => {
  const { code, out } = await doctor();

  expect(Object.entries(statuses(out))).toEqual([
    ['settings', 'ok'],
    ['host', 'ok'],
    ['token', 'ok'],
    ['clock', 'ok'],
    ['bucket', 'ok'],
    ['queue', 'ok'],
    ['table', 'ok'],
    ['rights', 'ok'],
  ]);
  expect(code).toBe(0);
});

test('with nothing but a folder the queue and the table are in it, and --json prints one value', async () => {
  const { code, out } = await doctor(ALONE);
  const { well, checks } = JSON.parse((await doctor(ALONE, ['--json'])).out);

  expect(well).toBe(true);
  expect(checks[0]).toEqual({ name: 'settings', status: 'ok', detail: expect.any(String) });
  expect(checks.at(-1).name).toBe('rights');
  expect(statuses(out)).toMatchObject({ bucket: 'ok', queue: 'ok', table: 'ok' });
  expect(out).toContain('restored from an older copy');
  expect(code).toBe(0);
});

describe('says what to do, exit 1:', () => {
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
      'a host that is away',
      { ...ALONE, PLATFORM_BASE_URL: 'http://127.0.0.1:9' },
      { host: 'failed', token: 'skipped', clock: 'skipped', bucket: 'ok' },
      '→ check PLATFORM_BASE_URL',
    ],
    [
      'a wrong token',
      { ...ALONE, PLATFORM_TOKEN: 'revoked-long-ago' },
      { host: 'ok', token: 'failed', clock: 'ok', rights: 'skipped' },
      '→ the token is the one in PLATFORM_TOKEN',
    ],
    [
      'a bucket that is none',
      { SYNC_STORE: 's3://nobody-has-this-bucket' },
      { bucket: 'failed', queue: 'ok' },
      '→ create the bucket, or change SYNC_STORE',
    ],
    ['a folder that is a file', { ...ALONE, SYNC_STORE: occupied }, { bucket: 'failed' }, 'a directory'],
    [
      'a table that is none',
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

  test('a queue that is none', async () => {
    const { code, out } = await doctor({ SYNC_QUEUE_URL: `${settings['SYNC_QUEUE_URL']}-gone` });

    expect(statuses(out)).toMatchObject({ queue: 'failed' });
    expect(out).toContain('→ create the queue, or change SYNC_QUEUE_URL');
    expect(code).toBe(1);
  });

  test('a token that may not read', async () => {
    await using other = await startPlatform({ ...NONE, forbidden: ['listCards', 'getDataFile'] });

    const { code, out } = await doctor({ ...ALONE, PLATFORM_BASE_URL: other.url });

    expect(statuses(out)).toMatchObject({ token: 'ok', rights: 'failed' });
    expect(out).toContain('may not read cards, data files (403)');
    expect(code).toBe(1);
  });
});

test('a clock that is off by minutes fails', async () => {
  const examined = {
    environment: settings,
    settings: readSettings(settings),
    session: openSession({ environment: settings, err: () => undefined }),
    firstRead: async () => undefined,
    now: () => Date.now() - 300_000,
    signal: new AbortController().signal,
  };

  expect(await checkClock(examined)).toMatchObject({
    status: 'failed',
    detail: expect.stringMatching(/^(299|300|301) s behind the platform’s$/),
    advice: expect.stringContaining('NTP'),
  });
});
