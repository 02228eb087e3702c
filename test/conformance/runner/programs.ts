import { type ChildProcess, spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import type { Guard } from './guard.ts';

export type ProgramOptions = {
  readonly folder?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** The file that takes its output; this process's own output if absent. */
  readonly log?: string;
};

export type Program = AsyncDisposable & {
  /** Its exit code or the signal that ended it. Rejects if it could not be started. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** Ends it and all that it has started: asks first, and kills 5 s later. */
  stop(): Promise<void>;
};

const GRACE_MS = 5_000;

/** Starts programs, each in a process group of its own, so that what it starts itself ends with it. */
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
  // Whoever stops it need not wait for its end too.
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

/** A group that has ended has nothing left to signal. */
function signal(group: number, name: NodeJS.Signals): void {
  try {
    process.kill(-group, name);
  } catch {}
}
