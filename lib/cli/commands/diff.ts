import {
  type Change,
  changesBetween,
  collectChanges,
  describeChanges,
  type PublishedRun,
  printChange,
  readAgain,
} from '../../snapshot/history/index.ts';
import { type Place, sourceOf, sources } from '../../snapshot/sources/index.ts';
import { StoredObjectError } from '../../store/index.ts';
import type { FlagsOf, Run } from '../command.ts';
import { UsageError, withRemedy } from '../errors/usage-error.ts';
import { openStoreOf } from '../options/from-settings.ts';
import { DEFAULT_LISTED, DEFAULT_LISTED_JSON } from '../options/options.ts';
import { number, shown, type Terminal } from '../terminal/terminal.ts';

/**
 * Prints what changed between two published runs of a place, or of every published source. If objects of one
 * source are missing or damaged, reports it and still compares the other sources. Needs only the store.
 */
export default (async ([place, old, now], flags, terminal) => {
  if (flags.since !== undefined && old !== undefined)
    throw new UsageError(`--since chooses the earlier run: expected no argument OLD, got ${old}`);
  const store = await openStoreOf(terminal);
  const values: string[] = [];
  let isPublished = false;
  let isBroken = false;
  for (const each of place === undefined ? sources : [place]) {
    const finding = readAgain(() => findDifference({ old, now, store, place: each }, flags, terminal));
    const hinted = withRemedy(`to see which runs are sound: platform-sync runs ${each}`, finding);
    const difference = await (place === undefined ? hinted.catch(namedBy(each, terminal)) : hinted);
    isBroken ||= difference === 'broken';
    if (difference === undefined || difference === 'broken') continue;
    isPublished = true;
    if (flags.json) values.push(printDifference(difference));
    else for (const line of describeDifference(difference)) terminal.out(shown(line));
  }
  if (!isPublished && !isBroken) {
    terminal.err(`${place ?? 'platform-sync'}: nothing has been published in ${shown(store.location)}`);
    return 'failed';
  }
  if (flags.json) terminal.out(place === undefined ? `[${values.join(',\n')}]` : values.join(''));
  return isBroken ? 'incomplete' : 'done';
}) satisfies Run<'diff'>;

/** Prints an error about the stored objects of one of several places, so that the others can still be compared. */
const namedBy =
  (place: Place, { err }: Terminal) =>
  (error: unknown): 'broken' => {
    if (!(error instanceof StoredObjectError)) throw error;
    err(shown(`${place}: ${error.message}`));
    return 'broken';
  };

/** Finds what changed between two runs of a place; undefined if no run has been published. */
async function findDifference(
  wanted: Pick<Parameters<typeof changesBetween>[0], 'store' | 'place' | 'old' | 'now'>,
  { since, memory, limit, json }: FlagsOf<'diff'>,
  { signal }: Terminal,
): Promise<Difference | undefined> {
  const { place } = wanted;
  const found = await changesBetween({ ...wanted, sinceMs: since, memoryBytes: memory * 1_000_000, signal });
  if (found.kind === 'nothing-published') return undefined;
  if (found.kind === 'unknown-run') throw unknownRun(place, found.run, found.runs);
  const { old, after, steps } = found;
  if (steps === undefined) return { place, old: null, now: after.run, counts: undefined, changes: [] };
  const collected = await collectChanges(steps, limit ?? (json ? DEFAULT_LISTED_JSON : DEFAULT_LISTED));
  return { place, old, now: after.run, ...collected };
}

/** Maximum runs that an error lists. */
const MAX_RUNS = 10;

function unknownRun(place: Place, run: string, runs: readonly PublishedRun[]): UsageError {
  const names = runs.slice(0, MAX_RUNS).map((each) => each.run);
  const rest = runs.length > MAX_RUNS ? `, and ${runs.length - MAX_RUNS} earlier ones` : '';
  return new UsageError(`${place}: expected a published run (${names.join(', ')}${rest}), got ${run}`);
}

type Difference = {
  readonly place: Place;
  /** The older run; null if `now` is the first published run, so there was nothing to compare. */
  readonly old: string | null;
  readonly now: string;
  readonly counts: Awaited<ReturnType<typeof collectChanges>>['counts'] | undefined;
  readonly changes: readonly Change[];
};

function printDifference({ place, old, now, counts, changes }: Difference): string {
  const { added = null, removed = null, changed = null } = counts ?? {};
  const head = JSON.stringify({ source: place, old, new: now, added, removed, changed });
  // The records are printed as the bytes of the parts, since parsing and printing could change their numbers.
  return `${head.slice(0, -1)},"changes":[${changes.map((change) => `\n${printChange(change)}`).join(',')}]}`;
}

function describeDifference({ place, old, now, counts, changes }: Difference): readonly string[] {
  if (counts === undefined)
    return [`${place}: ${now} is the first published run; there is nothing to compare it with`];
  const counted = (['added', 'removed', 'changed'] as const).map((kind) => `${number(counts[kind])} ${kind}`);
  const left = counts.added + counts.removed + counts.changed - changes.length;
  return [
    `${place}: ${old} → ${now}: ${counted.join(', ')}`,
    ...describeChanges(sourceOf(place), changes).map((line) => `  ${line}`),
    ...(left > 0 ? [`  and ${number(left)} more; use --limit to list more`] : []),
  ];
}
