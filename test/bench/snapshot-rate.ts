import { setTimeout as sleep } from 'node:timers/promises';
import { type Bench, bounded, percent } from './bench.ts';
import { measureProcess } from './measured-process.ts';
import { type SandboxProcess, startSandboxProcess } from './sandbox-process.ts';

const SECONDS = 60;
const RATE = 10;
const LIMIT = 10.2;
const LATENCY_MS = 50;
const PAGE_ROWS = 100;

/** Pages overlap by one row. The records last a few seconds longer than is measured, for the start and the end. */
const RECORDS = (PAGE_ROWS - 1) * RATE * (SECONDS + 5);

/** A snapshot of a platform that responds slowly: the used share of the rate, and the number of 429s. */
export const snapshotRate: Bench = {
  name: 'snapshot-rate',
  about:
    'A snapshot of a platform that responds slowly: how much of the rate it uses, and how often it is refused.',
  async run() {
    const flags = ['--latency', String(LATENCY_MS), '--rate', String(LIMIT)] as const;
    await using sandbox = await startSandboxProcess('--calculations', String(RECORDS), ...flags);
    const snapshot = measureProcess({
      command: () => ['test/bench/snapshot-by-small-pages.ts', String(PAGE_ROWS)],
      environment: (folder) => ({ ...sandbox.settings, PLATFORM_RATE: String(RATE), SYNC_STORE: folder }),
    });
    const usedASecond = await countSteady(sandbox);
    const taken = await snapshot;
    if (taken.records !== RECORDS)
      throw new Error(`the snapshot did not take all ${RECORDS} records: ${JSON.stringify(taken)}`);

    const { '429': refused = 0 } = await statuses(sandbox);
    const share = usedASecond / RATE;
    const at = `${LATENCY_MS} ms a page, PLATFORM_RATE ${RATE}, limit ${LIMIT}/s, ${SECONDS} s after the first`;
    return [
      bounded(`share of the rate used (${at})`, percent(share), 'at least 97 %', share >= 0.97),
      bounded(`refused with 429 (${at})`, String(refused), 'none', refused === 0),
    ];
  },
};

/** Pages served per second, from one second after the first. */
async function countSteady(sandbox: SandboxProcess): Promise<number> {
  while ((await pagesServed(sandbox)) === 0) await sleep(10);
  await sleep(1_000);
  const before = await pagesServed(sandbox);
  const startedMs = performance.now();
  await sleep(SECONDS * 1_000);
  const pages = (await pagesServed(sandbox)) - before;
  return pages / ((performance.now() - startedMs) / 1_000);
}

const pagesServed = async (sandbox: SandboxProcess) => (await statuses(sandbox))['200'] ?? 0;

const statuses = async (sandbox: SandboxProcess) =>
  (await sandbox.counts()).byOperation['searchCalculations'] ?? {};
