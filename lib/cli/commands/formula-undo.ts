import { printJson } from '../../base/index.ts';
import type { Store } from '../../store/index.ts';
import type { Run } from '../commands.ts';
import { UsageError } from '../errors/usage-error.ts';
import { findChangeSet, ourUpdates, type SetRow } from '../formula/change-set.ts';
import { checkedJobs } from '../jobs/job-files.ts';
import { commandLine } from '../options/command-lines.ts';
import { openStoreToRead } from '../options/from-settings.ts';
import { shown } from '../terminal/terminal.ts';
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
  const plans = await Promise.all(set.rows.map((row) => planOf(store, row)));
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
      readonly name: string;
      readonly changedMs: number;
    };

async function planOf(store: Store, row: SetRow): Promise<Plan> {
  if (row.was === null) return { row, why: 'nobody knows what its formula was' };
  const { last, lastExpression, isApplied } = await ourUpdates(store, row);
  if (!isApplied || last === undefined) return { row, why: 'its formula was not set: it is as it was' };
  if (lastExpression === row.was) return { row, why: 'is set back already' };
  if (lastExpression !== row.expression) return { row, why: 'we have set another formula since' };
  const { name, lastModified } = last.calculation;
  const changedMs = typeof lastModified === 'string' ? Date.parse(lastModified) : Number(lastModified);
  if (typeof name !== 'string' || !Number.isFinite(changedMs))
    return { row, why: 'our update returned no name or no time, so nobody can tell if it was changed since' };
  return { row, was: row.was, name, changedMs };
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
    ...(isAnyway ? {} : { unlessChangedSince: plan.changedMs, name: plan.name }),
  };
}
