import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { folderOfEach } from '../folder-of-each.ts';
import { spawnCommand } from './spawn-command.ts';

const folder = folderOfEach();

test('sandbox prints the settings for it, a snapshot works with them, and Ctrl-C ends it with exit code 0', async () => {
  const sandbox = spawnCommand(['sandbox', '--json', '--calculations', '300']);
  const [printed] = (await once(sandbox.stdout, 'data')) as [Buffer];
  const settings = JSON.parse(printed.toString()) as Record<string, string>;

  const environment = { ...settings, SYNC_STORE: folder.path };
  const snapshot = spawnCommand(['snapshot', 'calculations', '--json'], environment);
  const manifest = JSON.parse(await text(snapshot.stdout));
  sandbox.kill('SIGINT');
  const [code] = await once(sandbox, 'exit');

  expect(settings).toEqual({
    PLATFORM_BASE_URL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    PLATFORM_TOKEN: 'sandbox-token',
  });
  expect(manifest).toMatchObject({ records: 300, consistency: 'proved' });
  expect(code).toBe(0);
});

test.each([
  ['before', (flags: readonly string[]) => [...flags, 'runs']],
  ['after', (flags: readonly string[]) => ['runs', ...flags]],
])('--env-file, which Node has too, may stand %s the command', async (_, argv) => {
  const file = join(folder.path, 'acme.env');
  await writeFile(file, `SYNC_STORE="${folder.path}"\n`);

  const found = spawnCommand(argv(['--env-file', file]));
  const missing = spawnCommand(argv(['--env-file', `${file}.none`]));
  const [printed, stderr, [code], [other]] = await Promise.all([
    text(found.stdout),
    text(missing.stderr),
    once(found, 'exit'),
    once(missing, 'exit'),
  ]);

  expect(printed).toContain(`nothing has been published in ${folder.path}`);
  expect(code).toBe(0);
  // If the file is missing, Node itself exits, with code 9, before the command starts.
  expect(stderr).toContain('acme.env.none: not found');
  expect(other).toBe(9);
});

test('an older Node exits 2 and says what to do', async () => {
  const script =
    "Object.defineProperty(process.versions, 'node', { value: '20.1.0' }); await import('./lib/cli/require-node.js');";

  const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);

  expect(stderr).toContain('platform-sync needs Node 24, or 26 or newer, but was started by Node 20.1.0');
  expect(stderr).toContain('npm ci');
  expect(code).toBe(2);
});

test.each([
  ['22.20.0', 2],
  ['24.0.0', 0],
  ['25.1.0', 2],
  ['26.0.0', 0],
])('without sources, Node %s starts with exit code %i', async (node, expected) => {
  const file = join(folder.path, 'require-node.mjs');
  await cp('lib/cli/require-node.js', file);
  const script = `Object.defineProperty(process.versions, 'node', { value: '${node}' }); await import('${file}');`;

  const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);

  expect(code).toBe(expected);
  expect(stderr.includes('platform-sync needs Node 24, or 26 or newer')).toBe(expected === 2);
});
