import { execFileSync } from 'node:child_process';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { parseEnv } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { init } from '../../lib/cli/commands/init.ts';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { createFakeTerminal } from './fake-terminal.ts';
import { beginCommand, runCommand } from './run-command.ts';

const folder = folderOfEach();
const sandbox = await startPlatform({ calculations: 5, datasets: 1, cards: 1, fileSets: 0, dataFiles: 0 });

afterAll(() => sandbox.close());

const CTRL_D = '\u0004';

/** Runs `init` at a terminal. Each answer is typed once, in this order, when the text of its question appears. */
async function answering(answers: readonly (readonly [question: string, typed: string])[], isSandbox?: true) {
  const input = new PassThrough();
  const output = new PassThrough();
  const remaining = [...answers];
  let screen = '';
  let seen = 0;
  output.on('data', (data: Buffer) => {
    screen += data.toString();
    const [next] = remaining;
    if (next === undefined || !screen.slice(seen).includes(next[0])) return;
    seen = screen.length;
    remaining.shift();
    if (next[1] === CTRL_D) input.end();
    else input.write(next[1]);
  });
  const { terminal, out, err } = createFakeTerminal({});
  const ended = await init(
    isSandbox ? { sandbox: isSandbox } : {},
    { ...terminal, dialog: { input, output } },
    folder.path,
  );
  return { ended, out: out(), err: err(), screen };
}

const written = async (name: string) => {
  const file = join(folder.path, `platform-sync.${name}.env`);
  return { settings: parseEnv(await readFile(file, 'utf8')), mode: (await stat(file)).mode & 0o777 };
};

describe('init', () => {
  test('asks for URL, token and store, tries them, and writes them for this user alone', async () => {
    const store = join(folder.path, 'store');

    const { ended, out, err, screen } = await answering([
      ['Address', `${sandbox.url}/\n`],
      ['token', 'sandbox-token\n'],
      ['store', `${store}\n`],
    ]);

    expect(ended).toBe('done');
    expect(await written('127')).toEqual({
      settings: { PLATFORM_BASE_URL: sandbox.url, PLATFORM_TOKEN: 'sandbox-token', SYNC_STORE: store },
      mode: 0o600,
    });
    expect(out.split('\n').slice(1)).toEqual([
      '  platform-sync doctor --profile 127',
      '  platform-sync snapshot calculations --profile 127',
      '  platform-sync report --open --profile 127',
    ]);
    expect(err).toContain('token: accepted');
    expect(screen).not.toContain('sandbox-token');
  });

  test('asks again for the token, and also for its header, if the platform refuses the token', async () => {
    const { ended, err } = await answering([
      ['Address', `${sandbox.url}\n`],
      ['token', 'wrong-token\n'],
      ['header', '\n'],
      ['Address', '\n'],
      ['token', 'sandbox-token\n'],
      ['store', `${join(folder.path, 'store')}\n`],
    ]);

    expect(ended).toBe('done');
    expect(err).toContain('401');
    expect(err).not.toContain('wrong-token');
    expect((await written('127')).settings).toMatchObject({
      PLATFORM_TOKEN_HEADER: 'X-SERVICE-Developer-Token',
    });
  });

  test('asks again for an invalid URL', async () => {
    const { ended, err } = await answering([
      ['Address', 'acme\n'],
      ['token', 'sandbox-token\n'],
      ['Address', `${sandbox.url}\n`],
      ['token', 'sandbox-token\n'],
      ['store', `${join(folder.path, 'store')}\n`],
    ]);

    expect(ended).toBe('done');
    expect(err).toContain('PLATFORM_BASE_URL: expected an origin over https');
  });

  test('writes nothing if the input ends', async () => {
    const { ended } = await answering([['Address', CTRL_D]]);

    await expect(written('127')).rejects.toThrow('ENOENT');
    expect(ended).toBe('stopped');
  });

  test('refuses a folder that already has such a file', async () => {
    await writeFile(join(folder.path, 'platform-sync.sandbox.env'), 'PLATFORM_TOKEN=mine\n');

    await expect(answering([], true)).rejects.toThrow('use it with --profile sandbox, or delete it first');

    expect((await written('sandbox')).settings).toEqual({ PLATFORM_TOKEN: 'mine' });
  });

  test('hides the file from git without a change to the project', async () => {
    const git = (...words: readonly string[]) =>
      execFileSync('git', ['-C', folder.path, ...words], { encoding: 'utf8' });
    git('init', '--quiet');

    const { out } = await answering([], true);

    expect(out).toContain('git ignores');
    expect(git('status', '--porcelain')).toBe('');
  });

  test('says what to set, and that nothing was done, without a terminal', async () => {
    const { terminal, out } = createFakeTerminal({});

    const ended = await init({}, terminal, folder.path);

    expect(ended).toBe('usage');
    expect(out()).toContain('PLATFORM_TOKEN=');
  });
});

test('the commands that init --sandbox prints need nothing else', async () => {
  const { settings } = await answering([], true).then(() => written('sandbox'));
  const flags = ['--env-file', join(folder.path, 'platform-sync.sandbox.env')];
  const store = { SYNC_STORE: join(folder.path, 'store') };

  const platform = beginCommand(['sandbox', ...flags, '--calculations', '7']);
  await expect.poll(() => platform.err()).toContain('Running until Ctrl-C');
  const taken = await runCommand(['snapshot', 'calculations', ...flags], store);
  const again = await runCommand(['sandbox', ...flags]);
  platform.interrupt();

  expect(taken).toMatchObject({ code: 0, out: expect.stringMatching(/^calculations: 7 records/) });
  expect(again).toMatchObject({ code: 2, err: expect.stringContaining('its port is in use') });
  expect((await platform.ended).out).toContain(`PLATFORM_BASE_URL=${settings['PLATFORM_BASE_URL']}`);
});
