import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

export type Ended = { readonly code: number | null; readonly out: string; readonly err: string };

type Options = {
  /** Default: this one. */
  readonly folder?: string;
  /** All of it, besides `PATH` and `HOME`. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** The lines of its standard input. Default: none. */
  readonly input?: readonly string[];
};

/** Runs a program to its end. */
export async function runProgram(
  [command, ...args]: readonly [string, ...string[]],
  { folder, environment = {}, input = [] }: Options = {},
): Promise<Ended> {
  const child = spawn(command, args, {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
    stdio: 'pipe',
  });
  // A program that ends early closes its input; its exit code and output say why.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input.map((line) => `${line}\n`).join(''));
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, out, err };
}

/** The same, and returns what it printed. Throws with all of its output if it did not end well. */
export async function printedBy(...given: Parameters<typeof runProgram>): Promise<string> {
  const { code, out, err } = await runProgram(...given);
  if (code !== 0) throw new Error(`${given[0].join(' ')} ended with ${code}:\n${out}\n${err}`);
  return out;
}

/** The lines that a program prints for these lines of input. */
export const linesOf = async (
  command: Parameters<typeof runProgram>[0],
  input: readonly string[] = [],
): Promise<readonly string[]> =>
  (await printedBy(command, { environment: process.env, input })).split('\n').slice(0, -1);
