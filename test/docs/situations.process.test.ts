import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { folderOfEach } from '../folder-of-each.ts';
import { version } from '../package-version.ts';

const folder = folderOfEach();

/** Runs a line in a folder as a reader's shell does, without a network. */
const typed = (line: string, cwd: string) =>
  new Promise<{ readonly code: unknown; readonly out: string }>((done) => {
    const inherited = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
    const env = {
      ...Object.fromEntries(inherited),
      npm_config_offline: 'true',
      npm_config_cache: folder.path,
    };
    execFile('sh', ['-c', line], { cwd, env }, (error, out) =>
      done({ code: error?.code ?? 0, out: out.trim() }),
    );
  });

test('a clone has the command that the pages use', async () => {
  expect(await typed('npx platform-sync --version', resolve('.'))).toEqual({
    code: 0,
    out: version,
  });
});

test('in another folder, npx finds no command and asks the registry, unless the command line changes to the project first', async () => {
  const alone = await typed('npx platform-sync --version', folder.path);
  const entered = await typed(`cd ${resolve('.')} && exec npx platform-sync --version`, folder.path);

  expect(alone.code).not.toBe(0);
  expect(entered).toEqual({ code: 0, out: version });
});
