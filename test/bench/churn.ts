import { createReadStream } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { parseJson } from '../../lib/base/json/json.ts';
import type { Manifest } from '../../lib/snapshot/manifest.ts';
import { printedBy } from '../run-program.ts';
import { type Bench, bounded, type Row } from './bench.ts';
import { startSandboxProcess } from './sandbox-process.ts';

const RECORDS = 1_000_000;
const CHANGES_A_SECOND = 20;

/** Requests a second: slow enough for a thousand changes between pages. */
const RATE = 4;

/** A snapshot of a million records that change meanwhile. Every record that existed throughout must be in it, once. */
export const churn: Bench = {
  name: 'churn',
  about: 'A snapshot of a million records that are changed, made and deleted while it reads.',
  async run() {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'bench-'));
    return await runIn(folder.path);
  },
};

async function runIn(folder: string): Promise<readonly Row[]> {
  const calculations = ['--calculations', String(RECORDS)] as const;
  await using sandbox = await startSandboxProcess(...calculations, '--churn', String(CHANGES_A_SECOND));
  const readSandbox = async (path: string): Promise<unknown> =>
    (await fetch(`${sandbox.settings['PLATFORM_BASE_URL']}/_sandbox/${path}`)).json();
  const before = changesIn(await readSandbox('counts'));
  const from = Date.now();
  const manifest = await takeSnapshot({
    ...sandbox.settings,
    PLATFORM_RATE: String(RATE),
    SYNC_STORE: folder,
  });
  const to = Date.now();
  const changes = changesIn(await readSandbox('counts')) - before;
  const lived = (await readSandbox(`lived-through?from=${from}&to=${to}`)) as readonly string[];

  const { lost, doubled, taken } = await compareLivedThrough(folder, manifest.parts, lived);

  const seconds = (to - from) / 1000;
  const at = `${RECORDS.toLocaleString('en')} calculations, ${CHANGES_A_SECOND} changes/s, ${seconds.toFixed(0)} s`;
  return [
    { measured: `changes to calculations during it (${at})`, value: String(changes) },
    { measured: `records taken; existed throughout (${at})`, value: `${taken}; ${lived.length}` },
    bounded(
      `lost of those that existed throughout (${at})`,
      String(lost),
      'none',
      lost === 0 && lived.length > 0,
    ),
    bounded(`doubled (${at})`, String(doubled), 'none', doubled === 0),
    bounded(`consistency (${at})`, manifest.consistency, 'proved', manifest.consistency === 'proved'),
  ];
}

async function takeSnapshot(settings: Readonly<Record<string, string>>): Promise<Manifest> {
  const command = [process.execPath, 'lib/cli/bin.js', 'snapshot', 'calculations', '--json'] as const;
  return JSON.parse(await printedBy(command, { environment: { SYNC_COMPRESSION: 'gzip', ...settings } }));
}

/** The number of churn steps that changed calculations. */
function changesIn(counts: unknown): number {
  const { churn: steps } = counts as { readonly churn: Readonly<Record<string, number>> };
  const ofCalculations = Object.entries(steps).filter(([name]) => name.startsWith('calculation '));
  return ofCalculations.reduce((sum, [, count]) => sum + count, 0);
}

/** Compares the ids in a snapshot's parts (gzip, in the store's folder) with `lived`, those that existed throughout. */
async function compareLivedThrough(folder: string, parts: Manifest['parts'], lived: readonly string[]) {
  const ids = new Set<string>();
  let taken = 0;
  for (const { key } of parts) {
    const lines = createInterface({ input: createReadStream(join(folder, key)).pipe(createGunzip()) });
    for await (const line of lines) {
      taken += 1;
      // Ids go beyond 2^53, where `JSON.parse` would round them.
      ids.add(String((parseJson(line) as { readonly id: string | number | bigint }).id));
    }
  }
  return { lost: lived.filter((id) => !ids.has(id)).length, doubled: taken - ids.size, taken };
}
