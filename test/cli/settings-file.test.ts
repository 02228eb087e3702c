import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { withSettingsFile } from '../../lib/cli/options/settings-file.ts';
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

test('a file gives what the environment does not set, or sets to nothing', async () => {
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
  ['after it', (flags: readonly string[]) => ['runs', ...flags]],
])('the option may stand %s', async (_, argv) => {
  mkdirSync(`${folder}/store`, { recursive: true });

  const { code, out } = await runCommand(argv(['--env-file', file]));

  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining(`${folder}/store`) });
});
