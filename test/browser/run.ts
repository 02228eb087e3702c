import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countsOf, type Outcome } from '../counts.ts';
import { findBrowser, installBrowser } from './find-browser.ts';

/*
 * `npm run test:browser`: opens the report in a browser, which is installed if there is none and that can be done.
 * Without one the tests are skipped, unless it is `--required`. `--install` does no more than install it.
 */

if (findBrowser() === undefined) installBrowser();
if (!process.argv.includes('--install')) {
  const browser = findBrowser();
  const { passed, failed } = browser === undefined ? missing() : tests(browser);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}

function missing(): Outcome {
  const isRequired = process.argv.includes('--required');
  console.error(
    `${isRequired ? 'FAILED' : 'Skipped'}: there is no browser. Install one (apt-get install chromium), or name the program in CHROMIUM.`,
  );
  return { passed: 0, failed: isRequired ? 1 : 0 };
}

function tests(CHROMIUM: string): Outcome {
  const folder = mkdtempSync(join(tmpdir(), 'platform-sync-browser-'));
  const report = join(folder, 'report.json');
  const only = process.argv.slice(2).filter((word) => !word.startsWith('--'));
  const { status } = spawnSync(
    join('node_modules', '.bin', 'vitest'),
    [
      ...['run', '--config', 'test/browser/vitest.config.ts', '--root', '.'],
      ...['--reporter=verbose', '--reporter=json', `--outputFile.json=${report}`],
      ...only,
    ],
    { stdio: 'inherit', env: { ...process.env, CHROMIUM } },
  );
  try {
    return countsOf(JSON.parse(readFileSync(report, 'utf8')), status ?? 1);
  } catch (error) {
    console.error(`vitest left no report that can be read: ${String(error)}`);
    return { passed: 0, failed: 1 };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
