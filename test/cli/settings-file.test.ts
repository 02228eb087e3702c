import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { withSettingsFile } from '../../lib/cli/options/settings-file.ts';
import { readSyncSettings } from '../../lib/settings.ts';
import { folderOfAll } from '../folder-of-each.ts';
import { runCommand } from './run-command.ts';

const folder = folderOfAll();
const file = join(folder, 'acme.env');
const SECRET = 'a-token-that-nobody-sees';

beforeAll(() => {
  mkdirSync(join(folder, 'platform-sync'));
  writeFileSync(
    file,
    `\uFEFFPLATFORM_BASE_URL='https://acme.example.com'\r\n# acme\r\nexport PLATFORM_TOKEN="${SECRET}"\r\nSYNC_STORE=${folder}/store\r\n`,
  );
  writeFileSync(
    join(folder, 'platform-sync', 'platform-sync.beta.env'),
    `PLATFORM_BASE_URL=https://beta.example.com\nSYNC_STORE=${folder}/beta\n`,
  );
});

const of = (flags: Parameters<typeof withSettingsFile>[0], environment = {}) =>
  withSettingsFile(flags, { XDG_CONFIG_HOME: folder, ...environment });

test('a settings file applies where the environment has no value, or an empty one', async () => {
  const environment = await of({ envFile: file }, { SYNC_STORE: '/mine', PLATFORM_TOKEN: '' });

  expect(environment).toMatchObject({
    PLATFORM_BASE_URL: 'https://acme.example.com',
    PLATFORM_TOKEN: SECRET,
    SYNC_STORE: '/mine',
  });
});

test.each([
  ['', { XDG_CONFIG_HOME: folder }],
  [' of Windows', { XDG_CONFIG_HOME: '', APPDATA: folder }],
])('a profile is a file in the user’s configuration folder%s', async (_of, environment) => {
  const found = await of({ profile: 'beta' }, environment);

  expect(found['PLATFORM_BASE_URL']).toBe('https://beta.example.com');
  expect(found['SYNC_STORE']).toBe(`${folder}/beta`);
});

test.each([
  ['before the command', (flags: readonly string[]) => [...flags, 'runs']],
  ['after the command', (flags: readonly string[]) => ['runs', ...flags]],
])('--env-file may stand %s', async (_, argv) => {
  mkdirSync(`${folder}/store`, { recursive: true });

  const { code, out } = await runCommand(argv(['--env-file', file]));

  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining(`${folder}/store`) });
});

describe('a settings file', () => {
  const written = (text: string) => {
    const path = join(folder, 'written.env');
    writeFileSync(path, text);
    return of({ envFile: path });
  };

  test.each([
    ['PLATFROM_TOKEN', 'PLATFORM_TOKEN'],
    ['PLATFORM_TOKNE', 'PLATFORM_TOKEN'],
    ['PLATFORM_BASE_UR', 'PLATFORM_BASE_URL'],
    ['platform_token', 'PLATFORM_TOKEN'],
    ['SNYC_STORE', 'SYNC_STORE'],
    ['SYNC_QUEUE', 'SYNC_QUEUE_URL'],
    ['LOG_LEVL', 'LOG_LEVEL'],
    ['AWS_REGOIN', 'AWS_REGION'],
    ['NOPROXY', 'NO_PROXY'],
  ])('with a misspelled setting causes an error that names the right one: %s', async (name, meant) => {
    const error = await written(`SYNC_STORE=a\n${name}=${SECRET}\n`).catch(String);

    expect(error).toContain(`written.env: expected settings, got ${name}: did you mean ${meant}?`);
    expect(error).not.toContain(SECRET);
  });

  test.each(['', '# SYNC_STORE=a\n', 'DATABASE_URL=x\nPORT=1\n', 'no settings at all', 'LOG=1\n'])(
    'without a setting causes an error: %j',
    async (text) => {
      await expect(written(text)).rejects.toThrow(/written\.env: expected settings, such as .*, got none/);
    },
  );

  test('may be in UTF-16, as PowerShell writes it', async () => {
    const path = join(folder, 'utf16.env');
    writeFileSync(path, Buffer.from('\uFEFFSYNC_STORE=/data\r\n', 'utf16le'));

    expect(await of({ envFile: path })).toMatchObject({ SYNC_STORE: '/data' });
  });

  test('may also hold variables of other programs, of AWS and of the network', async () => {
    const others = [
      'PORT',
      'LOG',
      'DATABASE_URL',
      'AWS_ENDPOINT_URL_SES',
      'AWS_SDK_LOAD_CONFIG',
      'https_proxy',
    ];

    const found = await written(['AWS_REGION', ...others].map((name) => `${name}=1\n`).join(''));

    expect(Object.keys(found)).toEqual(expect.arrayContaining(others));
  });

  test('may use ~ for the home folder, also in its own path', async () => {
    writeFileSync(join(folder, 'home.env'), 'SYNC_STORE="~/store"\nSYNC_TABLE=sqlite:~/jobs.db\n');

    const found = await of({ envFile: '~/home.env' }, { HOME: folder });

    const { SYNC_STORE, SYNC_TABLE, SYNC_QUEUE_URL } = readSyncSettings(found);
    expect(SYNC_STORE).toBe(join(folder, 'store'));
    expect([SYNC_TABLE, SYNC_QUEUE_URL]).toEqual(Array(2).fill(`sqlite:${join(folder, 'jobs.db')}`));
  });
});
