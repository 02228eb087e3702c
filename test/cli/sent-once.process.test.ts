import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { codePackages } from '../../lib/sandbox/platform/functions/packages.ts';
import { type Sandbox, startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { beginCommand } from './run-command.ts';
import { spawnCommand } from './spawn-command.ts';

const folder = folderOfEach();
let sandbox: Sandbox;
let id: string;

beforeEach(async () => {
  sandbox = await startPlatform({ calculations: 3, fileSets: 0, dataFiles: 0, latencyMs: 2_000 });
  id = /"id":(\d+)/.exec(sandbox.calculations().next().value ?? '')?.[1] ?? '';
  await writeFile(join(folder.path, 'formula'), 'SUM(`a`)');
});

afterEach(() => sandbox.close());

const call = () => [
  'call',
  codePackages[0]?.id ?? '',
  '1.0.0',
  'addNumbers',
  '--input',
  '{"first":1,"second":2}',
];
const set = () => ['formula', 'set', id, join(folder.path, 'formula'), '--force'];

const settingsWith = (settings: Readonly<Record<string, string>>) => ({
  PLATFORM_BASE_URL: sandbox.url,
  PLATFORM_TOKEN: sandbox.token,
  SYNC_STORE: folder.path,
  LOG_LEVEL: 'silent',
  ...settings,
});

const start = (argv: readonly string[], settings = {}) => spawnCommand(argv, settingsWith(settings));
const startHere = (argv: readonly string[], settings = {}) => beginCommand(argv, settingsWith(settings));

const requestSent = () =>
  vi.waitFor(() => expect(sandbox.counts().requests).toBe(1), { interval: 5, timeout: 20_000 });

describe.each([
  [
    'call',
    call,
    /1 response\(s\) of functions, at most 3\d\d s/,
    'the function may have run, or may still be running',
    /what the function changes/,
  ],
  [
    'formula set',
    set,
    /1 response\(s\) to updates of formulas, at most \d\d s/,
    'the formula may be set',
    /calculation \d+ on the platform/,
  ],
] as const)('%s', (_, argv, waitedFor, mayHave, lookAt) => {
  test('waits for the response of a sent request at the first Ctrl-C, and says so', async () => {
    const child = start(argv());
    const [stderr, stdout] = [text(child.stderr), text(child.stdout)];
    await requestSent();
    child.kill('SIGINT');

    const [code] = await once(child, 'exit');

    expect(code).toBe(argv === call ? 0 : 1);
    expect(await stderr).toMatch(/^stopping: waiting for 1 response/);
    expect(await stderr).toMatch(waitedFor);
    expect(await stdout).not.toBe('');
  });

  test('says after a timeout that the request may have taken effect, and what to check', async () => {
    const { ended, err } = startHere(argv(), { PLATFORM_TIMEOUT_MS: '500' });
    if (argv === call) {
      // The timeout of functions is fixed, so the connection is broken instead: the outcome is just as unknown.
      await requestSent();
      await sandbox.close();
    }

    expect((await ended).code).toBe(1);
    expect(err()).toContain(`  the request was sent: ${mayHave}. Before you run the command again, look at `);
    expect(err()).toMatch(lookAt);
  });
});

test('call ends immediately at the second Ctrl-C, and says what may have happened', async () => {
  const child = start(call());
  const stderr = text(child.stderr);
  await requestSent();
  child.kill('SIGINT');
  await delay(400);
  child.kill('SIGINT');

  const [, signal] = await once(child, 'exit');

  expect(signal).toBe('SIGINT');
  expect(await stderr).toMatch(/^ended immediately; lost: 1 response.+, which may .+: check /m);
});

test('call says if its request was never sent', async () => {
  const { ended, err, interrupt } = startHere(call(), { PLATFORM_BASE_URL: 'http://127.0.0.1:9' });
  await delay(500);
  interrupt();

  expect((await ended).code).toBe(130);
  expect(err()).toContain(
    'interrupted: stopped as requested\n  nothing took effect, so you can run the command again',
  );
});

test('call says that nothing took effect if the platform refuses the request', async () => {
  const { ended, err } = startHere(call(), { PLATFORM_TOKEN: 'another-token' });

  expect((await ended).code).toBe(1);
  expect(err()).toContain('nothing took effect');
});

test('score says at the first Ctrl-C which paid responses it waits for, and does not pay for them again', async () => {
  const file = join(folder.path, 'reviews.csv');
  await writeFile(file, `text\n${Array.from({ length: 4 }, (_, index) => `text ${index}\n`).join('')}`);
  const argv = ['score', file, '--text', 'text', '--batch', 'reviews'];
  const settings = { PLATFORM_RATE: '1000', PLATFORM_CONCURRENCY: '2' };
  const child = start(argv, settings);
  const stderr = text(child.stderr);
  await vi.waitFor(() => expect(sandbox.counts().requests).toBeGreaterThan(0), {
    interval: 5,
    timeout: 20_000,
  });
  child.kill('SIGINT');

  const [code] = await once(child, 'exit');
  const [ended] = await once(start(argv, settings), 'exit');

  expect(code).toBe(130);
  expect(await stderr).toMatch(
    /^stopping: waiting for \d paid response\(s\), at most (?:60|5\d) s; Ctrl-C again ends immediately$/m,
  );
  expect(ended).toBe(0);
  expect(sandbox.counts().requests).toBe(4);
});
