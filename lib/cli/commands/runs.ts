import { type PublishedRun, publishedRuns } from '../../snapshot/changes/published-runs.ts';
import type { Place } from '../../snapshot/keys.ts';
import { type Manifest, readManifest } from '../../snapshot/manifest.ts';
import { readLastPublication } from '../../snapshot/publish/last-publication.ts';
import { sources } from '../../snapshot/sources/sources.ts';
import type { Store } from '../../store/store.ts';
import { StoredObjectError } from '../../store/stored-json.ts';
import { inColumns } from '../columns.ts';
import type { AddCommand } from '../command.ts';
import { openStoreOf } from '../open-store-of.ts';
import { numberOption } from '../options.ts';
import { placeArgument } from '../place-argument.ts';
import { exitCodes, shown, type Terminal } from '../terminal.ts';
import { snapshotCommand } from '../with-way-out.ts';

type RunsFlags = { readonly limit: number; readonly json?: true };

/** `runs [SOURCE]`: the published runs, newest first. Needs only the store, not the platform. */
export const addRuns: AddCommand = (program, terminal, finish) => {
  program
    .command('runs')
    .description('List the published runs, newest first.')
    .argument(
      '[source]',
      `one of ${sources.join(', ')}, or SOURCE.NAME (default: every source)`,
      placeArgument,
    )
    .option('--limit <n>', 'the most runs to list for each source', numberOption(1, 10_000), 20)
    .option('--json', 'print the runs as one JSON value')
    .action(async (place: Place | undefined, flags: RunsFlags) =>
      finish(await listRuns(place, flags, terminal)),
    );
};

async function listRuns(place: Place | undefined, flags: RunsFlags, terminal: Terminal): Promise<number> {
  const store = await openStoreOf(terminal.environment);
  const listed: ListedRun[] = [];
  const broken: string[] = [];
  let left = 0;
  for (const each of place === undefined ? sources : [place]) {
    const last = await readLastPublication(store, each);
    if (last.broken !== undefined) broken.push(`${each}: ${last.broken}; ${toRepair(each)}`);
    // Without `latest.json` nobody knows which runs were published.
    const runs = last.latest === undefined ? [] : await publishedRuns(store, each, terminal);
    left += Math.max(0, runs.length - flags.limit);
    for (const run of runs.slice(0, flags.limit)) {
      terminal.signal.throwIfAborted();
      const manifest = await readIfSound(store, run);
      if (typeof manifest !== 'string') listed.push(toListed(each, manifest));
      else if (run.run !== last.latest?.run) broken.push(`${each}: ${manifest}; no other run is affected`);
    }
  }
  show(listed, flags, store, terminal, broken.length > 0);
  if (left > 0)
    terminal.err(`${left} earlier ${left === 1 ? 'run' : 'runs'} not listed; use --limit to list more`);
  for (const line of broken) terminal.err(shown(line));
  return broken.length > 0 ? exitCodes.incomplete : exitCodes.done;
}

/** How a place is published again whose last run is missing or damaged. */
function toRepair(place: Place): string {
  return `to publish a new run without comparing: ${snapshotCommand(place)} … --force, or platform-sync publish ${place} RUN --force`;
}

/** The manifest of a run; if it is missing or damaged, what is wrong with it, in words. */
async function readIfSound(store: Store, { manifest }: PublishedRun): Promise<Manifest | string> {
  try {
    return await readManifest(store, manifest);
  } catch (error) {
    if (error instanceof StoredObjectError) return error.message;
    throw error;
  }
}

function show(
  listed: readonly ListedRun[],
  { json }: RunsFlags,
  { location }: Store,
  terminal: Terminal,
  isBroken: boolean,
): void {
  if (json) terminal.out(JSON.stringify(listed, undefined, 2));
  else if (listed.length > 0) for (const line of inColumns(HEADER, listed.map(cells))) terminal.out(line);
  else if (!isBroken) terminal.out(`nothing has been published in ${shown(location)}`);
}

type ListedRun = ReturnType<typeof toListed>;

function toListed(source: Place, manifest: Manifest) {
  const { run, startedAt, finishedAt, records, changes, consistency, forced, refused } = manifest;
  return {
    source,
    run,
    startedAt,
    finishedAt,
    durationMs: Date.parse(finishedAt) - Date.parse(startedAt),
    records,
    // Null for a first run, which was not compared with any.
    against: changes?.against ?? null,
    added: changes?.added ?? null,
    removed: changes?.removed ?? null,
    changed: changes?.changed ?? null,
    consistency,
    forced,
    refused,
  };
}

const HEADER = 'SOURCE,RUN,STARTED,SECONDS,RECORDS,ADDED,REMOVED,CHANGED,CONSISTENCY'.split(',');

/** The reasons that a run was forced over come last. */
function cells(run: ListedRun): readonly string[] {
  const { source, startedAt, durationMs, consistency, forced, refused } = run;
  const counts = [run.records, run.added, run.removed, run.changed];
  return [
    source,
    run.run,
    startedAt,
    (durationMs / 1000).toFixed(1),
    ...counts.map((count) => count?.toLocaleString('en') ?? '-'),
    consistency,
    ...(forced ? [`forced over: ${refused.join(', ')}`] : []),
  ].map(shown);
}
