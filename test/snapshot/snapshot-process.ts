import { sleep } from '../../lib/base/async.ts';
import { countCalls } from '../../lib/platform/events.ts';
import { scanOfRun, startRun } from '../../lib/snapshot/run/begin-run.ts';
import { readCheckpoint } from '../../lib/snapshot/run/checkpoint.ts';
import { takeRun } from '../../lib/snapshot/run/take-run.ts';
import { openStore } from '../../lib/store/open.ts';
import { platformOf } from './sandbox-call.ts';

/*
 * A snapshot in a process of its own, for tests that kill it: `snapshot-process.ts URL TOKEN STORE [RUN]`. Prints the
 * run's id when it can be resumed, and `published` at the end. Pages and parts are small.
 */

const [url = '', token = '', location = '', run] = process.argv.slice(2);
const store = await openStore(location, { s3: process.env });
const { observe, counts } = countCalls();
const { call } = platformOf({ url, token }, { observe });
const clock = { store, now: Date.now, random: Math.random };
const platform = new URL(url).host;
const saved =
  run === undefined
    ? await startRun({ source: 'calculations', compression: 'gzip', platform, selection: {} }, clock)
    : await readCheckpoint(store, 'calculations', run);
// This loads the code of the scan before the id is printed, so that a later kill hits the process while it scans.
const scan = await scanOfRun(saved.checkpoint, { ...clock, call, sleep, pageRows: 100 });
console.log(saved.checkpoint.run);
const { kind } = await takeRun(saved, scan, {
  ...clock,
  platform,
  callCounts: counts,
  force: false,
  partBytes: 20_000,
});
console.log(kind);
