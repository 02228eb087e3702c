import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBodyBudget } from '../../lib/platform/http/body.ts';
import { createTransport } from '../../lib/platform/http/transport.ts';
import { createPartWriter } from '../../lib/snapshot/run/part-writer.ts';
import type { Scan } from '../../lib/snapshot/scan.ts';
import { calculationPageReader } from '../../lib/snapshot/sources/calculations/pages.ts';
import { cardsScan, fanOutPosition } from '../../lib/snapshot/sources/cards/scan.ts';
import { dataFilesScan } from '../../lib/snapshot/sources/data-files/scan.ts';
import { filesPosition, filesScan } from '../../lib/snapshot/sources/files/scan.ts';
import { resumable } from '../../lib/snapshot/sources/source-definition.ts';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import { ownPeakMb } from '../own-peak.ts';
import { createFakePace } from '../pace/fake-pace.ts';
import { clientOver } from '../platform/client-over.ts';
import { fromBeginning } from '../snapshot/scanned.ts';
import { type LargeKind, largeResponses, respondWith } from './large-responses.ts';

/*
 * Reads responses of many megabytes (`argv`: their kind, the megabytes of each, their number) as a snapshot does.
 * Prints the outcome, the peak memory in MB, and the CPU seconds.
 */

const [, , kind = '', sizeMb = '20', responses = '1'] = process.argv;

const { call } = clientOver({
  send: createTransport({
    baseUrl: new URL('https://platform.invalid'),
    tokenHeader: 'x-token',
    maxResponseBytes: 100 * 1024 * 1024,
    bodies: createBodyBudget(),
    exchange: respondWith(largeResponses[kind as LargeKind], Number(sizeMb) * 1_000_000),
    now: Date.now,
  }),
  pace: createFakePace(),
  now: () => performance.now(),
  sleep: async () => undefined,
  random: () => 0.5,
});

const datasetIds = Array.from({ length: Number(responses) }, (_, at) => `dataset-${at}`);
const filesetId = '0d5d6f3e-41c5-4f0c-9b3c-0c1d2e3f4a5b';

const scans: Readonly<Record<string, () => Scan<unknown>>> = {
  cards: () => resumable(cardsScan({ call, datasetIds, drill: true }), fanOutPosition),
  files: () => resumable(filesScan({ call, filesetIds: [filesetId], search: {} }), filesPosition),
  'data-files': () => resumable(dataFilesScan({ call, ids: ['7'] }), fanOutPosition),
};

/** The number of records that were read. */
async function taken(scan: Scan<unknown>): Promise<string> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'large-'));
  const writer = createPartWriter({
    store: createDirectoryStore(folder.path),
    folder: 'work/',
    compression: 'gzip',
  });
  for await (const { batch } of scan(fromBeginning)) await writer.write(batch);
  await writer.end();
  let records = 0;
  await writer.storeEnded(0, async (part) => {
    records = part.records;
  });
  return `took ${records}`;
}

async function read(): Promise<string> {
  const scan = scans[kind.split(' ')[0] ?? ''];
  if (scan !== undefined) return taken(scan());
  const readPage = calculationPageReader({ call, selection: {}, sleep: async () => undefined }, 'id');
  const page = await readPage({ ascending: true, offset: 0, limit: 5_000 });
  return `read ${page.keys.length}`;
}

const message = await read().catch(String);
const peakMb = Math.round(ownPeakMb());
const { user, system } = process.cpuUsage();
const cpuSeconds = Math.round((user + system) / 10_000) / 100;
process.stdout.write(JSON.stringify({ message, peakMb, cpuSeconds }));
