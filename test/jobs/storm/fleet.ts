import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

export type FleetOptions = {
  readonly workers: number;
  readonly environment: (worker: number) => Readonly<Record<string, string>>;
};

/** Reads the state while a worker stands still. */
type Look = () => Promise<void>;

export type Fleet = AsyncDisposable & {
  /** Kills a worker with SIGKILL and starts another. `look` is called while the worker is stopped before that. */
  kill(worker: number, look: Look): Promise<void>;
  /** Stops a worker with SIGSTOP for `forMs`, then continues it. `look` is called while it is stopped. */
  stop(worker: number, forMs: number, look: Look): Promise<void>;
  /** How workers ended that were not killed on purpose. */
  readonly ends: () => readonly string[];
};

export function startFleet({ workers, environment }: FleetOptions): Fleet {
  const ends: string[] = [];
  const children: ChildProcess[] = [];
  const killed = new WeakSet<ChildProcess>();
  const log = process.env['STORM_LOG'];
  const output = log === undefined ? 'ignore' : openSync(log, 'a');

  const start = (worker: number) => {
    const child = spawn(process.execPath, ['test/jobs/storm/storm-worker-process.ts'], {
      env: { PATH: process.env['PATH'], LOG_LEVEL: 'warn', ...environment(worker) },
      stdio: ['ignore', 'ignore', output],
    });
    child.once('exit', (code, signal) => {
      if (!killed.has(child)) ends.push(`worker ${worker} ended by itself: ${code ?? signal}`);
    });
    children[worker] = child;
  };
  const end = async (child: ChildProcess | undefined) => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    killed.add(child);
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };

  for (let worker = 0; worker < workers; worker += 1) start(worker);
  return {
    async kill(worker, look) {
      children[worker]?.kill('SIGSTOP');
      await look();
      await end(children[worker]);
      start(worker);
    },
    async stop(worker, forMs, look) {
      const child = children[worker];
      child?.kill('SIGSTOP');
      await look();
      await delay(forMs);
      child?.kill('SIGCONT');
    },
    ends: () => ends,
    async [Symbol.asyncDispose]() {
      await Promise.all(children.map(end));
    },
  };
}
