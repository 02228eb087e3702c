import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

/** Runs a program with lines as its standard input, and returns those that it prints. Throws if it fails. */
export async function linesOf(
  [name, ...options]: readonly [string, ...string[]],
  input: readonly string[] = [],
): Promise<readonly string[]> {
  const program = spawn(name, options, { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve, reject) => {
    program.on('error', reject);
    program.on('close', resolve);
  });
  // A program that ends early closes its input; its exit code and output say why.
  program.stdin.on('error', () => {});
  program.stdin.end(input.map((line) => `${line}\n`).join(''));
  const [output, errors, code] = await Promise.all([text(program.stdout), text(program.stderr), ended]);
  if (code !== 0)
    throw new Error(`${name} ended with ${code}: ${errors.slice(-1_000) || output.slice(-1_000)}`);
  return output.split('\n').slice(0, -1);
}
