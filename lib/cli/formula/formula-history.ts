import { printJson } from '../../base/index.ts';
import { findCalculation } from '../../jobs/types/update-formula/find-calculation.ts';
import {
  type FormulaLogEntry,
  readFormulaLog,
  storeFormula,
} from '../../jobs/types/update-formula/formula-log.ts';
import type { Calculation, CalculationRow } from '../../platform/index.ts';
import type { Session } from '../../session.ts';
import { commandLine } from '../options/command-lines.ts';
import { exitCodes, shown, shownLines, type Terminal } from '../terminal/terminal.ts';
import { analyze } from './formula-text.ts';

/** The calculation after our last update of it; undefined if there was none. */
async function lastSet(id: string, { store }: Pick<Session, 'store'>): Promise<FormulaLogEntry | undefined> {
  let found: FormulaLogEntry | undefined;
  for await (const entry of readFormulaLog(await store(), id)) found = entry;
  return found;
}

/**
 * Stores an updated calculation, so that its formula can be restored later, and says how to go back to the one that we
 * set before, if there is one. The formula is set even if this fails, so it throws nothing.
 */
export async function storeSet(
  id: string,
  calculation: Calculation,
  session: Pick<Session, 'store'>,
  { err }: Pick<Terminal, 'err'>,
): Promise<void> {
  const finishedAtMs = Date.now();
  try {
    // A damaged entry must not keep the new one from being stored.
    const before = await lastSet(id, session).catch(() => undefined);
    const response = printJson(calculation);
    await storeFormula(await session.store(), { calculationId: id, finishedAtMs, response });
    if (before === undefined) return;
    const log = commandLine(['formula', 'log', id], { at: before.time });
    err(
      `to go back to the formula that we set at ${before.time}: ${log} | ${commandLine(['formula', 'set', id, '-'])}`,
    );
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    err(shownLines(`platform-sync: the formula is set, but could not be stored for formula log: ${reason}`));
  }
}

/** `name`: the calculation's, which the search finds it by; all calculations are searched without it. */
type Update = { readonly id: string; readonly expression: string; readonly name?: string | undefined };

/** Looks the calculation up, and shows what the update would change; returns the exit code. */
export async function showDryRun(
  update: Update,
  session: Session,
  json: true | undefined,
  { out, signal }: Terminal,
): Promise<number> {
  const { id, expression, name } = update;
  const found = await findCalculation({ platform: session.platform, id, name, signal });
  if (found.row === undefined) {
    const why = found.degraded ? '; the search was degraded, so it may be there all the same' : '';
    const by = name === undefined ? '' : ` by the name ${JSON.stringify(name)}`;
    throw new Error(`calculation ${id}: expected a search${by} to find it, got no such row${why}`);
  }
  const last = await lastSet(id, session);
  if (!json) out(shownLines(describeChange(update, found.row, last)));
  else {
    const { analysis, checkSum } = analyze(expression);
    const { status } = analysis;
    const { row: calculation } = found;
    out(printJson({ dryRun: true, id, expression, checkSum, status, calculation, lastSet: last ?? null }, 2));
  }
  return exitCodes.done;
}

function describeChange(
  { id, expression }: Update,
  row: CalculationRow,
  last: FormulaLogEntry | undefined,
): string {
  const { name, lastModified, locked, archived } = row;
  const marks = `${locked ? ', locked' : ''}${archived ? ', archived' : ''}`;
  const before = last?.calculation['expression'];
  const { analysis, checkSum } = analyze(expression);
  const here = `(${analysis.status} here, checksum ${checkSum})`;
  return [
    `calculation ${id} “${shown(name)}”: ${row.status ?? 'no status'}${marks}, changed at ${lastModified ?? 'an unknown time'}`,
    ...(typeof before === 'string'
      ? [`formula that we set at ${last?.time}:`, ...indented(before)]
      : ['its formula now: not known here, since we have not set it and a search does not return it']),
    ...(before === expression
      ? [`would be set to the same formula again ${here}; nothing was sent`]
      : [`would be set to ${here}:`, ...indented(expression), 'nothing was sent']),
  ].join('\n');
}

const indented = (text: string): readonly string[] => text.split(/\r?\n/).map((line) => `  ${line}`);
