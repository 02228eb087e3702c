import { spawn } from 'node:child_process';
import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Failure, type Outcome, outcomeIn, printFailure } from './counts.ts';
import { withoutFlaky } from './flaky.ts';

/*
 * `npm test`: types, lint, and the tests that run in their own process. Types and lint count as one check each, so that
 * the last line covers everything. They run one after another, at the same time as the tests of the stack, before all
 * other tests.
 *
 * `--processes` (`npm run test:processes`) runs the other tests, in files named `*.process.test.ts`: they start the
 * command, deployed functions and workers, and kill some of them. A test that fails is run twice more alone, and is
 * flaky if it passes then. CI runs both. Afterwards the calls that roles and policies allowed are compared with
 * docs/permissions.md, which `--write` writes.
 *
 * Tests that repeat something are scaled by one variable, `TEST_SCALE` (see scale.ts): here they do the minimum that
 * still tests each promise. `--long` (`npm run test:long`) sets it to 1, so that all run, in full. `--storm`
 * (`npm run test:storm`) runs one storm of 8 s and nothing else.
 */

const TEST_SCALE = process.argv.includes('--long') ? '1' : process.env['TEST_SCALE'];

/** The suffix of files whose tests start processes. */
const PROCESSES = '.process.test.ts';

/** The tests that synthesize stacks. They run in one worker, which loads the CDK and creates each stack only once. */
const INFRA = 'test/infra';

/** Each thread of the compiler checks shared types again, so a single thread needs a third less CPU time. */
const MIN_SECONDS = ['--singleThreaded'];
/** Lets the compiler collect garbage a quarter as often. It then uses twice the memory, 1.1 GB. */
const FEWER_COLLECTIONS = { GOGC: '400' };

const outcomes = await outcomesOf(process.argv.slice(2));
const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0);
const failed = outcomes.reduce((sum, outcome) => sum + outcome.failed, 0);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;

async function outcomesOf(words: readonly string[]): Promise<readonly Outcome[]> {
  if (words.includes('--storm'))
    return [await tests({ only: ['test/jobs/storm'], environment: { STORM_SECONDS: '8' } })];
  if (words.includes('--processes')) return await processes(words.includes('--write'));
  if (words.includes('--long')) return (await Promise.all([checks(), tests({})])).flat();
  const without = [`**/*${PROCESSES}`];
  const first = await Promise.all([checks(), tests({ only: [INFRA], without, workers: 1 })]);
  return [...first.flat(), await tests({ without: [...without, `${INFRA}/**`] })];
}

async function processes(isWritten: boolean): Promise<readonly Outcome[]> {
  using calls = mkdtempDisposableSync(join(tmpdir(), 'platform-sync-calls-'));
  const environment = { ACCESS_CALLS: calls.path };
  const { failures, ...outcome } = await tests({ only: [PROCESSES], environment });
  const withAlone = await withoutFlaky(outcome, failures, async (name) => {
    const alone = await tests({ only: [PROCESSES], named: `^${RegExp.escape(name)}$`, environment });
    return alone.passed > 0 && alone.failed === 0;
  });
  const write = isWritten ? ['--write'] : [];
  const script = ['test/infra/permissions/check-process.ts', calls.path, ...write];
  return [withAlone, await check('what roles may do is done by a test', 'node', script)];
}

async function checks(): Promise<readonly Outcome[]> {
  return [
    await check('types', 'tsc', ['--noEmit', ...MIN_SECONDS], FEWER_COLLECTIONS),
    await check('types of infra', 'tsc', ['--noEmit', '-p', 'infra', ...MIN_SECONDS], FEWER_COLLECTIONS),
    await check('types of the page', 'tsc', ['--noEmit', '-p', 'lib/report/page', ...MIN_SECONDS]),
    await check('lint', 'biome', ['check', '--error-on-warnings']),
    await check('what nothing uses', 'knip', []),
  ];
}

/** Runs a check, and prints its output in one piece, since the tests print at the same time. */
async function check(
  name: string,
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const { child, ended } = start(command, args, 'pipe', environment);
  const said = [child.stdout, child.stderr].map((stream) => (stream === null ? '' : text(stream)));
  const ok = (await ended) === 0;
  console.log(`\n${(await Promise.all(said)).join('')}${ok ? 'ok' : 'FAILED'}: ${name}`);
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1 };
}

type Tests = {
  /** The files to run. Default: all. */
  readonly only?: readonly string[];
  /** Patterns of files to exclude. Default: none. */
  readonly without?: readonly string[];
  /** The number of worker processes. Default: as configured. */
  readonly workers?: number;
  /** A pattern of the names of the tests to run. Default: all. */
  readonly named?: string;
  readonly environment?: Readonly<Record<string, string>>;
};

async function tests({
  only = [],
  without = [],
  workers,
  named,
  environment = {},
}: Tests): Promise<Outcome & { readonly failures: readonly Failure[] }> {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'platform-sync-test-'));
  const report = join(folder.path, 'report.json');
  const settings = ['--config', 'test/vitest.config.ts', '--root', '.'];
  if (workers !== undefined) settings.push(`--maxWorkers=${workers}`);
  if (named !== undefined) settings.push('--testNamePattern', named);
  const excluded = without.map((pattern) => `--exclude=${pattern}`);
  const reporters = ['--reporter=dot', '--reporter=json', `--outputFile.json=${report}`];
  const status = await start(
    'vitest',
    ['run', ...settings, ...reporters, ...excluded, ...only],
    'inherit',
    environment,
  ).ended;
  const outcome = outcomeIn(report, status);
  for (const failure of outcome.failures) console.log(printFailure(failure));
  return outcome;
}

/** Starts a program from node_modules; `ended` is its exit code, or 1 if it could not be started or was killed. */
function start(
  command: string,
  args: readonly string[],
  output: 'inherit' | 'pipe',
  environment: Readonly<Record<string, string>> = {},
) {
  // Outside a terminal, colour codes would make the log unreadable.
  const colour = process.stdout.isTTY ? {} : { NO_COLOR: '1' };
  const scale = TEST_SCALE === undefined ? {} : { TEST_SCALE };
  const child = spawn(join('node_modules', '.bin', command), args, {
    stdio: ['ignore', output, output],
    env: { ...process.env, ...colour, ...scale, ...environment },
  });
  const ended = new Promise<number>((resolve) => {
    child.once('close', (code) => resolve(code ?? 1));
    child.once('error', (error) => {
      console.error(`${command}: ${error.message}`);
      resolve(1);
    });
  });
  return { child, ended };
}
