import { readdir } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { compareKeys, StoreError } from '../../store/index.ts';
import { type CheckedRule, checkRule, openTables } from '../../tables/index.ts';
import { writeTextFile } from '../../text/index.ts';
import type { Run } from '../command.ts';
import { fileError, oneGiven } from '../errors/usage-error.ts';
import { checkWritable, readText } from '../options/files.ts';
import { openStoreOf } from '../options/from-settings.ts';
import { LISTED, LISTED_JSON } from '../options/options.ts';
import { junitLines, labelOf, outcomeOf, tableOf } from '../query/rule-outcomes.ts';
import { counted, type Ended, number, printFound, shown, shownLines, warnOn } from '../terminal/terminal.ts';

/** Runs each rule of a folder over what is stored. Their outcomes are stored only once they are printed. */
export default (async ([given], { junit, json, limit, seconds, memory }, terminal) => {
  oneGiven({ '--json': json, '--junit': junit });
  const folder = given ?? 'rules';
  const files = await rulesIn(folder);
  if (junit !== undefined) await checkWritable(junit, '--junit');
  const { signal, out, width } = terminal;
  const store = await openStoreOf(terminal);
  await using tables = await openTables(store, { memoryMb: memory });
  const maxListed = limit ?? (json ? LISTED_JSON : LISTED);
  const suite = basename(resolve(folder));
  const all: Awaited<ReturnType<typeof checkRule>>[] = [];
  for (const file of files) {
    const read = () => readText(join(folder, file), terminal);
    const about = { name: `${suite}/${file}`, file, read, maxListed };
    const outcome = await checkRule({ ...about, store, tables, now: Date.now, seconds, signal });
    all.push(outcome);
    if (json) continue;
    out(`${shown(file)}: ${shownLines(outcomeOf(outcome.checked))}`);
    for (const line of tableOf(outcome.checked, width)) out(`  ${shown(line)}`);
  }
  const rules = all.map(({ checked }) => checked);
  if (junit !== undefined)
    await writeTextFile(junit, () => junitLines(suite, rules), { isGzipped: false, signal });
  const ended = printFound({ json: { rules }, words: summaryOf(rules), ended: endOf(rules) }, json, terminal);
  for (const { save } of all) await save().catch(notSaved(warnOn(terminal)));
  return ended;
}) satisfies Run<'check'>;

/** The files of rules, in the order of their names. Throws `UsageError` if there are none. */
async function rulesIn(folder: string): Promise<readonly string[]> {
  const expected = 'a folder with rules, each a file *.sql';
  const names = await readdir(folder).catch((error: unknown) => {
    throw fileError(folder, expected, error);
  });
  // A name that begins with a dot is hidden, such as the files that macOS puts beside others.
  const files = names.filter((name) => /^[^.].*\.sql$/i.test(name));
  if (files.length === 0) throw fileError(folder, expected, `${counted(names.length, 'other file')}`);
  return files.sort(compareKeys);
}

function endOf(rules: readonly CheckedRule[]): Ended {
  if (rules.some(({ status }) => status === 'not-run')) return 'failed';
  const isError = rules.some(({ status, severity }) => status === 'violated' && severity === 'error');
  return isError ? 'incomplete' : 'done';
}

function summaryOf(rules: readonly CheckedRule[]): readonly string[] {
  const outcomes = Object.entries(Object.groupBy(rules, labelOf));
  const counts = outcomes.map(([label, { length } = []]) => `${number(length)} ${label}`);
  return [`${counted(rules.length, 'rule')}: ${counts.join(', ')}`];
}

/** A read-only store is no failure of the rules. */
const notSaved =
  (warn: ReturnType<typeof warnOn>) =>
  (error: unknown): void => {
    if (!(error instanceof StoreError)) throw error;
    warn('what this check found is not stored: the next one compares with the check before it', error);
  };
