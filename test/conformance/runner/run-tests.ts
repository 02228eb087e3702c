import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ENGINES_VARIABLE, type Engines } from '../../base/aws/engines.ts';
import type { Guard } from './guard.ts';
import type { Report } from './judge.ts';
import { startProgram } from './programs.ts';

export type TestsOptions = {
  readonly signal: AbortSignal;
  readonly guard: Guard;
  /** Called with vitest's whole output after it has ended. Default: the output is printed immediately. */
  readonly print?: ((output: string) => void) | undefined;
};

/** Runs test files on engines. Vitest prints the failures. Throws if it ends without a report. */
export async function runTests(
  files: readonly string[],
  engines: Engines,
  { signal, guard, print }: TestsOptions,
): Promise<Report> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-sync-conformance-'));
  guard.watch({ folder });
  try {
    const report = join(folder, 'report.json');
    const log = join(folder, 'output.log');
    await using vitest = startProgram(
      [
        join('node_modules', '.bin', 'vitest'),
        ...['run', '--config', 'test/conformance/vitest.config.ts', '--root', '.'],
        ...['--reporter=dot', '--reporter=./test/conformance/runner/outcome-reporter.ts'],
        ...files,
      ],
      {
        ...(print === undefined ? {} : { log }),
        environment: {
          [ENGINES_VARIABLE]: JSON.stringify(engines),
          CONFORMANCE_REPORT: report,
          // Outside a terminal, colour codes would make the log unreadable.
          ...(process.stdout.isTTY ? {} : { NO_COLOR: '1' }),
        },
      },
      guard,
    );
    const stop = () => void vitest.stop();
    signal.addEventListener('abort', stop);
    const ended = await vitest.ended.finally(() => signal.removeEventListener('abort', stop));
    print?.(await readFile(log, 'utf8'));
    signal.throwIfAborted();
    return JSON.parse(
      await readFile(report, 'utf8').catch(() => {
        throw new Error(`vitest ended with ${ended} and left no report`);
      }),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
    guard.release({ folder });
  }
}
