import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bench } from './bench.ts';
import { startSandboxProcess } from './sandbox-process.ts';

const RUNS = 5;

/** `platform-sync snapshot calculations` as a whole process, at a rate that does not hold it back. */
export const snapshot: Bench = {
  name: 'snapshot',
  async run() {
    const rows = [];
    for (const records of [20_000, 100_000]) {
      await using sandbox = await startSandboxProcess('--calculations', String(records));
      const samples = [];
      for (let run = 0; run <= RUNS; run += 1) samples.push(await takeOnce(sandbox.settings));
      // The first warms the platform, which prints its rows once.
      const counted = samples.slice(1);
      const seconds = median(counted.map((sample) => sample.seconds));
      rows.push({
        measured: `${records} calculations, whole process, median of ${RUNS}`,
        value: `${seconds.toFixed(2)} s`,
      });
      rows.push({
        measured: `${records} calculations, peak memory`,
        value: `${median(counted.map((sample) => sample.peakMb)).toFixed(0)} MB`,
      });
    }
    return rows;
  },
};

async function takeOnce(settings: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  const environment = { ...process.env, ...settings, PLATFORM_RATE: '1000', SYNC_STORE: folder };
  const startedMs = performance.now();
  const child = spawnSync(
    process.execPath,
    ['--import', './test/bench/peak-memory.ts', 'lib/cli/bin.js', 'snapshot', 'calculations', '--json'],
    { env: environment },
  );
  const seconds = (performance.now() - startedMs) / 1000;
  await rm(folder, { recursive: true });
  if (child.status !== 0) throw new Error(`the snapshot ended with ${child.status}: ${child.stderr}`);
  const peakMb = Number(/peak-memory-kb (\d+)/.exec(child.stderr.toString())?.[1]) / 1000;
  return { seconds, peakMb };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
