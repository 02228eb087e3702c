import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A process group (by its id) or a folder that must not outlive this process. */
type Watched = { readonly group: number } | { readonly folder: string };

export type Guard = AsyncDisposable & {
  watch(each: Watched): void;
  /** Stops watching a process group or folder that has ended, was removed, or may stay. */
  release(each: Watched): void;
};

/**
 * Starts a second process that kills or removes what it watches once this process ends. A handler in this process would
 * not run after a kill -9.
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
