import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { text } from 'node:stream/consumers';

type Environment = Readonly<Record<string, string>>;

/** The command in a process of its own, with pipes for its outputs. */
export const spawnCommand = (argv: readonly string[], environment: Environment = {}) =>
  spawn(process.execPath, ['lib/cli/bin.js', ...argv], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });

/** The same with its standard output in a file; `said` is what it wrote to standard error. */
export async function runInto(file: string, argv: readonly string[], environment: Environment = {}) {
  const child = spawn(process.execPath, ['lib/cli/bin.js', ...argv], {
    stdio: ['ignore', openSync(file, 'w'), 'pipe'],
    env: { ...process.env, ...environment },
  });
  const { stderr } = child;
  const [said, [code]] = await Promise.all([stderr === null ? '' : text(stderr), once(child, 'exit')]);
  return { code, said };
}
