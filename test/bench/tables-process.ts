import { sleep } from '../../lib/base/time/sleep.ts';
import { createLocalPace } from '../../lib/pace/local-pace.ts';
import { createPlatform } from '../../lib/platform/client.ts';
import { countCalls } from '../../lib/platform/events.ts';
import { fixedToken } from '../../lib/platform/token.ts';
import type { Manifest } from '../../lib/snapshot/manifest.ts';
import { beginRun } from '../../lib/snapshot/run/begin-run.ts';
import { scanOfRun } from '../../lib/snapshot/run/scan-of-run.ts';
import { publishTaken } from '../../lib/snapshot/run/take-run.ts';
import { takeSlice } from '../../lib/snapshot/run/take-slice.ts';
import { openStore } from '../../lib/store/open.ts';
import { parquetOfRun } from '../../lib/tables/made/made-files.ts';
import { makeTables } from '../../lib/tables/make/make-tables.ts';

/*
 * A snapshot of all calculations, with Parquet or without: `tables-process.ts URL STORE with|without`. Prints what it took
 * as one line of JSON.
 */

const [url = '', location = '', withOrWithout] = process.argv.slice(2);
const store = await openStore(location);
const { observe, counts } = countCalls();
const { call } = createPlatform({
  baseUrl: url,
  token: fixedToken('bench'),
  pace: createLocalPace({ rate: 10_000, concurrency: 8 }),
  observe,
});
const clock = { store, now: Date.now };
const platform = new URL(url).host;
const startedMs = performance.now();
const request = { source: 'calculations' } as const;
const saved = await beginRun(request, { ...clock, compression: 'gzip', platform, random: Math.random });
const scan = await scanOfRun(saved.checkpoint, { ...clock, call, sleep });
const { checkpoint } = await takeSlice(saved, { store, scan, callCounts: counts });
const { kind, manifest } = await publishTaken(checkpoint, { ...clock, force: true });
if (kind !== 'published') throw new Error(`expected a published run, got ${kind}`);
if (withOrWithout === 'with') {
  const given = { store, groups: ['calculations'], now: Date.now, isDry: false } as const;
  const making = makeTables({ ...given, isOver: () => false, warn: (what) => console.error(what) });
  for await (const made of making)
    if (made.kind !== 'made') throw new Error(`expected tables, got ${made.kind}`);
}
const parquet = (await parquetOfRun(store, 'calculations', manifest)).filter((file) => file !== undefined);
const seconds = (performance.now() - startedMs) / 1_000;
const { user, system } = process.cpuUsage();
console.log(
  JSON.stringify({
    seconds,
    cpuSeconds: (user + system) / 1e6,
    peakMb: process.resourceUsage().maxRSS / 1_000,
    records: manifest.records,
    jsonMb: megabytesOf(manifest.parts),
    parquetMb: megabytesOf(parquet),
    other: parquet.reduce((sum, { other }) => sum + other, 0),
  }),
);

function megabytesOf(parts: readonly Pick<Manifest['parts'][number], 'bytes'>[]): number {
  return parts.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6;
}
