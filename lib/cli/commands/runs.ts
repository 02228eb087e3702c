import { publishedRuns } from '../../snapshot/changes/published-runs.ts';
import type { Place } from '../../snapshot/keys.ts';
import { type Manifest, readManifest } from '../../snapshot/manifest.ts';
import { sources } from '../../snapshot/sources/sources.ts';
import { inColumns } from '../columns.ts';
import type { AddCommand } from '../command.ts';
import { openStoreOf } from '../open-store-of.ts';
import { numberOption } from '../options.ts';
import { placeArgument } from '../place-argument.ts';
import { exitCodes, shown, type Terminal } from '../terminal.ts';

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
  let left = 0;
  for (const each of place === undefined ? sources : [place]) {
    const runs = await publishedRuns(store, each, terminal);
    left += Math.max(0, runs.length - flags.limit);
    for (const { manifest } of runs.slice(0, flags.limit)) {
      terminal.signal.throwIfAborted();
      listed.push(toListed(each, await readManifest(store, manifest)));
    }
  }
  if (flags.json) terminal.out(JSON.stringify(listed, undefined, 2));
  else if (listed.length === 0) terminal.out(`nothing has been published in ${shown(store.location)}`);
  else for (const line of inColumns(HEADER, listed.map(cells))) terminal.out(line);
  if (left > 0)
    terminal.err(`${left} earlier ${left === 1 ? 'run' : 'runs'} not listed; use --limit to list more`);
  return exitCodes.done;
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
