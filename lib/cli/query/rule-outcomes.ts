import type { CheckedRule } from '../../tables/index.ts';
import { andMore, counted, number } from '../terminal/terminal.ts';
import { hiddenColumns, textTable } from './print-result.ts';

/** The word for how a rule ended: a violated one by its severity. */
export function labelOf({ status, severity }: CheckedRule): 'passed' | 'warning' | 'error' | 'not run' {
  if (status === 'violated') return severity === 'warn' ? 'warning' : 'error';
  return status === 'passed' ? status : 'not run';
}

/** How a rule ended, in a line: `error: Each card has an owner: 3 rows, 1 new and 0 gone since 2026-11-21 09:15 UTC`. */
export const outcomeOf = (rule: CheckedRule): string =>
  [labelOf(rule), ...titleOf(rule), ...factsOf(rule)].join(': ');

const titleOf = ({ file, title }: CheckedRule): readonly string[] => (title === file ? [] : [title]);

function* factsOf({ fault, rows, new: added, gone, since }: CheckedRule): Generator<string> {
  if (fault !== null) yield fault;
  if (rows === null) return;
  const before = since === null ? '' : ` since ${since.slice(0, 16).replace('T', ' ')} UTC`;
  const compared = added === null ? '' : `, ${number(added)} new and ${number(gone ?? 0)} gone`;
  yield `${counted(rows, 'row')}${compared}${before || ' (first run)'}`;
}

/** The remarks about a rule, and its listed rows as a table. */
export function* tableOf(
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
 * The outcomes of rules as JUnit XML, which CI systems show: a test case each. A violated rule of severity error is a
 * failure, a rule that did not run an error. Anything else, such as a warning, is in `system-out`.
 */
export async function* junitLines(suite: string, rules: readonly CheckedRule[]): AsyncGenerator<string> {
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

/** A text for content and attributes. What XML 1.0 cannot have, such as most control characters, becomes U+FFFD. */
const xml = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u{20}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replaceAll(/[&<>"\t\r\n]/g, (each) => ENTITIES[each] ?? `&#${each.charCodeAt(0)};`);
