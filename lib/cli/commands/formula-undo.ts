import { printJson } from '../../base/json/index.ts';
import { findFailedMessage } from '../../jobs/index.ts';
import {
  findCalculation,
  hasEnded,
  type JobRow,
  updateFormula,
  wasExecuted,
} from '../../jobs/types/index.ts';
import { timeOfEntry } from '../../model/formulas/index.ts';
import { operations } from '../../platform/http/index.ts';
import { type CalculationRow, type Platform, timeMs } from '../../platform/index.ts';
import type { Store } from '../../store/index.ts';
import type { Run } from '../command.ts';
import { UsageError } from '../errors/usage-error.ts';
import { findChangeSet, ourUpdates, type SetRow } from '../formula/change-set.ts';
import { checkedJobs } from '../jobs/job-files.ts';
import { openJobs } from '../jobs/open-jobs.ts';
import { commandLine } from '../options/command-lines.ts';
import { openSessionOf, openStoreOf } from '../options/from-settings.ts';
import { shown, type Terminal } from '../terminal/terminal.ts';
import { runAll } from './run.ts';

/** Undoes the updates of a set, except for calculations that were changed since then. */
export default (async ([name], { evenIfChanged = [] }, terminal) => {
  const store = await openStoreOf(terminal);
  const set = await findChangeSet(store, name);
  if (set === undefined)
    throw new UsageError(
      `${name}: expected the name of a set that was applied, got one that is not in ${store.location}`,
    );
  const others = evenIfChanged.filter((id) => !set.rows.some((row) => row.id === id));
  if (others.length > 0)
    throw new UsageError(`--even-if-changed: expected calculations of ${name}, got ${others.join(', ')}`);
  const parts = { set: name, store, ...(await openJobs(terminal)) };
  const known = await Promise.all(set.rows.map((row) => planOf(row, parts)));
  const plans = await lookedUp(known, evenIfChanged, terminal);
  const left = plans.flatMap(({ row, why }) => (why === undefined ? [] : [`calculation ${row.id}: ${why}`]));
  for (const line of left) terminal.err(shown(line));
  const messages = plans.flatMap((plan) =>
    plan.why === undefined ? [messageOf(name, plan, evenIfChanged)] : [],
  );
  if (messages.length === 0) {
    terminal.err(`${name}: nothing to undo`);
    return 'incomplete';
  }
  const text = messages.map((message) => printJson(message)).join('\n');
  const jobs = await checkedJobs({ file: name, text }, { undone: 'sent', isChecked: true }, terminal);
  const again = `to undo the rest: ${commandLine(['formula', 'undo', name], { evenIfChanged })}`;
  const found = await runAll({ name, noun: 'formula', jobs, again, facts: { set: name } }, terminal);
  return left.length > 0 ? { ...found, ended: found.ended === 'failed' ? 'failed' : 'incomplete' } : found;
}) satisfies Run<'formula undo'>;

/** How to undo the update of a row, or why it cannot be undone. */
type Plan = { readonly row: SetRow; readonly why: string } | Undoing;

type Undoing = {
  readonly row: SetRow;
  readonly why?: undefined;
  readonly was: string;
  /** The name; null if neither the set nor the update has it. */
  readonly name: string | null;
  /**
   * When the update changed the calculation, in epoch milliseconds; NaN if it is unknown whether the update was sent.
   */
  readonly changedMs: number;
  /** A part of the job's id that identifies the update, so that undoing a later update is another job. */
  readonly of: string;
  /**
   * When platform-sync’s last update of the calculation before this set changed it, in epoch milliseconds; undefined if
   * no update did.
   */
  readonly before: number | undefined;
};

type PlanParts = { readonly set: string; readonly store: Store } & Awaited<ReturnType<typeof openJobs>>;

async function planOf(row: SetRow, parts: PlanParts): Promise<Plan> {
  const { id, expression, was } = row;
  if (was === null) return { row, why: 'its earlier formula is unknown' };
  const job = await endedOf(row, parts);
  const { last, lastExpression, isApplied } = await ourUpdates(parts.store, row);
  const lastModified = timeMs(last?.calculation['lastModified']);
  const called = last?.calculation['name'];
  const plan = { row, was, name: typeof called === 'string' && called !== '' ? called : row.name };
  // The log alone does not show which update set a formula: an earlier one may have set the same.
  const isSet = job === undefined ? isApplied : job.state === 'DONE' || wasExecuted(job.outcome?.error);
  if (last === undefined || !isSet) {
    const why = await whyNotSet(job, `${parts.set}.${id}`, parts);
    const before = Number.isNaN(lastModified) ? undefined : lastModified;
    const of = shortTime(last === undefined ? 0 : timeOfEntry(last));
    return why === undefined ? { ...plan, changedMs: Number.NaN, of, before } : { row, why };
  }
  if (lastExpression === was) return { row, why: 'is already undone' };
  if (lastExpression !== expression) return { row, why: 'platform-sync has set another formula since then' };
  // If the update has no time, the time when it returned is used.
  const endedMs = timeOfEntry(last);
  const changedMs = Number.isNaN(lastModified) ? endedMs : lastModified;
  return { ...plan, changedMs, of: shortTime(endedMs), before: undefined };
}

/**
 * The job of a row. If it has ended, adds its formula to the log: a worker may have been killed after it wrote the
 * ledger and before it wrote the log.
 */
async function endedOf({ id, expression }: SetRow, { set, store, ledger, batches }: PlanParts) {
  const jobId = `${set}.${id}`;
  const job = await ledger.read(jobId);
  const message = { version: 1, type: 'update-formula', id: jobId, calculationId: id, expression } as const;
  if (job !== undefined && hasEnded(job)) await updateFormula.afterEnd?.(message, job, { store, batches });
  return job;
}

const shortTime = (ms: number): string => Math.floor(ms).toString(36);

/**
 * Why a formula that is missing from the log was not set, or not yet; undefined if its job may have set it, according
 * to the ledger.
 */
async function whyNotSet(
  job: JobRow | undefined,
  id: string,
  { store, ledger }: Pick<PlanParts, 'store' | 'ledger'>,
): Promise<string | undefined> {
  const untouched = 'its formula was not set, so it is unchanged';
  // The row of an unknown job may have expired, but its message stays.
  if (job === undefined) return (await findFailedMessage(store, id)) === undefined ? untouched : undefined;
  if (job.state === 'FAILED') return untouched;
  if ((job.leaseUntilMs ?? 0) > ledger.now())
    return 'its update is in progress: undo it after the update has ended';
  return job.sentFence === undefined
    ? `its update has not been sent yet; to cancel it: ${commandLine(['jobs', 'cancel', id])}`
    : undefined;
}

/** Completes plans that the log of formulas does not settle: asks the platform for the name, or when it changed. */
async function lookedUp(
  plans: readonly Plan[],
  evenIfChanged: readonly string[],
  terminal: Terminal,
): Promise<readonly Plan[]> {
  const looked: Plan[] = [];
  let platform: Platform | undefined;
  for (const plan of plans) {
    const { row } = plan;
    const isSure = plan.why !== undefined || (plan.name !== null && !Number.isNaN(plan.changedMs));
    if (plan.why !== undefined || isSure || evenIfChanged.includes(row.id)) {
      looked.push(plan);
      continue;
    }
    platform ??= operations(openSessionOf(terminal).call);
    const found = (await findCalculation({ platform, id: row.id, signal: terminal.signal })).row;
    if (Number.isNaN(plan.changedMs)) looked.push({ row, why: whyUncertain(plan, found) });
    else if (typeof found?.name === 'string') looked.push({ ...plan, name: found.name });
    else
      looked.push({
        row,
        why: 'a search does not find its name, so it is unknown whether it was changed since then',
      });
  }
  return looked;
}

/** Says what is known about an update whose outcome is unknown, from the platform's times of change. */
function whyUncertain({ row, before }: Undoing, found: CalculationRow | undefined): string {
  const changedMs = timeMs(found?.lastModified);
  if (before !== undefined && changedMs === before)
    return 'its formula was not set: the platform has not changed it since the previous update';
  const seen =
    found === undefined ? 'a search does not find it' : `it was last changed at ${timeText(changedMs)}`;
  return `it is unknown whether its formula was set, since the response was lost: ${seen}. Check it on the platform; to undo the change anyway: --even-if-changed ${row.id}`;
}

const timeText = (ms: number): string => (Number.isNaN(ms) ? 'an unknown time' : new Date(ms).toISOString());

/** The update that restores a formula, unless the calculation was changed after that update. */
function messageOf(set: string, { row, ...plan }: Undoing, evenIfChanged: readonly string[]) {
  const isAnyway = evenIfChanged.includes(row.id);
  return {
    version: 1,
    type: 'update-formula',
    calculationId: row.id,
    expression: plan.was,
    id: `${set}.undo${isAnyway ? '-anyway' : ''}.${row.id}.${plan.of}`,
    ...(isAnyway ? {} : { unlessChangedSince: Math.max(0, Math.floor(plan.changedMs)), name: plan.name }),
  };
}
