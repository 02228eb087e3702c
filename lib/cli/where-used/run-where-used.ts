import type { FindableKind } from '../../report/graph/used-thing.ts';
import { type WhereUsed, whereUsed } from '../../report/graph/where-used.ts';
import { UsageError } from '../errors/usage-error.ts';
import { openStoreToRead } from '../options/from-settings.ts';
import { LISTED_DEPENDENTS, LISTED_JSON } from '../options/options.ts';
import { exitCodes, shown, type Terminal } from '../terminal/terminal.ts';
import { inJson } from '../terminal/words.ts';
import { describeSearch, describeWhereUsed, quoted } from './describe-where-used.ts';

export type WhereUsedFlags = {
  readonly kind?: FindableKind;
  readonly hops?: number;
  readonly limit?: number;
  readonly json?: true;
};

/**
 * Prints what depends on a thing, by the last published runs; returns the exit code. What is damaged of a run is named,
 * and the rest is searched. Throws `UsageError` for an id that nothing has.
 */
export async function runWhereUsed(id: string, flags: WhereUsedFlags, terminal: Terminal): Promise<number> {
  if (id.trim() === '') throw new UsageError('expected an id, got an empty text');
  const { kind, hops, limit, json } = flags;
  const store = await openStoreToRead(terminal);
  const most = limit ?? (json ? LISTED_JSON : LISTED_DEPENDENTS);
  const outcome = await whereUsed({ store, id, kind, hops, most, signal: terminal.signal });
  const { found, searched, faults } = outcome;
  for (const fault of faults) terminal.err(shown(fault));
  if (found.length === 0 && (searched.length === 0 || faults.length > 0)) {
    terminal.err(shown(`${notFound(id, kind, outcome)} (${store.location})`));
    return exitCodes.failed;
  }
  if (found.length === 0) throw new UsageError(notFound(id, kind, outcome));
  const nowMs = Date.now();
  if (json) terminal.out(inJson(asJson(id, outcome, nowMs)));
  else for (const line of describeWhereUsed(outcome, nowMs)) terminal.out(shown(line));
  return faults.length > 0 ? exitCodes.incomplete : exitCodes.done;
}

function asJson(id: string, { searched, unpublished, found, faults }: WhereUsed, nowMs: number): object {
  const withAges = searched.map((run) => ({
    ...run,
    ageSeconds: Math.max(0, Math.round((nowMs - Date.parse(run.startedAt)) / 1_000)),
  }));
  return { id, found, searched: withAges, unpublished, faults };
}

function notFound(id: string, kind: FindableKind | undefined, outcome: WhereUsed): string {
  const { searched, hints } = outcome;
  if (searched.length === 0) return `${id}: nothing has been published that could name it`;
  const meant = hints.map((hint) => `${hint.kind} ${hint.id}${quoted(hint.name)}`);
  const hint = meant.length === 0 ? '' : `; perhaps ${meant.join(', or ')} was meant`;
  const what = kind === undefined ? 'nothing' : `no ${kind}`;
  return `${id}: ${what} has this id in ${describeSearch(outcome, Date.now()).join('; ')}${hint}`;
}
