import { printJson } from '../../base/json/index.ts';
import { type FormulaLogEntry, readFormulaLog } from '../../model/formulas/index.ts';
import { lowerCase } from '../../model/rules/index.ts';
import type { Run } from '../command.ts';
import { UsageError } from '../errors/usage-error.ts';
import { openStoreOf } from '../options/from-settings.ts';
import { inColumns, shown } from '../terminal/terminal.ts';

/** Lists the updates of a calculation by platform-sync. Needs only the store, not the platform. */
export default (async ([id], { at, json }, terminal) => {
  const store = await openStoreOf(terminal);
  const entries = await Array.fromAsync(readFormulaLog(store, id));
  if (at !== undefined) {
    const { calculation } = entryAt(entries, at, id);
    // The expression is printed unchanged, not made safe to show, so that it can be set again.
    terminal.out(json ? printJson(calculation, 2) : expressionOf(calculation, at));
    return 'done';
  }
  terminal.err(
    `the formula that calculation ${id} had before platform-sync’s first update cannot be recovered: the platform has no history`,
  );
  const none = `no update of calculation ${id} is stored in ${store.location}`;
  return { json: entries, words: entries.length === 0 ? none : inColumns(HEADER, entries.map(cells)) };
}) satisfies Run<'formula log'>;

function entryAt(entries: readonly FormulaLogEntry[], at: string, id: string): FormulaLogEntry {
  const found = entries.find(({ time }) => time === at);
  if (found !== undefined) return found;
  const times = entries.map(({ time }) => time).join(', ') || 'no update is stored';
  throw new UsageError(
    `--at: expected the time of an update of calculation ${id} (${times}), got ${JSON.stringify(at)}`,
  );
}

function expressionOf({ expression }: FormulaLogEntry['calculation'], at: string): string {
  if (typeof expression === 'string') return expression;
  throw new Error(
    `--at ${at}: the platform returned this calculation without its expression, so there is no formula to print`,
  );
}

const HEADER = ['TIME', 'CHECKSUM', 'STATUS', 'EXPRESSION'];

function cells({ time, calculation }: FormulaLogEntry): readonly string[] {
  const { checkSum, status, expression } = calculation;
  const [first = '', ...more] = String(expression ?? '').split(/\r?\n/);
  return [
    time,
    String(checkSum ?? '-'),
    String(lowerCase(status) ?? '-'),
    more.length > 0 ? `${first} …` : first,
  ].map(shown);
}
