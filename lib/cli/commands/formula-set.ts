import { errorText } from '../../base/index.ts';
import { printJson } from '../../base/json/index.ts';
import { judgeFormula } from '../../formula/index.ts';
import { findCalculation, invalidFormula, refuseIfChanged, updateFormula } from '../../jobs/types/index.ts';
import { storeFormula } from '../../model/formulas/index.ts';
import { lowerCase } from '../../model/rules/index.ts';
import { operations } from '../../platform/http/index.ts';
import type { Calculation } from '../../platform/index.ts';
import type { Session } from '../../session.ts';
import type { FlagsOf, Run } from '../command.ts';
import { sendOnce } from '../errors/sent-once.ts';
import { UsageError } from '../errors/usage-error.ts';
import { ourUpdates, refuseLost } from '../formula/change-set.ts';
import { commandLine } from '../options/command-lines.ts';
import { readText, withoutFinalLineEnd } from '../options/files.ts';
import { openSessionOf } from '../options/from-settings.ts';
import { checkedMessage } from '../options/request-options.ts';
import {
  type CommandResult,
  type ExitStatus,
  shown,
  shownLines,
  type Terminal,
} from '../terminal/terminal.ts';

/** The `update-formula` message that would have the same effect. Throws `UsageError`. */
async function messageOf(id: string, file: string, flags: FlagsOf<'formula set'>, terminal: Terminal) {
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
  const session = openSessionOf(terminal);
  const platform = operations(session.call);
  const { signal } = terminal;
  checkFormula(expression, file, flags, terminal);
  const remedy = 'To set it anyway: --force';
  const refuseUnknown = () => refuseLost(session.store, new Set([id]), { undone: 'sent', remedy });
  if (!flags.force && !flags.dryRun) await refuseUnknown();
  if (sinceMs !== undefined && name !== undefined) {
    await refuseIfChanged({ platform, id, name, sinceMs, signal });
  }
  if (flags.dryRun) {
    const shownAs = await dryRun(message, session, signal);
    // The change is shown first, and then whether it could be undone.
    const fault = flags.force ? undefined : await refuseUnknown().catch(lostWords);
    if (fault !== undefined) terminal.err(fault);
    return fault === undefined ? shownAs : { ...shownAs, ended: 'incomplete' };
  }
  const effect = {
    mayHave: 'the formula may be set',
    lookAt: `calculation ${id} on the platform; ${commandLine(['formula', 'set', id, file], { dryRun: true })} shows when it was last changed`,
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
  await storeSet({ calculation, expression }, session, terminal);
  const ended = judge(calculation, terminal.err);
  return { json: calculation, words: describeCalculation(calculation), ended };
}) satisfies Run<'formula set'>;

/** The message of an error of `refuseLost`, for a dry run; throws any other error. */
function lostWords(error: unknown): string {
  if (error instanceof UsageError) return shownLines(`platform-sync: ${error.message}`);
  throw error;
}

/** Prints the warnings about a formula. Throws `UsageError` if it has faults; with `force`, only prints them. */
function checkFormula(
  text: string,
  file: string,
  { force, strict }: FlagsOf<'formula set'>,
  { err }: Terminal,
): void {
  const { faults, warnings } = judgeFormula(text, file, strict);
  for (const line of force ? [...faults, ...warnings] : warnings) err(shown(line));
  if (faults.length === 0 || force) return;
  const expected = `a formula that parses${strict ? ' without a warning' : ''}`;
  throw new UsageError(
    `${faults.join('\n')}\nexpected ${expected}; nothing was sent. To send it anyway: --force`,
  );
}

/** Decides from the response whether the command has failed: the platform may have stored the formula as INVALID. */
function judge(calculation: Calculation, err: Terminal['err']): ExitStatus {
  const fault = invalidFormula(calculation);
  if (fault === undefined) return 'done';
  err(`platform-sync: ${fault}`);
  return 'failed';
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : printJson(value));

const nameIn = (name: unknown): string => ((name ?? '') === '' ? '' : ` “${textOf(name)}”`);

function describeCalculation({ id, name, status, dataType, lastModified }: Calculation): string {
  const facts = [
    lowerCase(status) ?? 'no status',
    dataType ?? 'no type',
    `changed at ${lastModified ?? 'an unknown time'}`,
  ];
  return shown(`calculation ${id}${nameIn(name)} set: ${facts.map(textOf).join(', ')}`);
}

/**
 * Stores an updated calculation, so that its formula can be restored later, and prints how to return to the
 * formula that platform-sync had set before, if any. Never throws, since the formula is set even if it cannot be stored.
 */
async function storeSet(
  { calculation, expression }: { readonly calculation: Calculation; readonly expression: string },
  session: Pick<Session, 'store'>,
  { err }: Pick<Terminal, 'err'>,
): Promise<void> {
  const finishedAtMs = Date.now();
  const { id } = calculation;
  try {
    // If an earlier entry is damaged, the new one is stored anyway.
    const store = await session.store();
    const before = await ourUpdates(store, { id }).catch(() => undefined);
    const response = printJson(calculation);
    await storeFormula(store, { calculationId: id, expression, finishedAtMs, response });
    if (before?.last === undefined) return;
    const at = before.last.time;
    const log = commandLine(['formula', 'log', id], { at });
    err(
      `to return to the formula that platform-sync set at ${at}: ${log} | ${commandLine(['formula', 'set', id, '-'])}`,
    );
  } catch (error) {
    const reason = errorText(error);
    err(
      shownLines(`platform-sync: the formula is set, but it could not be stored for formula log: ${reason}`),
    );
  }
}

/** Looks the calculation up, by name if there is one, and describes what the update would change. */
async function dryRun(
  { id, expression, name }: Awaited<ReturnType<typeof messageOf>>,
  { call, store }: Session,
  signal: AbortSignal,
): Promise<CommandResult> {
  const found = await findCalculation({ platform: operations(call), id, name, signal });
  if (found.row === undefined) {
    const why = found.degraded ? '; the search was degraded, so it may still exist' : '';
    const by = name === undefined ? '' : ` by the name ${JSON.stringify(name)}`;
    throw new Error(`calculation ${id}: a search${by} did not find it${why}`);
  }
  const { last, lastExpression: before } = await ourUpdates(await store(), { id });
  const { analysis, checkSum } = judgeFormula(expression, '');
  const status = lowerCase(analysis.status);
  const { row: calculation } = found;
  const { lastModified, locked, archived } = calculation;
  const marks = `${locked === true ? ', locked' : ''}${archived === true ? ', archived' : ''}`;
  const here = `(${status} here, checksum ${checkSum})`;
  return {
    json: { dryRun: true, id, expression, checkSum, status, calculation, lastSet: last ?? null },
    words: [
      shown(
        `calculation ${id}${nameIn(calculation.name)}: ${textOf(lowerCase(calculation.status) ?? 'no status')}${marks}, changed at ${textOf(lastModified ?? 'an unknown time')}`,
      ),
      ...(before === undefined
        ? [
            'its current formula is unknown, since platform-sync has not set it and a search does not return it',
          ]
        : [`formula that platform-sync set at ${last?.time}:`, ...indented(before)]),
      ...(before === expression
        ? [`would be set to the same formula again ${here}; nothing was sent`]
        : [`would be set to ${here}:`, ...indented(expression), 'nothing was sent']),
    ],
  };
}

const indented = (text: string): readonly string[] => text.split(/\r?\n/).map((line) => `  ${line}`);
