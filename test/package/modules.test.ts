import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { folderOfAll } from '../folder-of-each.ts';

/*
 * Checks which kinds of modules may import the package by its `exports`, with declarations of one line. attw runs in
 * the conformance tests.
 */

const project = folderOfAll();
const installed = join(project, 'node_modules', 'platform-sync');
mkdirSync(join(installed, 'dist', 'lib', 'entries'), { recursive: true });
cpSync('package.json', join(installed, 'package.json'));
writeFileSync(
  join(installed, 'dist', 'lib', 'entries', 'platform.d.ts'),
  'export declare const openPlatform: () => { readonly rate: number };',
);

const STATIC =
  "import { openPlatform } from 'platform-sync/platform';\nexport const { rate } = openPlatform();";
const LATER =
  "export const rate = async () => (await import('platform-sync/platform')).openPlatform().rate.toFixed();";

/** The compiler's errors for a file. */
function faults(file: string, text: string, module: string): string {
  writeFileSync(join(project, file), text);
  const tsc = resolve('node_modules', 'typescript', 'bin', 'tsc');
  const argv = [tsc, '--noEmit', '--strict', '--target', 'es2022', '--types', '', '--module', module, file];
  return spawnSync(process.execPath, argv, { cwd: project, encoding: 'utf8' }).stdout;
}

test.each([
  ['an ES module', 'main.mts', STATIC, 'node16'],
  ['an ES module', 'main.mts', STATIC, 'nodenext'],
  ['a CommonJS file', 'main.cts', STATIC, 'nodenext'],
  ['a CommonJS file that waits for it', 'main.cts', LATER, 'node16'],
])('%s gets the types of the package: %s', (_, file, text, module) => {
  expect(faults(file, text, module)).toBe('');
});

test('in a CommonJS file without `import()`, under node16, the compiler says that the package has ES modules', () => {
  expect(faults('main.cts', STATIC, 'node16')).toMatch(
    /^main\.cts\(1,30\): error TS1479: .*ECMAScript module/,
  );
});
