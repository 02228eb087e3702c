import { printJson } from '../../base/index.ts';
import { invalidFormula, updateFormula } from '../../jobs/types/update-formula/definition.ts';
import { refuseIfChanged } from '../../jobs/types/update-formula/find-calculation.ts';
import type { Calculation } from '../../platform/index.ts';
import { openSession } from '../../session.ts';
import type { FlagsOf, Run } from '../commands.ts';
import { sendOnce } from '../errors/sent-once.ts';
import { UsageError } from '../errors/usage-error.ts';
import { showDryRun, storeSet } from '../formula/formula-history.ts';
import { analyze, describeAnalysis, withoutFinalLineEnd } from '../formula/formula-text.ts';
import { commandLine } from '../options/command-lines.ts';
import { readText } from '../options/files.ts';
import { checkedMessage } from '../options/request-options.ts';
import { exitCodes, shown, shownLines, type Terminal } from '../terminal/terminal.ts';

type SetFlags = FlagsOf<'formula set'>;

/** The `update-formula` message that would do the same. Throws `UsageError`. */
async function messageOf(id: string, file: string, flags: SetFlags, terminal: Terminal) {
  const { strict, unlessChangedSince, name } = flags;
  const expression = withoutFinalLineEnd(await readText(file, terminal));
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

/** Sets the formula of a calculation, or shows what that would change. */
export default (async ([typedId, file], flags, terminal) => {
  const message = await messageOf(typedId, file, flags, terminal);
  const { id, expression, strict, unlessChangedSince: sinceMs, name } = message;
  const session = openSession(terminal);
  const { platform } = session;
  const { signal } = terminal;
  checkFormula(expression, file, flags, terminal);
  if (sinceMs !== undefined && name !== undefined) {
    await refuseIfChanged({ platform, id, name, sinceMs, signal });
  }
  if (flags.dryRun) return showDryRun(message, session, flags.json, terminal);
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
  await storeSet(id, calculation, session, terminal);
  return judge(calculation, expression, terminal.err);
}) satisfies Run<'formula set'>;

/** Throws `UsageError` for a formula that does not parse, unless it is forced; then its faults are shown. */
function checkFormula(expression: string, file: string, { force }: SetFlags, { err }: Terminal): void {
  const { analysis } = analyze(expression);
  if (analysis.status !== 'INVALID') return;
  const faults = describeAnalysis(analysis, file);
  if (!force)
    throw new UsageError(
      `${faults}\nexpected a formula that parses; nothing was sent. To send it all the same: --force`,
    );
  err(shownLines(faults));
}

/** What the response says about the update, as an exit code. */
function judge(calculation: Calculation, expression: string, err: Terminal['err']): number {
  if (calculation.expression !== expression) {
    err(
      'platform-sync: the platform returned a different expression from the one that was sent; check the calculation',
    );
    return exitCodes.failed;
  }
  const fault = invalidFormula(calculation);
  if (fault === undefined) return exitCodes.done;
  err(`platform-sync: ${fault}`);
  return exitCodes.failed;
}

function describeCalculation({ id, name, status, dataType, lastModified }: Calculation): string {
  return `calculation ${id} “${shown(name)}” set: ${status ?? 'no status'}, ${dataType ?? 'no type'}, changed at ${lastModified ?? 'an unknown time'}`;
}
