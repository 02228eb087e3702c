import { printJson } from '../../base/index.ts';
import { findCalculation } from '../../jobs/types/update-formula/find-calculation.ts';
import { timeOfEntry } from '../../jobs/types/update-formula/formula-log.ts';
import { operations } from '../../platform/client.ts';
import { type Platform, timeMs } from '../../platform/index.ts';
import { openSession } from '../../session.ts';
import type { Store } from '../../store/index.ts';
import type { Run } from '../commands.ts';
import { UsageError } from '../errors/usage-error.ts';
import { findChangeSet, ourUpdates, type SetRow } from '../formula/change-set.ts';
import { checkedJobs } from '../jobs/job-files.ts';
import { commandLine } from '../options/command-lines.ts';
import { openStoreToRead } from '../options/from-settings.ts';
import { shown, type Terminal } from '../terminal/terminal.ts';
import { runAll } from './run.ts';

/** Sets the formulas of a set back to what they were, those that are still as we left them. */
export default (async ([name], { evenIfChanged = [] }, terminal) => {
  const store = await openStoreToRead(terminal);
  const set = await findChangeSet(store, name);
  if (set === undefined)
    throw new UsageError(
      `${name}: expected the name of a set that was applied, got none that is in ${store.location}`,
    );
  const strange = evenIfChanged.filter((id) => !set.rows.some((row) => row.id === id));
  if (strange.length > 0)
    throw new UsageError(`--even-if-changed: expected calculations of ${name}, got ${strange.join(', ')}`);
  const known = await Promise.all(set.rows.map((row) => planOf(store, row)));
  const plans = await withNames(known, evenIfChanged, terminal);
  const left = plans.flatMap(({ row, why }) => (why === undefined ? [] : [`calculation ${row.id}: ${why}`]));
  for (const line of left) terminal.err(shown(line));
  const messages = plans.flatMap((plan) =>
    plan.why === undefined ? [messageOf(name, plan, evenIfChanged)] : [],
  );
  if (messages.length === 0) {
    terminal.err(`${name}: nothing to set back`);
    return 'incomplete';
  }
  const text = messages.map((message) => printJson(message)).join('\n');
  const jobs = await checkedJobs({ file: name, text }, { undone: 'sent', isQuiet: true }, terminal);
  const again = `to set the rest: ${commandLine(['formula', 'undo', name], { evenIfChanged })}`;
  const found = await runAll({ name, noun: 'formula', jobs, again, facts: { set: name } }, terminal);
  return left.length > 0 ? { ...found, ended: found.ended === 'failed' ? 'failed' : 'incomplete' } : found;
}) satisfies Run<'formula undo'>;

/** A row with the calculation as our update left it, or why it is not set back. */
type Plan =
  | { readonly row: SetRow; readonly why: string }
  | {
      readonly row: SetRow;
      readonly why?: undefined;
      readonly was: string;
      /** Null if neither the set nor our update says. */
      readonly name: string | null;
      readonly changedMs: number;
    };

async function planOf(store: Store, row: SetRow): Promise<Plan> {
  if (row.was === null) return { row, why: 'nobody knows what its formula was' };
  const { last, lastExpression, isApplied } = await ourUpdates(store, row);
  if (!isApplied || last === undefined) return { row, why: 'its formula was not set: it is as it was' };
  if (lastExpression === row.was) return { row, why: 'is set back already' };
  if (lastExpression !== row.expression) return { row, why: 'we have set another formula since' };
  const { name, lastModified } = last.calculation;
  // Of an update that returned no time, the time at which it had returned.
  const changedMs = [timeMs(lastModified), timeOfEntry(last)].find((each) => !Number.isNaN(each)) ?? 0;
  const known = typeof name === 'string' && name !== '' ? name : row.name;
  return { row, was: row.was, name: known, changedMs };
}

/** The plans with the names by which a search finds their calculations, looked up by their ids where nothing says them. */
async function withNames(
  plans: readonly Plan[],
  evenIfChanged: readonly string[],
  terminal: Terminal,
): Promise<readonly Plan[]> {
  const named: Plan[] = [];
  let platform: Platform | undefined;
  for (const plan of plans) {
    const { row } = plan;
    if (plan.why !== undefined || plan.name !== null || evenIfChanged.includes(row.id)) {
      named.push(plan);
      continue;
    }
    platform ??= operations(openSession(terminal).call);
    const found = await findCalculation({ platform, id: row.id, signal: terminal.signal });
    const name = found.row?.name;
    if (typeof name === 'string') named.push({ ...plan, name });
    else named.push({ row, why: 'no search finds its name, so nobody can tell if it was changed since' });
  }
  return named;
}

/** The update that sets a formula back, if nobody has changed the calculation since ours. */
function messageOf(
  set: string,
  { row, ...plan }: Extract<Plan, { was: string }>,
  evenIfChanged: readonly string[],
) {
  const isAnyway = evenIfChanged.includes(row.id);
  return {
    ...{ version: 1, type: 'update-formula', calculationId: row.id, expression: plan.was },
    id: `${set}.undo${isAnyway ? '-anyway' : ''}.${row.id}`,
    ...(isAnyway ? {} : { unlessChangedSince: Math.max(0, Math.floor(plan.changedMs)), name: plan.name }),
  };
}
