import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** The cost of a whole process, from its start to its end. */
export type Sample = {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakMb: number;
  readonly records: number;
};

export type MeasuredCommand = {
  /** The arguments of Node. `folder` is empty, and removed at the end. */
  readonly command: (folder: string) => readonly string[];
  readonly environment: (folder: string) => Readonly<Record<string, string>>;
};

/** Runs a command that prints a JSON object with the number of its `records`, and measures it. */
export async function measureProcess({ command, environment }: MeasuredCommand): Promise<Sample> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'bench-'));
  const startedMs = performance.now();
  const child = spawn(
    process.execPath,
    ['--import', './test/bench/took-at-exit.js', ...command(folder.path)],
    {
      env: { ...process.env, ...environment(folder.path) },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const [printed, errors, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null, string | null]>,
  ]);
  const seconds = (performance.now() - startedMs) / 1000;
  if (code !== 0)
    throw new Error(`${command('FOLDER').join(' ')} ended with ${code ?? signal}: ${errors.slice(-1_000)}`);
  const [, kb, cpuMicros] = /peak-kb (\d+) cpu-us (\d+)/.exec(errors) ?? [];
  const { records } = JSON.parse(printed) as { readonly records: number };
  return { seconds, cpuSeconds: Number(cpuMicros) / 1e6, peakMb: Number(kb) / 1000, records };
}

/** The middle value: for an even number, the upper of the two; NaN for none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
