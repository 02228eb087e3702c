import { type ChildProcess, spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import type { Guard } from './guard.ts';

export type ProgramOptions = {
  readonly folder?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** The file for its output. Default: this process's own output. */
  readonly log?: string;
};

export type Program = AsyncDisposable & {
  /** The exit code, or the signal that ended the program. Rejects if it could not be started. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** Ends the program and all processes that it has started: SIGTERM first, and SIGKILL 5 s later. */
  stop(): Promise<void>;
};

const GRACE_MS = 5_000;

/** Starts a program in a new process group, so that the processes that it starts can be ended with it. */
export function startProgram(
  [name, ...parameters]: readonly [string, ...string[]],
  options: ProgramOptions,
  guard: Guard,
): Program {
  const { folder, environment = {}, log } = options;
  const output = log === undefined ? 'inherit' : openSync(log, 'a');
  const child = spawn(name, parameters, {
    ...(folder === undefined ? {} : { cwd: folder }),
    env: { ...process.env, ...environment },
    stdio: ['ignore', output, output],
    detached: true,
  });
  const { pid } = child;
  if (pid !== undefined) guard.watch({ group: pid });
  const ended = endOf(child);
  // A caller that only stops the program need not handle this rejection.
  ended.catch(() => {});
  const stop = async () => {
    if (pid === undefined) return;
    signal(pid, 'SIGTERM');
    const kill = setTimeout(() => signal(pid, 'SIGKILL'), GRACE_MS);
    await ended;
    clearTimeout(kill);
    signal(pid, 'SIGKILL');
    guard.release({ group: pid });
  };
  return { ended, stop, [Symbol.asyncDispose]: stop };
}

/** The last characters of a log, for a message that says why a program failed. */
export const endOfLog = (log: string): string => log.trim().split('\n').slice(-3).join(' | ').slice(-500);

const endOf = (child: ChildProcess): Promise<number | NodeJS.Signals> =>
  new Promise((resolve, reject) => {
    child.once('exit', (code, killed) => resolve(code ?? killed ?? 1));
    child.once('error', reject);
  });

/** Sends a signal to a process group, unless the group has ended. */
function signal(group: number, name: NodeJS.Signals): void {
  try {
    process.kill(-group, name);
  } catch {}
}
