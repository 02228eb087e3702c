import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/*
 * Everything that CI checks: types, lint, and all tests. Types and lint count as one check each, so that the closing
 * line tells the whole.
 */

type Outcome = { readonly passed: number; readonly failed: number };

const outcomes = [
  check('types', 'tsc', ['--noEmit']),
  check('types of infra', 'tsc', ['--noEmit', '-p', 'infra']),
  check('lint', 'biome', ['check', '--error-on-warnings']),
  tests(),
];
const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0);
const failed = outcomes.reduce((sum, outcome) => sum + outcome.failed, 0);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;

function check(name: string, command: string, args: readonly string[]): Outcome {
  const ok = run(command, args) === 0;
  console.log(`${ok ? 'ok' : 'FAILED'}: ${name}`);
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1 };
}

function tests(): Outcome {
  const folder = mkdtempSync(join(tmpdir(), 'platform-sync-test-'));
  const report = join(folder, 'report.json');
  const args = [
    'run',
    '--config',
    'test/vitest.config.ts',
    '--root',
    '.',
    '--reporter=dot',
    '--reporter=json',
  ];
  const status = run('vitest', [...args, `--outputFile.json=${report}`]);
  try {
    const { numPassedTests, numFailedTests, success } = JSON.parse(
      readFileSync(report, 'utf8'),
    ) as VitestReport;
    // A file that does not load fails no test, and an error outside of all tests neither: each is a failure all the same.
    const unnoticed = numFailedTests === 0 && (status !== 0 || !success) ? 1 : 0;
    return { passed: numPassedTests, failed: numFailedTests + unnoticed };
  } catch (error) {
    console.error(`vitest left no report that can be read: ${String(error)}`);
    return { passed: 0, failed: 1 };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

type VitestReport = {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly success: boolean;
};

function run(command: string, args: readonly string[]): number {
  // Colour codes off a terminal would make a log that nobody can read.
  const environment = process.stdout.isTTY ? process.env : { ...process.env, NO_COLOR: '1' };
  const program = join('node_modules', '.bin', command);
  const { status, error } = spawnSync(program, args, { stdio: 'inherit', env: environment });
  if (error !== undefined) console.error(`${command}: ${error.message}`);
  return status ?? 1;
}
