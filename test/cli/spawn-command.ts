import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { text } from 'node:stream/consumers';

type Environment = Readonly<Record<string, string>>;

/** Starts the command in a process of its own, with pipes for its outputs. */
export const spawnCommand = (argv: readonly string[], environment: Environment = {}) =>
  spawn(process.execPath, ['lib/cli/bin.js', ...argv], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });

/** Runs the command in a process of its own, with standard output to a file; returns standard error. */
export async function runInto(file: string, argv: readonly string[], environment: Environment = {}) {
  const child = spawn(process.execPath, ['lib/cli/bin.js', ...argv], {
    stdio: ['ignore', openSync(file, 'w'), 'pipe'],
    env: { ...process.env, ...environment },
  });
  const [stderr, [code]] = await Promise.all([
    child.stderr === null ? '' : text(child.stderr),
    once(child, 'exit'),
  ]);
  return { code, stderr };
}
