import { spawnSync } from 'node:child_process';
import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Failure, type Outcome, outcomeIn, printFailure } from '../counts.ts';
import { withoutFlaky } from '../flaky.ts';
import { findBrowser, installBrowser } from './find-browser.ts';

/*
 * `npm run test:browser`: opens the report in a browser, which is installed if it is missing and can be. Without a
 * browser the tests are not run. A test that fails is run twice more alone, and is flaky if it passes then. `--install`
 * only installs the browser.
 */

if (findBrowser() === undefined) installBrowser();
const browser = process.argv.includes('--install') ? undefined : findBrowser();
if (browser === undefined && findBrowser() === undefined)
  console.log(
    'not run: browser: there is none. Install one (apt-get install chromium), or name it in CHROMIUM.',
  );
const { passed, failed } = browser === undefined ? { passed: 0, failed: 0 } : await tests(browser);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

async function tests(program: string): Promise<Outcome> {
  const only = process.argv.slice(2).filter((word) => !word.startsWith('--'));
  const { failures, ...outcome } = run(program, only);
  return await withoutFlaky(outcome, failures, (name) => {
    const alone = run(program, ['--testNamePattern', `^${RegExp.escape(name)}$`]);
    return alone.passed > 0 && alone.failed === 0;
  });
}

function run(
  CHROMIUM: string,
  words: readonly string[],
): Outcome & { readonly failures: readonly Failure[] } {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'platform-sync-browser-'));
  const file = join(folder.path, 'report.json');
  const { status } = spawnSync(
    join('node_modules', '.bin', 'vitest'),
    [
      ...['run', '--config', 'test/browser/vitest.config.ts', '--root', '.'],
      ...['--reporter=verbose', '--reporter=json', `--outputFile.json=${file}`],
      ...words,
    ],
    { stdio: 'inherit', env: { ...process.env, CHROMIUM } },
  );
  const outcome = outcomeIn(file, status ?? 1);
  for (const failure of outcome.failures) console.log(printFailure(failure));
  return outcome;
}
