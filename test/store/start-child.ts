import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export type Child = {
  /** Resolves when the child has printed this number of lines. */
  lines(count: number): Promise<void>;
  /** Kills the child with SIGKILL, as abruptly as a power failure. */
  kill(): Promise<void>;
  /** Sends a signal, such as SIGSTOP to stop the child for a while. */
  signal(name: NodeJS.Signals): void;
  /** The exit code; null if a signal ended the child. */
  exit(): Promise<number | null>;
} & AsyncDisposable;

/** Runs a program from `test/store/children` in its own process, which disposing kills. */
export function startChild(program: string, ...args: readonly string[]): Child {
  const path = fileURLToPath(new URL(`./children/${program}`, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  return {
    async lines(count) {
      for (const _ of Array(count).keys()) {
        const { done } = await lines.next();
        if (done) throw new Error(`${program} ended early`);
      }
    },
    kill,
    signal: (name) => void child.kill(name),
    exit: async () => (await exited)[0],
    [Symbol.asyncDispose]: kill,
  };
}
