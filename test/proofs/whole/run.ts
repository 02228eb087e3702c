import { parseArgs } from 'node:util';
import { numberOption, oneOf, readUsage, wrong } from '../usage.ts';
import { breaks } from './breaks.ts';
import { dayOf, kindNames, kinds, nightsOf, planOf, tableKinds } from './plan.ts';
import { simulate } from './simulate.ts';

/*
 * `npm run simulate -- --seeds 1..1000` runs the schedules of these seeds on each kind of table. `--table SQLite`
 * selects one kind, `--day` makes each schedule a day of everything at once, `--nights 365` a year, `--only jobs` (or
 * `scans`, `batches`, `limits`) runs one kind of work. `--log` prints the timeline of each, and `--break NAME` removes
 * a rule first. The last line is `N passed, N failed`.
 */

const { values, nights, broken, only, first, last, tables } = readUsage(() => {
  const { values: given } = parseArgs({
    options: {
      seeds: { type: 'string', default: '1..20' },
      log: { type: 'boolean', default: false },
      day: { type: 'boolean', default: false },
      nights: { type: 'string' },
      break: { type: 'string' },
      table: { type: 'string' },
      only: { type: 'string' },
    },
  });
  const [from = 1, to = from] = given.seeds.split('..').map((seed) => numberOption('seeds', seed));
  if (to < from) throw wrong('--seeds', 'the smaller seed first', given.seeds);
  const tables = given.table === undefined ? tableKinds : [oneOf('--table', given.table, tableKinds)];
  const rule = given.break === undefined ? undefined : oneOf('--break', given.break, Object.keys(breaks));
  const kind = given.only === undefined ? undefined : oneOf('--only', given.only, kindNames);
  const nights = given.nights === undefined ? undefined : numberOption('nights', given.nights);
  return {
    values: given,
    nights,
    broken: rule === undefined ? undefined : breaks[rule],
    only: kind && kinds[kind],
    first: from,
    last: to,
    tables,
  };
});

// A schedule creates many errors, and nothing reads their stacks, which cost time.
Error.stackTraceLimit = 0;
let failed = 0;
const seeds = Array.from({ length: last - first + 1 }, (_, index) => first + index);
for (const [seed, table] of seeds.flatMap((each) => tables.map((kind) => [each, kind] as const))) {
  const full =
    nights === undefined ? (values.day ? dayOf : planOf)(seed, table) : nightsOf(seed, nights, table);
  const plan = { ...full, ...only?.(full) };
  const startedMs = performance.now();
  const { violations, trace, facts } = await simulate({ ...plan, ...broken?.among?.(plan) }, broken?.parts());
  if (values.log) console.log(trace.join('\n'));
  console.log(
    `seed ${seed}, ${table}, ${Math.round(performance.now() - startedMs)} ms: ${JSON.stringify(facts)}`,
  );
  for (const violation of violations) console.log(`  ${violation}`);
  if (violations.length === 0) continue;
  failed += 1;
  const kind = `${values.day ? ' --day' : ''}${nights === undefined ? '' : ` --nights ${nights}`}${values.only === undefined ? '' : ` --only ${values.only}`}`;
  const options = `--table ${table} --seeds ${seed} --log${kind}`;
  const without = values.break === undefined ? '' : ` --break '${values.break}'`;
  console.log(`FAILED: again: npm run simulate -- ${options}${without}`);
}
console.log(`${seeds.length * tables.length - failed} passed, ${failed} failed`);
// Processes of the last schedules still wait for a clock that has stopped.
process.exit(failed > 0 ? 1 : 0);
