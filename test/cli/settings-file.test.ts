import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommandLine } from '../../lib/cli/command-line.ts';
import { withSettingsFile } from '../../lib/cli/options/settings-file.ts';
import { createFakeTerminal } from './fake-terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'settings-'));
const file = join(folder, 'acme.env');
const SECRET = 'a-token-that-nobody-sees';

beforeAll(() => {
  mkdirSync(join(folder, 'platform-sync'));
  writeFileSync(
    file,
    `# acme\nexport PLATFORM_BASE_URL='https://acme.example.com'\nPLATFORM_TOKEN="${SECRET}"\nSYNC_STORE=${folder}/store\n`,
  );
  writeFileSync(
    join(folder, 'platform-sync', 'platform-sync.beta.env'),
    `PLATFORM_BASE_URL=https://beta.example.com\nSYNC_STORE=${folder}/beta\n`,
  );
});

afterAll(() => rmSync(folder, { recursive: true }));

const of = (flags: Parameters<typeof withSettingsFile>[0], environment = {}) =>
  withSettingsFile(flags, { XDG_CONFIG_HOME: folder, ...environment });

async function run(argv: readonly string[], environment = {}) {
  const { terminal, out, err } = createFakeTerminal({ XDG_CONFIG_HOME: folder, ...environment });
  return { code: await runCommandLine(argv, terminal), out: out(), err: err() };
}

test('a file gives what the environment does not set, or sets to nothing', async () => {
  const environment = await of({ envFile: file }, { SYNC_STORE: '/mine', PLATFORM_TOKEN: '' });

  expect(environment).toMatchObject({
    PLATFORM_BASE_URL: 'https://acme.example.com',
    PLATFORM_TOKEN: SECRET,
    SYNC_STORE: '/mine',
  });
});

test('a profile is a file in the user’s configuration folder', async () => {
  const found = await of({ profile: 'beta' });

  expect(found['PLATFORM_BASE_URL']).toBe('https://beta.example.com');
  expect(found['SYNC_STORE']).toBe(`${folder}/beta`);
});

test.each([
  ['before the command', (flags: readonly string[]) => [...flags, 'runs']],
  ['after it', (flags: readonly string[]) => ['runs', ...flags]],
])('the option may stand %s', async (_, argv) => {
  mkdirSync(`${folder}/store`, { recursive: true });

  const { code, out } = await run(argv(['--env-file', file]));

  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining(`${folder}/store`) });
});

describe('is refused, exit 2:', () => {
  test.each([
    [['--env-file', '/none/at/all'], 'expected a file with settings, got ENOENT: /none/at/all'],
    [['--profile', 'gamma'], 'expected one of these files, got none'],
    [['--profile', '../beta'], 'expected a name of letters'],
    [['--profile', 'beta', '--env-file', 'acme.env'], 'expected --env-file or --profile, got both'],
  ])('%j', async (flags, message) => {
    const { code, err } = await run(['runs', ...flags]);

    expect(code).toBe(2);
    expect(err).toContain(message);
  });

  test('a name of a setting that does not exist, without its value', async () => {
    const wrong = join(folder, 'wrong.env');
    writeFileSync(wrong, `PLATFORM_TOKN=${SECRET}\nOTHER=1\n`);

    const { code, err } = await run(['runs', '--env-file', wrong]);

    expect(code).toBe(2);
    expect(err).toContain('got PLATFORM_TOKN: there are none of these names');
    expect(err).not.toContain(SECRET);
  });
});

test('a secret from a file is hidden like one from the environment', async () => {
  const { err } = await run(['formula', 'check', `/none/${SECRET}`, '--env-file', file]);

  expect(err).not.toContain(SECRET);
  expect(err).toContain('***');
});
