import { type Change, printChange } from '../../snapshot/changes/change.ts';
import { collectChanges } from '../../snapshot/changes/collect-changes.ts';
import { compareRuns } from '../../snapshot/changes/compare-runs.ts';
import type { ComparisonEvent, RunSide } from '../../snapshot/changes/comparison-events.ts';
import type { ChangeCounts } from '../../snapshot/changes/count-changes.ts';
import { describeChanges } from '../../snapshot/changes/describe-changes.ts';
import { type PublishedRun, publishedRuns } from '../../snapshot/changes/published-runs.ts';
import { findRunPair } from '../../snapshot/changes/run-pair.ts';
import { type Place, sourceOf } from '../../snapshot/keys.ts';
import type { Manifest } from '../../snapshot/manifest.ts';
import { sources } from '../../snapshot/sources/sources.ts';
import type { Store } from '../../store/store.ts';
import type { AddCommand } from '../command.ts';
import { openStoreOf } from '../open-store-of.ts';
import { numberOption } from '../options.ts';
import { placeArgument } from '../place-argument.ts';
import { exitCodes, shown, type Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';

type DiffFlags = { readonly limit?: number; readonly memory: number; readonly json?: true };

/** How many changes are listed unless `--limit` says otherwise: for people, and for machines. */
const LISTED = 20;
const LISTED_JSON = 1_000;

/** `diff [SOURCE] [OLD] [NEW]`: what changed between two published runs. Needs only the store. */
export const addDiff: AddCommand = (program, terminal, finish) => {
  program
    .command('diff')
    .description('Show what changed between two published runs.')
    .argument(
      '[source]',
      `one of ${sources.join(', ')}, or SOURCE.NAME (default: every published source)`,
      placeArgument,
    )
    .argument('[old]', 'the earlier run (default: the one that NEW was compared with when it was published)')
    .argument('[new]', 'the later run (default: the last published one)')
    .option(
      '--limit <n>',
      `the most changes to list (default: ${LISTED}; with --json: ${LISTED_JSON})`,
      numberOption(0, 1e6),
    )
    .option(
      '--memory <mb>',
      'megabytes of memory for comparing records that are not in order',
      numberOption(1, 100_000),
      128,
    )
    .option('--json', 'print one JSON value: an object, or a list of objects if no source is given')
    .action(
      async (place: Place | undefined, old: string | undefined, now: string | undefined, flags: DiffFlags) =>
        finish(await diff({ place, old, now }, flags, terminal)),
    );
};

type Requested = {
  readonly place: Place | undefined;
  readonly old: string | undefined;
  readonly now: string | undefined;
};

async function diff({ place, old, now }: Requested, flags: DiffFlags, terminal: Terminal): Promise<number> {
  const store = await openStoreOf(terminal.environment);
  const values: string[] = [];
  let published = false;
  for (const each of place === undefined ? sources : [place]) {
    const runs = await publishedRuns(store, each, terminal);
    if (runs.length === 0) continue;
    published = true;
    const pair = await findRunPair({ store, runs, old, now });
    if (pair.kind === 'unknown-run') throw unknownRun(each, pair.run, runs);
    const difference = await compare({ store, place: each, ...pair }, flags, terminal);
    if (flags.json) values.push(printDifference(difference));
    else for (const line of describeDifference(difference)) terminal.out(shown(line));
  }
  if (!published) {
    terminal.err(`${place ?? 'platform-sync'}: nothing has been published in ${shown(store.location)}`);
    return exitCodes.failed;
  }
  if (flags.json) terminal.out(place === undefined ? `[${values.join(',\n')}]` : values.join(''));
  return exitCodes.done;
}

/** The most runs that an error names. */
const NAMED = 10;

function unknownRun(place: Place, run: string, runs: readonly PublishedRun[]): UsageError {
  const names = runs.slice(0, NAMED).map((each) => each.run);
  const rest = runs.length > NAMED ? `, and ${runs.length - NAMED} earlier ones` : '';
  return new UsageError(`${place}: expected a published run (${names.join(', ')}${rest}), got ${run}`);
}

type Compared = {
  readonly store: Store;
  readonly place: Place;
  readonly before: Manifest | undefined;
  readonly after: Manifest;
};

type Difference = {
  readonly place: Place;
  /** Null if nothing was published before; in that case nothing was compared. */
  readonly old: string | null;
  readonly now: string;
  readonly counts: ChangeCounts | undefined;
  readonly changes: readonly Change[];
};

async function compare(
  { store, place, before, after }: Compared,
  flags: DiffFlags,
  { signal, err }: Terminal,
): Promise<Difference> {
  if (before === undefined) return { place, old: null, now: after.run, counts: undefined, changes: [] };
  const steps = compareRuns({
    store,
    source: sourceOf(place),
    before,
    after,
    memoryBytes: flags.memory * 1_000_000,
    signal,
    observe: warnOfRepeats(place, { before: before.run, after: after.run }, err),
  });
  const found = await collectChanges(steps, flags.limit ?? (flags.json ? LISTED_JSON : LISTED));
  return { place, old: before.run, now: after.run, ...found };
}

/** Warns, once for each run, that a key appears in it more than once. */
function warnOfRepeats(place: Place, runs: Readonly<Record<RunSide, string>>, err: Terminal['err']) {
  const warned = new Set<RunSide>();
  return (event: ComparisonEvent): void => {
    if (event.kind !== 'repeated-key' || warned.has(event.side)) return;
    warned.add(event.side);
    const which = `key ${event.key} appears more than once in run ${runs[event.side]}`;
    err(shown(`${place}: ${which}, and other keys may too; only the last record of each key is compared`));
  };
}

function printDifference({ place, old, now, counts, changes }: Difference): string {
  const { added = null, removed = null, changed = null } = counts ?? {};
  const head = JSON.stringify({ source: place, old, new: now, added, removed, changed });
  // The records are printed as they are in the parts: parsing and printing them again could change their numbers.
  return `${head.slice(0, -1)},"changes":[${changes.map((change) => `\n${printChange(change)}`).join(',')}]}`;
}

function describeDifference({ place, old, now, counts, changes }: Difference): readonly string[] {
  if (counts === undefined)
    return [`${place}: ${now} is the first published run; there is nothing to compare it with`];
  const counted = (['added', 'removed', 'changed'] as const).map(
    (kind) => `${counts[kind].toLocaleString('en')} ${kind}`,
  );
  const left = counts.added + counts.removed + counts.changed - changes.length;
  return [
    `${place}: ${old} → ${now}: ${counted.join(', ')}`,
    ...describeChanges(sourceOf(place), changes).map((line) => `  ${line}`),
    ...(left > 0 ? [`  and ${left.toLocaleString('en')} more; use --limit to list more`] : []),
  ];
}
