import { printJson } from '../../base/index.ts';
import { findCalculation } from '../../jobs/types/update-formula/find-calculation.ts';
import {
  type FormulaLogEntry,
  readFormulaLog,
  storeFormula,
} from '../../jobs/types/update-formula/formula-log.ts';
import type { Calculation, CalculationRow, Platform } from '../../platform/index.ts';
import type { Session } from '../../session.ts';
import { commandLine } from '../options/command-lines.ts';
import { exitCodes, shown, shownLines, type Terminal } from '../terminal/terminal.ts';
import { analyze } from './formula-text.ts';

export type FormulaHistory = {
  /** The calculation after our last update of it; undefined if there was none. */
  readonly last: () => Promise<FormulaLogEntry | undefined>;
  /**
   * Stores an updated calculation, so that its formula can be restored later, and says how to go back to the one that
   * we set before, if there is one. The formula is set even if this fails, so it throws nothing.
   */
  readonly store: (calculation: Calculation, err: Terminal['err']) => Promise<void>;
};

/** What we have set as the formula of a calculation, in the store of the session. */
export function openFormulaHistory(id: string, session: Pick<Session, 'store'>): FormulaHistory {
  const last = async () => {
    let found: FormulaLogEntry | undefined;
    for await (const entry of readFormulaLog(await session.store(), id)) found = entry;
    return found;
  };
  return {
    last,
    async store(calculation, err) {
      const finishedAtMs = Date.now();
      try {
        // A damaged entry must not keep the new one from being stored.
        const before = await last().catch(() => undefined);
        const response = printJson(calculation);
        await storeFormula(await session.store(), { calculationId: id, finishedAtMs, response });
        if (before === undefined) return;
        err(
          `to go back to the formula that we set at ${before.time}: ${commandLine(['formula', 'log', id], { at: before.time })} | ${commandLine(['formula', 'set', id, '-'])}`,
        );
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        err(
          shownLines(`platform-sync: the formula is set, but could not be stored for formula log: ${reason}`),
        );
      }
    },
  };
}

export type DryRun = {
  readonly id: string;
  readonly expression: string;
  /** The calculation's name, which the search finds it by; all calculations are searched without it. */
  readonly name: string | undefined;
  readonly platform: Platform;
  readonly history: FormulaHistory;
};

/** Looks the calculation up, and shows what the update would change; returns the exit code. */
export async function showDryRun(
  { id, expression, name, platform, history }: DryRun,
  { json }: { readonly json?: true },
  { out, signal }: Terminal,
): Promise<number> {
  const found = await findCalculation({ platform, id, name, signal });
  if (found.row === undefined) {
    const why = found.degraded ? '; the search was degraded, so it may be there all the same' : '';
    const by = name === undefined ? '' : ` by the name ${JSON.stringify(name)}`;
    throw new Error(`calculation ${id}: expected a search${by} to find it, got no such row${why}`);
  }
  const { analysis, checkSum } = analyze(expression);
  const last = await history.last();
  const { status } = analysis;
  out(
    json
      ? printJson(
          {
            dryRun: true,
            id,
            expression,
            checkSum,
            status,
            calculation: found.row,
            lastSet: last ?? null,
          },
          2,
        )
      : shownLines(describeChange({ id, row: found.row, last, expression, status, sum: checkSum })),
  );
  return exitCodes.done;
}

type Change = {
  readonly id: string;
  readonly row: CalculationRow;
  readonly last: FormulaLogEntry | undefined;
  readonly expression: string;
  readonly status: string;
  readonly sum: string;
};

function describeChange({ id, row, last, expression, status, sum }: Change): string {
  const { name, lastModified, locked, archived } = row;
  const marks = `${locked ? ', locked' : ''}${archived ? ', archived' : ''}`;
  const before = last?.calculation['expression'];
  return [
    `calculation ${id} “${shown(name)}”: ${row.status ?? 'no status'}${marks}, changed at ${lastModified ?? 'an unknown time'}`,
    ...(typeof before === 'string'
      ? [`formula that we set at ${last?.time}:`, ...indented(before)]
      : ['its formula now: not known here, since we have not set it and a search does not return it']),
    before === expression
      ? `would be set to the same formula again (${status} here, checksum ${sum}); nothing was sent`
      : `would be set to (${status} here, checksum ${sum}):`,
    ...(before === expression ? [] : [...indented(expression), 'nothing was sent']),
  ].join('\n');
}

const indented = (text: string): readonly string[] => text.split(/\r?\n/).map((line) => `  ${line}`);
