import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** The jobs that one worker runs at a time, and its requests in flight. */
export const CONCURRENCY = 20;

export type WholeWorker = {
  /** Ends it without a warning. */
  kill(): void;
  isRunning(): boolean;
  /** Its exit code and the signal that ended it; one of them is null. */
  readonly ended: Promise<readonly unknown[]>;
} & Disposable;

/** `platform-sync work --drain` in a process of its own, with nothing of this one's environment. */
export function startWorker(environment: Readonly<Record<string, string>>): WholeWorker {
  const command = ['lib/cli/bin.js', 'work', '--drain', '--json', '--concurrency', `${CONCURRENCY}`];
  const child = spawn(process.execPath, command, {
    env: { PATH: process.env['PATH'], LOG_LEVEL: 'warn', ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const kill = () => void child.kill('SIGKILL');
  return {
    kill,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    ended: once(child, 'exit'),
    [Symbol.dispose]: kill,
  };
}
