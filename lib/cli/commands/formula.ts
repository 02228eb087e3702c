import type { Command } from 'commander';
import type { FormulaAnalysis } from '../../formula/analyze.ts';
import { checkSum } from '../../formula/checksum.ts';
import { printJson } from '../../json/json.ts';
import type { Calculation } from '../../platform/records.ts';
import type { Session } from '../../session.ts';
import type { AddCommand, Finish } from '../command.ts';
import { numberOption, readText } from '../options.ts';
import { exitCodes, shown, shownLines, type Terminal } from '../terminal.ts';
import { addFormulaLog, calculationId } from './formula-log.ts';

/** `formula check` parses a formula here; `formula set` sets one on the platform; `formula log` shows earlier ones. */
export const addFormula: AddCommand = (program, terminal, finish) => {
  const formula = program
    .command('formula')
    .description('Check a formula here, set one on the platform, or show what was set before.');
  addCheck(formula, terminal, finish);
  addSet(formula, terminal, finish);
  addFormulaLog(formula, terminal, finish);
};

function addCheck(formula: Command, terminal: Terminal, finish: Finish): void {
  formula
    .command('check')
    .description('Parse a formula here and report what the platform would say about it.')
    .argument('<file>', 'the file that holds the formula; - for standard input')
    .option('--json', 'print the analysis as one JSON value')
    .action(async (file: string, flags: { readonly json?: true }) => {
      const text = withoutFinalLineEnd(await readText(file, terminal));
      const analysis = await analyze(text);
      if (flags.json) terminal.out(printJson({ ...analysis, checkSum: checkSum(text) }, 2));
      else terminal.out(shownLines(describeAnalysis(analysis, file)));
      finish(analysis.status === 'VALID' ? exitCodes.done : exitCodes.failed);
    });
}

/** Loads the parser only when there is a formula to parse: it is large, and other commands start without it. */
async function analyze(text: string): Promise<FormulaAnalysis> {
  const { analyzeFormula } = await import('../../formula/analyze.ts');
  return analyzeFormula(text);
}

type SetFlags = {
  readonly strict?: true;
  readonly dryRun?: true;
  readonly unlessChangedSince?: number;
  readonly name?: string;
  readonly json?: true;
};

function addSet(formula: Command, terminal: Terminal, finish: Finish): void {
  formula
    .command('set')
    .description('Set the formula of a calculation. The update is sent only once, whatever happens.')
    .argument('<id>', 'the id of the calculation')
    .argument('<file>', 'the file that holds the formula; - for standard input')
    .option('--strict', 'have the platform refuse a formula that it cannot parse')
    .option('--dry-run', 'check everything, but send nothing')
    .option(
      '--unless-changed-since <ms>',
      'stop if the calculation was changed after this time, in epoch milliseconds; needs --name',
      numberOption(0, Number.MAX_SAFE_INTEGER),
    )
    .option('--name <name>', 'the name of the calculation, which the search finds it by')
    .option('--json', 'print the updated calculation as one JSON value')
    .action(async (id: string, file: string, flags: SetFlags) =>
      finish(await setFormula(id, file, flags, terminal)),
    );
}

/** The `update-formula` message that would do the same. Throws `UsageError`. */
async function messageOf(id: string, file: string, flags: SetFlags, terminal: Terminal) {
  const { strict, unlessChangedSince, name } = flags;
  const expression = withoutFinalLineEnd(await readText(file, terminal));
  const { checkedMessage } = await import('../checked-message.ts');
  const { updateFormulaChecks } = await import('../../jobs/types/update-formula/message.ts');
  return checkedMessage(
    updateFormulaChecks,
    { version: 1, type: 'update-formula', calculationId: id, expression, strict, unlessChangedSince, name },
    {
      calculationId: 'id',
      expression: file === '-' ? 'standard input' : file,
      unlessChangedSince: '--unless-changed-since',
      name: '--name',
    },
  );
}

async function setFormula(given: string, file: string, flags: SetFlags, terminal: Terminal): Promise<number> {
  const {
    calculationId: id,
    expression,
    strict,
    unlessChangedSince: sinceMs,
    name,
  } = await messageOf(calculationId(given), file, flags, terminal);
  const { openSession } = await import('../../session.ts');
  const { refuseIfChanged } = await import('../../jobs/types/update-formula/refuse-if-changed.ts');
  const session = openSession(terminal);
  const { platform } = session;
  const analysis = await analyze(expression);
  if (analysis.status === 'INVALID') terminal.err(shownLines(describeAnalysis(analysis, file)));
  if (strict && analysis.status === 'INVALID') return exitCodes.failed;
  if (sinceMs !== undefined && name !== undefined)
    await refuseIfChanged({ platform, id, name, sinceMs, signal: terminal.signal });
  if (flags.dryRun) {
    terminal.out(
      flags.json
        ? printJson({ dryRun: true, id, expression, checkSum: checkSum(expression) }, 2)
        : `calculation ${id} would be set; nothing was sent`,
    );
    return exitCodes.done;
  }
  const calculation = await platform.calculations.updateFormula(id, expression, {
    signal: terminal.signal,
    ...(strict === undefined ? {} : { strict }),
  });
  terminal.out(flags.json ? printJson(calculation, 2) : shownLines(describeCalculation(calculation)));
  await storeUpdated(id, calculation, session, terminal.err);
  if (calculation.expression === expression) return exitCodes.done;
  terminal.err(
    'platform-sync: the platform returned a different expression from the one that was sent; check the calculation',
  );
  return exitCodes.failed;
}

/** Stores the updated calculation, so that its formula can be restored later. The formula is set even if this fails. */
async function storeUpdated(
  calculationId: string,
  calculation: Calculation,
  session: Session,
  err: Terminal['err'],
): Promise<void> {
  const finishedAtMs = Date.now();
  const { storeFormula } = await import('../../jobs/types/update-formula/formula-log.ts');
  try {
    const store = await session.store();
    await storeFormula(store, { calculationId, finishedAtMs, response: printJson(calculation) });
    err(
      `to restore an earlier formula: platform-sync formula log ${calculationId}, then platform-sync formula set ${calculationId} FILE`,
    );
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    err(shownLines(`platform-sync: the formula is set, but could not be stored for formula log: ${reason}`));
  }
}

function describeAnalysis(analysis: FormulaAnalysis, file: string): string {
  if (analysis.status === 'INVALID') {
    return analysis.faults
      .map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`)
      .join('\n');
  }
  const { dataType, functions, columns, aggregated, analytic, nonAggregatedColumns, references } = analysis;
  return [
    `VALID, ${dataType}${aggregated ? ', aggregated' : ''}${analytic ? ', analytic' : ''}`,
    `functions: ${functions.join(', ') || 'none'}`,
    `columns: ${columns.join(', ') || 'none'}`,
    ...(nonAggregatedColumns.length > 0 ? [`not aggregated: ${nonAggregatedColumns.join(', ')}`] : []),
    ...(references.length > 0
      ? [`uses: ${references.map(({ kind, id }) => `${kind} ${id}`).join(', ')}`]
      : []),
  ].join('\n');
}

function describeCalculation({ id, name, status, dataType, lastModified }: Calculation): string {
  return `calculation ${id} “${shown(name)}” set: ${status ?? 'no status'}, ${dataType ?? 'no type'}, changed at ${lastModified ?? 'an unknown time'}`;
}

/** Editors end a file with a line break that is not part of the formula. */
const withoutFinalLineEnd = (text: string): string => text.replace(/^\uFEFF/, '').replace(/\r?\n$/, '');
