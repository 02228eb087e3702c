import { type GroupName, groupNames } from './groups.ts';
import { lookedAt } from './looked-at.ts';
import { mutate } from './mutate.ts';
import { printed, reachesGoal, reportOf } from './report.ts';

/*
 * `npm run mutants -- [GROUP…] [FILE…]`: changes the code in one place after another, and counts which changes the tests
 * notice. Without a group: all of them; files, as globs, limit one group to a part of its code. Exits 1 if a group is
 * below its goal. See docs/proofs.md.
 */

const words = process.argv.slice(2);
const isGroup = (word: string): word is GroupName => (groupNames as readonly string[]).includes(word);
const named = words.filter(isGroup);
const files = words.filter((word) => word.includes('/'));
const unknown = words.filter((word) => !isGroup(word) && !word.includes('/'));

if (unknown.length > 0 || (files.length > 0 && named.length !== 1)) {
  const got = unknown.length > 0 ? `'${unknown.join(' ')}'` : `files of ${named.length} groups`;
  console.error(`expected groups (${groupNames.join(', ')}), or one group and files of it, got ${got}`);
  process.exit(2);
}

const reports = [];
for (const name of named.length > 0 ? named : groupNames)
  reports.push(reportOf(name, await mutate(name, files), lookedAt));
console.log(`\n${printed(reports)}`);
process.exitCode = reports.every(reachesGoal) ? 0 : 1;
