import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { readRecorded } from '../../local-aws/permissions/recorded.ts';
import { readGrants } from './grants.ts';
import { PAGE, printPage, readRows, rowsOf } from './page.ts';

/*
 * Runs after the tests that start processes, with the folder of their recorded calls. Checks that each grant of the
 * template was used by a test or has a reason. The page may name a test that did not use the grant this time (some
 * calls depend on timing) if another one did, but not a test that no longer exists. `--write` writes the page.
 */
const [folder = '', flag] = process.argv.slice(2);
const before = readRows(readFileSync(PAGE, 'utf8'));
const rows = rowsOf(readGrants(), readRecorded(folder), before);
const isWritten = flag === '--write';
if (isWritten) writeFileSync(PAGE, printPage(rows));
const faults = rows.flatMap(({ by, ...grant }) => {
  const what = `${grant.who} may ${grant.action} on ${grant.on}`;
  if (by === '') return [`${what}: expected a test that needs it, or no such statement`];
  const previous = before.find((row) =>
    Object.entries(grant).every(([name, of]) => Reflect.get(row, name) === of),
  );
  if (isWritten || previous === undefined || !previous.by.startsWith('test/') || existsSync(previous.by))
    return [];
  return [`${what}: ${PAGE} names ${previous.by}, which is gone; npm run test:processes -- --write`];
});
for (const fault of faults) console.log(`FAILED: what roles may do: ${fault}`);
process.exitCode = faults.length > 0 ? 1 : 0;
