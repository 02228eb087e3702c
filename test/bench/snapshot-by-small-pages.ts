import { sleep } from '../../lib/base/async.ts';
import { openSession } from '../../lib/session.ts';
import { scanOfRun, startRun } from '../../lib/snapshot/run/begin-run.ts';
import { takeRun } from '../../lib/snapshot/run/take-run.ts';

/*
 * `node snapshot-by-small-pages.ts ROWS`: runs `platform-sync snapshot calculations` with pages of this number of rows,
 * so that a snapshot of many pages does not need millions of records. Prints the manifest.
 */

const session = openSession({ environment: process.env, err: (text) => console.error(text) });
const store = await session.store();
const platform = new URL(session.settings.PLATFORM_BASE_URL).host;
const request = { source: 'calculations', compression: 'gzip', platform, selection: {} } as const;
const run = await startRun(request, { store, now: Date.now, random: Math.random });
const scan = await scanOfRun(run.checkpoint, {
  call: session.call,
  store,
  sleep,
  pageRows: Number(process.argv[2]),
});
const { manifest } = await takeRun(run, scan, {
  store,
  platform,
  callCounts: session.callCounts,
  force: false,
  now: Date.now,
  random: Math.random,
});
console.log(JSON.stringify(manifest));
