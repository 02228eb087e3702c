import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** What must not outlive this process: a group of processes by its id, or a folder. */
type Watched = { readonly group: number } | { readonly folder: string };

export type Guard = AsyncDisposable & {
  watch(each: Watched): void;
  /** It is gone, or is to stay. */
  release(each: Watched): void;
};

/**
 * A second process that ends and removes what it watches as soon as this one ends, however it ends: no handler runs
 * after a kill -9.
 */
export function startGuard(): Guard {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'guard-process.ts')], {
    stdio: ['pipe', 'inherit', 'inherit'],
    // Ctrl-C in a terminal reaches the whole foreground group; the guard must outlive this process.
    detached: true,
  });
  const ended = once(child, 'exit');
  const send = (act: 'watch' | 'release') => (each: Watched) =>
    void child.stdin.write(`${JSON.stringify({ act, ...each })}\n`);
  return {
    watch: send('watch'),
    release: send('release'),
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await ended;
    },
  };
}
