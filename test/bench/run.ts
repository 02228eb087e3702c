import { availableParallelism } from 'node:os';
import type { Bench } from './bench.ts';
import { churn } from './churn.ts';
import { cold } from './cold.ts';
import { cost } from './cost.ts';
import { crash } from './crash.ts';
import { jobs } from './jobs.ts';
import { pace } from './pace.ts';
import { publish } from './publish.ts';
import { report } from './report.ts';
import { snapshot } from './snapshot.ts';
import { snapshotRate } from './snapshot-rate.ts';
import { tables } from './tables.ts';
import { tablesRead } from './tables-read.ts';

const benches: readonly Bench[] = [
  snapshot,
  publish,
  churn,
  crash,
  snapshotRate,
  pace,
  jobs,
  cold,
  cost,
  tables,
  tablesRead,
  report,
];

const requested = process.argv.slice(2);
const unknown = requested.filter((name) => !benches.some((bench) => bench.name === name));
if (unknown.length > 0) {
  console.error(`expected any of ${benches.map(({ name }) => name).join(', ')}, got ${unknown.join(', ')}`);
  process.exit(2);
}

console.log(`Node ${process.versions.node}, ${availableParallelism()} cores\n`);
console.log('| bench | measured | value | bound | |\n|---|---|---|---|---|');
for (const bench of benches.filter(({ name }) => requested.length === 0 || requested.includes(name))) {
  for await (const { measured, value, bound = '', ok } of await bench.run()) {
    console.log(
      `| ${bench.name} | ${measured} | ${value} | ${bound} | ${ok === undefined ? '' : ok ? 'holds' : 'MISSED'} |`,
    );
    if (ok === false) process.exitCode = 1;
  }
}
