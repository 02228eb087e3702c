import { readdir } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { compareKeys, StoreError } from '../../store/index.ts';
import type { CheckedRule } from '../../tables/index.ts';
import { checkRule, openTables } from '../../tables/index.ts';
import { writeTextFile } from '../../text/index.ts';
import type { Run } from '../command.ts';
import { fileError, oneGiven } from '../errors/usage-error.ts';
import { checkWritable, readText } from '../options/files.ts';
import { openStoreOf } from '../options/from-settings.ts';
import { DEFAULT_LISTED, DEFAULT_LISTED_JSON } from '../options/options.ts';
import { hiddenColumns, textTable } from '../query/print-result.ts';
import {
  andMore,
  counted,
  type ExitStatus,
  number,
  printCommandResult,
  shown,
  shownLines,
  warnOn,
} from '../terminal/terminal.ts';

/** Runs each rule of a folder on the stored tables. Stores the outcomes only after all have been printed. */
export default (async ([given], { junit, json, limit, seconds, memory }, terminal) => {
  oneGiven({ '--json': json, '--junit': junit });
  const folder = given ?? 'rules';
  const files = await rulesIn(folder);
  if (junit !== undefined) await checkWritable(junit, '--junit');
  const { signal, out, width } = terminal;
  const store = await openStoreOf(terminal);
  await using tables = await openTables(store, { memoryMb: memory });
  const maxListed = limit ?? (json ? DEFAULT_LISTED_JSON : DEFAULT_LISTED);
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
  const ended = printCommandResult(
    { json: { rules }, words: summaryOf(rules), ended: endOf(rules) },
    json,
    terminal,
  );
  for (const { save } of all) await save().catch(warnNotSaved(warnOn(terminal)));
  return ended;
}) satisfies Run<'check'>;

/** The files with rules, sorted by name. Throws `UsageError` for a folder without rules. */
async function rulesIn(folder: string): Promise<readonly string[]> {
  const expected = 'a folder with rules, each a file *.sql';
  const names = await readdir(folder).catch((error: unknown) => {
    throw fileError(folder, expected, error);
  });
  // Hidden files are skipped, such as the `._` files of macOS.
  const files = names.filter((name) => /^[^.].*\.sql$/i.test(name));
  if (files.length === 0) throw fileError(folder, expected, `${counted(names.length, 'other file')}`);
  return files.sort(compareKeys);
}

function endOf(rules: readonly CheckedRule[]): ExitStatus {
  if (rules.some(({ status }) => status === 'not-run')) return 'failed';
  const isError = rules.some(({ status, severity }) => status === 'violated' && severity === 'error');
  return isError ? 'incomplete' : 'done';
}

function summaryOf(rules: readonly CheckedRule[]): readonly string[] {
  const outcomes = Object.entries(Object.groupBy(rules, labelOf));
  const counts = outcomes.map(([label, { length } = []]) => `${number(length)} ${label}`);
  return [`${counted(rules.length, 'rule')}: ${counts.join(', ')}`];
}

/** Warns about an outcome that could not be stored. A read-only store does not make the check fail. */
const warnNotSaved =
  (warn: ReturnType<typeof warnOn>) =>
  (error: unknown): void => {
    if (!(error instanceof StoreError)) throw error;
    warn('the outcome of this check is not stored: the next check compares with the one before this', error);
  };

/** The word for how a rule ended. If it is violated, the word is its severity. */
function labelOf({ status, severity }: CheckedRule): 'passed' | 'warning' | 'error' | 'not run' {
  if (status === 'violated') return severity === 'warn' ? 'warning' : 'error';
  return status === 'passed' ? status : 'not run';
}

/**
 * Describes in one line how a rule ended: `error: Each card has an owner: 3 rows, 1 new and 0 gone since
 * 2026-11-21 09:15 UTC`.
 */
const outcomeOf = (rule: CheckedRule): string =>
  [labelOf(rule), ...titleOf(rule), ...factsOf(rule)].join(': ');

const titleOf = ({ file, title }: CheckedRule): readonly string[] => (title === file ? [] : [title]);

function* factsOf({ fault, rows, new: added, gone, since }: CheckedRule): Generator<string> {
  if (fault !== null) yield fault;
  if (rows === null) return;
  const before = since === null ? '' : ` since ${since.slice(0, 16).replace('T', ' ')} UTC`;
  const compared = added === null ? '' : `, ${number(added)} new and ${number(gone ?? 0)} gone`;
  yield `${counted(rows, 'row')}${compared}${before || ' (first run)'}`;
}

/** The lines below a rule's outcome: its notes, then its listed rows as a table. */
function* tableOf(
  { columns, rows, listed, notes }: CheckedRule,
  width: number | undefined,
): Generator<string> {
  yield* notes;
  const cells = listed.map((each) => [
    each.new ? 'new' : '',
    ...columns.map((name) => each.row[name] ?? null),
  ]);
  const table = textTable(['', ...columns], cells, width);
  if (listed.length > 0) yield* table.lines(cells);
  const hidden = hiddenColumns(columns.length + 1, table);
  if (hidden !== undefined) yield hidden;
  yield* andMore((rows ?? 0) - listed.length, ' (--limit)');
}

/**
 * The outcomes of rules as JUnit XML, which CI systems show, with a test case for each rule. A violated rule
 * with the severity error is a failure, a rule that did not run is an error. Anything else, such as a
 * warning, is in `system-out`.
 */
async function* junitLines(suite: string, rules: readonly CheckedRule[]): AsyncGenerator<string> {
  const elements = rules.map((rule) => ELEMENTS[labelOf(rule)]);
  const numberOf = (element: string) => elements.filter((each) => each === element).length;
  const seconds = rules.reduce((sum, rule) => sum + rule.seconds, 0).toFixed(3);
  const counts = `tests="${rules.length}" failures="${numberOf('failure')}" errors="${numberOf('error')}" time="${seconds}"`;
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${counts}>\n<testsuite name="${xml(suite)}" ${counts}>\n`;
  for (const [at, rule] of rules.entries()) {
    const name = [rule.file, ...titleOf(rule)].join(': ');
    const element = elements[at] ?? '';
    const about =
      element === 'system-out' ? '' : ` message="${xml(outcomeOf(rule))}" type="${labelOf(rule)}"`;
    const text = [outcomeOf(rule), ...tableOf(rule, undefined)].join('\n');
    yield `<testcase classname="${xml(suite)}" name="${xml(name)}" time="${rule.seconds.toFixed(3)}">`;
    yield `<${element}${about}>${xml(text)}</${element}></testcase>\n`;
  }
  yield '</testsuite>\n</testsuites>\n';
}

const ELEMENTS = {
  passed: 'system-out',
  warning: 'system-out',
  error: 'failure',
  'not run': 'error',
} as const;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes a string for XML. Characters that XML 1.0 does not allow, such as most control characters, become U+FFFD. */
const xml = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u{20}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replaceAll(/[&<>"\t\r\n]/g, (each) => ENTITIES[each] ?? `&#${each.charCodeAt(0)};`);
