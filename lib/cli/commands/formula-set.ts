import { printJson } from '../../base/index.ts';
import type { Calculation } from '../../platform/index.ts';
import { defineCommand } from '../command.ts';
import { sendOnce } from '../errors/sent-once.ts';
import { UsageError } from '../errors/usage-error.ts';
import { analyze, describeAnalysis, withoutFinalLineEnd } from '../formula/formula-text.ts';
import { commandLine } from '../options/command-lines.ts';
import { numberOption, readText } from '../options/options.ts';
import { exitCodes, shown, shownLines, type Terminal } from '../terminal/terminal.ts';
import { calculationId } from './formula-log.ts';

/** `formula set ID FILE`: sets the formula of a calculation, or shows what that would change. */
export const formulaSet = defineCommand({
  does: 'Set the formula of a calculation. The update is sent only once, whatever happens.',
  arguments: [
    ['<id>', 'the id of the calculation'],
    ['<file>', 'the file that holds the formula; - for standard input'],
  ],
  options: [
    ['--strict', 'have the platform refuse a formula that it cannot parse'],
    ['--dry-run', 'look the calculation up and show what would change, but change nothing'],
    ['--force', 'send a formula that does not parse here'],
    [
      '--unless-changed-since <ms>',
      'stop if the calculation was changed after this time, in epoch milliseconds; needs --name',
      numberOption(0, Number.MAX_SAFE_INTEGER),
    ],
    ['--name <name>', 'the name of the calculation, which the search finds it by'],
    ['--json', 'print the updated calculation as one JSON value'],
  ],
  examples: [
    'formula set 1008 formula.txt --dry-run',
    'formula set 1008 formula.txt --unless-changed-since 1763712000000 --name Revenue',
  ],
  run: ([id, file], flags, terminal) => setFormula(id, file, flags, terminal),
});

type SetFlags = {
  readonly strict?: true;
  readonly dryRun?: true;
  readonly force?: true;
  readonly unlessChangedSince?: number;
  readonly name?: string;
  readonly json?: true;
};

/** The `update-formula` message that would do the same. Throws `UsageError`. */
async function messageOf(id: string, file: string, flags: SetFlags, terminal: Terminal) {
  const { strict, unlessChangedSince, name } = flags;
  const expression = withoutFinalLineEnd(await readText(file, terminal));
  const { checkedMessage } = await import('../options/request-options.ts');
  const { updateFormula } = await import('../../jobs/types/update-formula/definition.ts');
  const { calculationId, ...message } = checkedMessage(
    updateFormula,
    { version: 1, type: 'update-formula', calculationId: id, expression, strict, unlessChangedSince, name },
    {
      calculationId: 'id',
      expression: file === '-' ? 'standard input' : file,
      unlessChangedSince: '--unless-changed-since',
      name: '--name',
    },
  );
  return { ...message, id: calculationId };
}

async function setFormula(given: string, file: string, flags: SetFlags, terminal: Terminal): Promise<number> {
  const message = await messageOf(calculationId(given), file, flags, terminal);
  const { id, expression, strict, unlessChangedSince: sinceMs, name } = message;
  const { openSession } = await import('../../session.ts');
  const session = openSession(terminal);
  const { platform } = session;
  const { signal } = terminal;
  await checkFormula(expression, file, flags, terminal);
  if (sinceMs !== undefined && name !== undefined) {
    const { refuseIfChanged } = await import('../../jobs/types/update-formula/find-calculation.ts');
    await refuseIfChanged({ platform, id, name, sinceMs, signal });
  }
  const { openFormulaHistory, showDryRun } = await import('../formula/formula-history.ts');
  const history = openFormulaHistory(id, session);
  if (flags.dryRun) return showDryRun({ id, expression, name, platform, history }, flags, terminal);
  const effect = {
    mayHave: 'the formula may be set',
    lookAt: `calculation ${id} on the platform; ${commandLine(['formula', 'set', id, file], { dryRun: true })} shows when it was changed last`,
  };
  const calculation = await sendOnce(
    (options) =>
      platform.calculations.updateFormula(id, expression, {
        ...options,
        ...(strict === undefined ? {} : { strict }),
      }),
    effect,
    terminal,
  );
  terminal.out(flags.json ? printJson(calculation, 2) : shownLines(describeCalculation(calculation)));
  await history.store(calculation, terminal.err);
  return judge(calculation, expression, terminal.err);
}

/** Throws `UsageError` for a formula that does not parse, unless it is forced; then its faults are shown. */
async function checkFormula(
  expression: string,
  file: string,
  { force }: SetFlags,
  { err }: Terminal,
): Promise<void> {
  const { analysis } = await analyze(expression);
  if (analysis.status !== 'INVALID') return;
  const faults = describeAnalysis(analysis, file);
  if (!force)
    throw new UsageError(
      `${faults}\nexpected a formula that parses; nothing was sent. To send it all the same: --force`,
    );
  err(shownLines(faults));
}

/** What the response says about the update, as an exit code. */
async function judge(calculation: Calculation, expression: string, err: Terminal['err']): Promise<number> {
  if (calculation.expression !== expression) {
    err(
      'platform-sync: the platform returned a different expression from the one that was sent; check the calculation',
    );
    return exitCodes.failed;
  }
  const { invalidFormula } = await import('../../jobs/types/update-formula/definition.ts');
  const fault = invalidFormula(calculation);
  if (fault === undefined) return exitCodes.done;
  err(`platform-sync: ${fault}`);
  return exitCodes.failed;
}

function describeCalculation({ id, name, status, dataType, lastModified }: Calculation): string {
  return `calculation ${id} “${shown(name)}” set: ${status ?? 'no status'}, ${dataType ?? 'no type'}, changed at ${lastModified ?? 'an unknown time'}`;
}
