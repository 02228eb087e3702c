import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

export type Ended = { readonly code: number | null; readonly out: string; readonly err: string };

type Options = {
  /** The working directory. Default: that of this process. */
  readonly folder?: string;
  /** The complete environment, except for `PATH` and `HOME`. */
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
  // A program that ends early closes its input. Its exit code and output give the reason.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input.map((line) => `${line}\n`).join(''));
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, out, err };
}

/** Runs a program to its end, and returns its output. Throws with all of its output if it fails. */
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
