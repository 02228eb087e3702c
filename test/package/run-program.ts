import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

export type Ended = { readonly code: number | null; readonly out: string; readonly err: string };

/** Runs a program in a folder to its end. */
export async function runProgram(
  [command, ...args]: readonly [string, ...string[]],
  {
    folder,
    environment = {},
  }: { folder: string; environment?: Readonly<Record<string, string | undefined>> },
): Promise<Ended> {
  const child = spawn(command, args, {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code, out, err };
}

/** The same, and returns what it printed. Throws with all of its output if it did not end well. */
export async function printedBy(...given: Parameters<typeof runProgram>): Promise<string> {
  const { code, out, err } = await runProgram(...given);
  if (code !== 0) throw new Error(`${given[0].join(' ')} ended with ${code}:\n${out}\n${err}`);
  return out;
}
