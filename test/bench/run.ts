import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { withoutFlaky } from '../flaky.ts';
import type { Bench, Row } from './bench.ts';
import { churn } from './churn.ts';
import { cold } from './cold.ts';
import { cost } from './cost.ts';
import { everyday } from './everyday.ts';
import { formulas } from './formulas.ts';
import { jobs } from './jobs.ts';
import { pace } from './pace.ts';
import { differences, withRows } from './page.ts';
import { publish } from './publish.ts';
import { ratios } from './ratios.ts';
import { report } from './report.ts';
import { snapshot } from './snapshot.ts';
import { snapshotRate } from './snapshot-rate.ts';
import { table } from './table.ts';
import { together } from './together.ts';

const benches: readonly Bench[] = [
  everyday,
  ratios,
  snapshot,
  publish,
  churn,
  snapshotRate,
  pace,
  jobs,
  table,
  together,
  cold,
  cost,
  report,
  formulas,
];

/** Benches whose bounds must hold in every run: a failure is not retried. */
const RACES: readonly Bench[] = [jobs];

const PAGE = 'docs/measurements.md';

const requested = process.argv.slice(2);
const unknown = requested.filter((name) => !benches.some((bench) => bench.name === name));
if (unknown.length > 0) {
  console.error(`expected any of ${benches.map(({ name }) => name).join(', ')}, got ${unknown.join(', ')}`);
  process.exit(2);
}

console.log(`Node ${process.versions.node}, ${availableParallelism()} cores\n`);
console.log('| bench | measured | value | bound | |\n|---|---|---|---|---|');
const [counts, differing] = [{ passed: 0, failed: 0 }, [] as string[]];
for (const bench of benches.filter(({ name }) => requested.length === 0 || requested.includes(name))) {
  let rows = await measured(bench);
  if (!holds(rows)) {
    const tried = RACES.includes(bench) ? [] : [bench];
    await withoutFlaky({ passed: 0, failed: 1 }, tried, async () => {
      rows = await measured(bench);
      return holds(rows);
    });
  }
  for (const { ok } of rows) if (ok !== undefined) counts[ok ? 'passed' : 'failed'] += 1;
  const page = readFileSync(PAGE, 'utf8');
  differing.push(...differences(page, bench, rows));
  writeFileSync(PAGE, withRows(page, bench, rows, commit()));
}
if (differing.length > 0) console.log(`\nOtherwise than ${PAGE} said:\n${differing.join('\n')}`);
console.log(`${counts.passed} passed, ${counts.failed} failed`);
if (counts.failed > 0) process.exitCode = 1;

/** Runs a bench, and prints each row immediately. */
async function measured(bench: Bench): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for await (const row of await bench.run()) {
    const { measured, value, bound = '', ok } = row;
    console.log(
      `| ${bench.name} | ${measured} | ${value} | ${bound} | ${ok === undefined ? '' : ok ? 'holds' : 'MISSED'} |`,
    );
    rows.push(row);
  }
  return rows;
}

function holds(rows: readonly Row[]): boolean {
  return rows.every(({ ok }) => ok !== false);
}

/** The commit that was measured and today, as the page names them. */
function commit(): string {
  const hash = execFileSync('git', ['rev-parse', '--short=8', 'HEAD'], { encoding: 'utf8' }).trim();
  return `\`${hash}\`, ${new Date().toISOString().slice(0, 10)}`;
}
