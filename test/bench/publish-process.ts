import { sleep } from '../../lib/base/async.ts';
import { createProcessPace } from '../../lib/pace/fleet-pace.ts';
import { countCalls } from '../../lib/platform/events.ts';
import { createPlatform } from '../../lib/platform/open-calls.ts';
import { fixedToken } from '../../lib/platform/token.ts';
import { beginRun, scanOfRun } from '../../lib/snapshot/run/begin-run.ts';
import { readCheckpoint } from '../../lib/snapshot/run/checkpoint.ts';
import { publishTaken, takeSlice } from '../../lib/snapshot/run/take-run.ts';
import type { SnapshotRequest } from '../../lib/snapshot/sources/request.ts';
import { openStore } from '../../lib/store/open.ts';
import type { Store } from '../../lib/store/store.ts';
import { makeAllTables } from './report-records.ts';

/*
 * One of the three phases of a snapshot, in a separate process: `publish-process.ts scan URL STORE SOURCE COMPRESSION`
 * prints the run, `publish-process.ts publish URL STORE SOURCE RUN` publishes it, and
 * `publish-process.ts tables URL STORE SOURCE` builds its tables. Prints its cost as one line of JSON.
 */

const [third, url = '', location = '', source, argument = ''] = process.argv.slice(2);
const FILESET = '00000000-0000-4000-8000-000000000001';
const request: SnapshotRequest =
  source === 'files' ? { source: 'files', filesets: [FILESET] } : { source: 'calculations' };
const { observe, counts } = countCalls();
let readBytes = 0;
const store = counting(await openStore(location));
const startedMs = performance.now();
const startedCpu = process.cpuUsage();

if (third === 'scan') {
  const { call } = createPlatform({
    baseUrl: url,
    token: fixedToken('bench'),
    pace: createProcessPace({ rate: 10_000, concurrency: 8 }),
    observe,
  });
  const compression = argument === 'zstd' ? 'zstd' : 'gzip';
  const clock = { store, now: Date.now };
  const platform = new URL(url).host;
  const saved = await beginRun(request, { ...clock, compression, platform, random: Math.random });
  const scan = await scanOfRun(saved.checkpoint, { ...clock, call, sleep });
  const { checkpoint } = await takeSlice(saved, { store, scan, callCounts: counts });
  report({ run: checkpoint.run, records: checkpoint.records });
} else if (third === 'tables') {
  await makeAllTables(store, [request.source]);
  report({});
} else {
  const { checkpoint } = await readCheckpoint(store, request.source, argument);
  const { kind, manifest } = await publishTaken(checkpoint, { store, now: Date.now, force: true });
  if (kind !== 'published') throw new Error(`expected a published run, got ${kind}`);
  report({
    run: checkpoint.run,
    records: manifest.records,
    parts: manifest.parts.length,
    changes: manifest.changes,
  });
}

function report(about: object): void {
  const { user, system } = process.cpuUsage(startedCpu);
  const took = {
    seconds: (performance.now() - startedMs) / 1_000,
    cpuSeconds: (user + system) / 1e6,
    readMb: readBytes / 1e6,
    peakMb: process.resourceUsage().maxRSS / 1_000,
  };
  console.log(JSON.stringify({ ...about, ...took }));
}

/** Wraps a store, and counts the bytes that are read from it. */
function counting(counted: Store): Store {
  return {
    ...counted,
    async get(...args) {
      const found = await counted.get(...args);
      readBytes += found?.body.byteLength ?? 0;
      return found;
    },
    async stream(...args) {
      const bytes = await counted.stream(...args);
      return bytes && countBytes(bytes);
    },
  };
}

async function* countBytes(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    readBytes += chunk.byteLength;
    yield chunk;
  }
}
