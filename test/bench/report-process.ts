import { writeFileSync } from 'node:fs';
import { printReport } from '../../lib/report/write-report.ts';
import { openStore } from '../../lib/store/open.ts';

/* Makes the report of a store: `report-process.ts STORE FILE`. Prints what it took as one line of JSON. */

const [location = '', file = ''] = process.argv.slice(2);
const { page, facts } = await printReport({
  store: await openStore(location),
  now: Date.now,
  signal: new AbortController().signal,
});
writeFileSync(file, page);
const { user, system } = process.cpuUsage();
console.log(
  JSON.stringify({
    cpuSeconds: (user + system) / 1e6,
    peakMb: process.resourceUsage().maxRSS / 1_000,
    bytes: page.byteLength,
    records: facts.calculations?.total ?? 0,
    faults: facts.faults,
  }),
);
