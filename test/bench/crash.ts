import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { type Source, sources } from '../../lib/snapshot/sources/sources.ts';
import { type Cost, killCommand } from '../snapshot/killed-command.ts';
import { type Bench, bounded, type Row } from './bench.ts';

const RATE = 2;
/** The default of `SYNC_PART_SECONDS`. */
const PART_SECONDS = 30;
const KILLS = 3;
const [EARLIEST_MS, LATEST_MS] = [35_000, 120_000];

/** What a kill -9 of the command costs at the default settings: requests that must be sent again. */
export const crash: Bench = {
  name: 'crash',
  run: async () => (await Promise.all(sources.map(killSource))).flat(),
};

async function killSource(source: Source): Promise<readonly Row[]> {
  const costs: Cost[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) costs.push(await killOnce(source));
  const most = Math.max(...costs.map(({ requestsLost }) => requestsLost));
  const lost = costs.map(({ requests, requestsLost }) => `${requestsLost} of ${requests}`).join(', ');
  return [
    bounded(
      `${source}, kill -9 at ${RATE}/s, pages of 200: requests to send again (seconds)`,
      `${lost} (at most ${(most / RATE).toFixed(1)} s)`,
      `${PART_SECONDS} s`,
      most <= PART_SECONDS * RATE,
    ),
  ];
}

async function killOnce(source: Source): Promise<Cost> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  await using sandbox = await startPlatform({
    pageCap: 200,
    calculations: 100_000,
    filesPerSet: 100_000,
    dataFiles: 1_000,
  });
  const at = performance.now() + EARLIEST_MS + Math.random() * (LATEST_MS - EARLIEST_MS);
  const settings = {
    PLATFORM_BASE_URL: sandbox.url,
    PLATFORM_TOKEN: sandbox.token,
    PLATFORM_RATE: String(RATE),
  };
  try {
    return await killCommand({ source, sandbox, settings, folder, isTime: () => performance.now() > at });
  } finally {
    await rm(folder, { recursive: true });
  }
}
