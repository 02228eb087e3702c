import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { numberOption, oneOf, readUsage, wrong } from '../usage.ts';
import type { Sample } from './changes.ts';
import { type GroupName, groupNames } from './groups.ts';
import { mutate } from './mutate.ts';
import { printed, reachesFloor, reachesGoal, reportOf } from './report.ts';

/*
 * `npm run mutants -- [GROUP…] [FILE…]`: changes one expression of the code after another, and counts which changes
 * the tests notice. Default: all groups. Files, as globs, limit one group to a part of its code. A group below its
 * goal fails. `--sample N` tries N changes of each group, different ones for each commit (`--seed TEXT` selects the
 * same ones again), and fails if fewer are noticed than chance explains. The last line is `N passed, N failed`. See
 * docs/proofs.md.
 */

const { groups, files, sample } = readUsage(() => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { sample: { type: 'string' }, seed: { type: 'string' } },
  });
  const globs = positionals.filter((word) => word.includes('/'));
  const named = positionals
    .filter((word) => !word.includes('/'))
    .map((word) => oneOf('a group', word, groupNames));
  if (globs.length > 0 && named.length !== 1) throw wrong('files', 'one group with them', named.join(' '));
  return { groups: named, files: globs, sample: sampleOf(values) };
});

function sampleOf({ sample: count, seed }: { sample?: string; seed?: string }): Sample | undefined {
  if (count === undefined) return undefined;
  return { count: numberOption('sample', count), seed: seed ?? commit() };
}

function commit(): string {
  return execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { encoding: 'utf8' }).trim();
}

const reports = [];
for (const name of groups.length > 0 ? groups : groupNames)
  reports.push(reportOf(name, await mutate(name as GroupName, files, sample)));
console.log(`\n${printed(reports)}`);
if (sample !== undefined)
  console.log(`again: npm run mutants -- --sample ${sample.count} --seed ${sample.seed}`);
const verdicts = sample === undefined ? reports.map(reachesGoal) : [reachesFloor(reports)];
const failed = verdicts.filter((reached) => !reached).length;
console.log(`${verdicts.length - failed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
