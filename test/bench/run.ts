import { availableParallelism } from 'node:os';
import { withoutFlaky } from '../flaky.ts';
import type { Bench } from './bench.ts';
import { churn } from './churn.ts';
import { cold } from './cold.ts';
import { cost } from './cost.ts';
import { jobs } from './jobs.ts';
import { pace } from './pace.ts';
import { publish } from './publish.ts';
import { report } from './report.ts';
import { snapshot } from './snapshot.ts';
import { snapshotRate } from './snapshot-rate.ts';
import { table } from './table.ts';

const benches: readonly Bench[] = [
  snapshot,
  publish,
  churn,
  snapshotRate,
  pace,
  jobs,
  table,
  cold,
  cost,
  report,
];

/** What these show must never happen: that it did once is enough. */
const RACES: readonly Bench[] = [jobs];

const requested = process.argv.slice(2);
const unknown = requested.filter((name) => !benches.some((bench) => bench.name === name));
if (unknown.length > 0) {
  console.error(`expected any of ${benches.map(({ name }) => name).join(', ')}, got ${unknown.join(', ')}`);
  process.exit(2);
}

console.log(`Node ${process.versions.node}, ${availableParallelism()} cores\n`);
console.log('| bench | measured | value | bound | |\n|---|---|---|---|---|');
for (const bench of benches.filter(({ name }) => requested.length === 0 || requested.includes(name))) {
  if (await holds(bench)) continue;
  const tried = RACES.includes(bench) ? [] : [bench.name];
  const { failed } = await withoutFlaky({ passed: 0, failed: 1 }, tried, () => holds(bench));
  if (failed > 0) process.exitCode = 1;
}

/** Prints the rows of a bench; whether all are within their bounds. */
async function holds(bench: Bench): Promise<boolean> {
  let allHold = true;
  for await (const { measured, value, bound = '', ok } of await bench.run()) {
    console.log(
      `| ${bench.name} | ${measured} | ${value} | ${bound} | ${ok === undefined ? '' : ok ? 'holds' : 'MISSED'} |`,
    );
    allHold &&= ok !== false;
  }
  return allHold;
}
