import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { folderOfEach } from '../folder-of-each.ts';
import { sampled } from '../scale.ts';
import { runInto, spawnCommand } from './spawn-command.ts';
import { adds, lines, startJobs } from './start-jobs.ts';

const folder = folderOfEach();

const COMMANDS: readonly (readonly [readonly string[]])[] = [
  [['--help']],
  [['runs']],
  [['runs', '--json']],
  [['formula', 'check', 'test/cli/one-formula.txt']],
  [['sandbox', '--json', '--calculations', '1']],
];

test.each(sampled(2, COMMANDS))('%j exits without an error if nothing reads its output', async (argv) => {
  const child = spawnCommand(argv, { SYNC_STORE: folder.path });
  const stderr = text(child.stderr);
  child.stdout.destroy();

  const [code, signal] = await once(child, 'exit');

  expect({ code, signal }).toEqual({ code: 0, signal: null });
  expect(await stderr).not.toMatch(/EPIPE|at |Error/);
});

describe.runIf(process.platform === 'linux')('standard output to a full disk', () => {
  test.each(sampled(2, COMMANDS))('causes one line of error and exit code 1: %j', async (argv) => {
    const { code, stderr } = await runInto('/dev/full', argv, { SYNC_STORE: folder.path });

    expect(code).toBe(1);
    expect(stderr.replace(/^Running until.*\n/m, '')).toBe(
      'platform-sync: standard output cannot be written: no space left on device; what was printed is incomplete\n',
    );
  });
});

type Jobs = Awaited<ReturnType<typeof startJobs>>;

/** Starts a worker on 12 jobs. Resolves once more than one of their requests has been sent. */
async function startWorker(jobs: Jobs) {
  await jobs.run(['submit', '-'], lines(Array.from({ length: 12 }, (_, id) => adds(`add-${id}`))));
  const environment = { ...jobs.settings, LOG_LEVEL: 'debug', PLATFORM_CONCURRENCY: '4' };
  const child = spawnCommand(['work', '--drain'], environment);
  await vi.waitFor(() => expect(jobs.sandbox.counts().requests).toBeGreaterThan(1), {
    interval: 5,
    timeout: 20_000,
  });
  return child;
}

/** The number of executed functions; each must have an outcome. */
async function executionsIn(jobs: Jobs): Promise<number> {
  const { out } = await jobs.runWithoutPlatform(['jobs', '--json']);
  const listed: readonly { readonly status: string }[] = JSON.parse(out);
  const executions = jobs.sandbox.counts().executions.length;
  expect(listed.filter(({ status }) => ['sent', 'unknown'].includes(status))).toEqual([]);
  expect(listed.filter(({ status }) => status === 'done')).toHaveLength(executions);
  return executions;
}

describe('a worker', () => {
  test('finishes calls in flight, and requeues the other jobs, if its output is closed', async () => {
    await using jobs = await startJobs({ latencyMs: 1_500 });
    const child = await startWorker(jobs);
    child.stderr.destroy();
    child.stdout.destroy();

    const [code, signal] = await once(child, 'exit');

    expect({ code, signal }).toEqual({ code: 0, signal: null });
    expect(await executionsIn(jobs)).toBeLessThan(12);
  });

  test('finishes calls in flight, and requeues the other jobs, if its terminal is closed, even if it gets SIGHUP twice', async () => {
    await using jobs = await startJobs({ latencyMs: 1_500 });
    const child = await startWorker(jobs);
    const stderr = text(child.stderr);
    child.kill('SIGHUP');
    await delay(400);
    child.kill('SIGHUP');

    const [code, signal] = await once(child, 'exit');

    expect({ code, signal }).toEqual({ code: 0, signal: null });
    expect(await stderr).toMatch(
      /^stopping: waiting for \d response\(s\) of functions, at most 3\d\d s; Ctrl-C again ends immediately$/m,
    );
    expect(await executionsIn(jobs)).toBeGreaterThan(0);
  });

  test('ends immediately at the second interrupt, and says what is lost', async () => {
    await using jobs = await startJobs({ latencyMs: 5_000 });
    const child = await startWorker(jobs);
    const stderr = text(child.stderr);
    child.kill('SIGINT');
    await delay(400);
    child.kill('SIGINT');

    const [, signal] = await once(child, 'exit');

    expect(signal).toBe('SIGINT');
    expect(await stderr).toMatch(
      /^ended immediately; lost: \d response\(s\) of functions, which may have run: check what /m,
    );
  });
});
