import type { Place } from '../../snapshot/keys.ts';
import { sources } from '../../snapshot/sources/sources.ts';
import { inColumns } from '../columns.ts';
import type { AddCommand } from '../command.ts';
import { type FoundRuns, findRuns, type ListedRun } from '../list-runs.ts';
import { openStoreToRead } from '../open-store-of.ts';
import { numberOption } from '../options.ts';
import { placeArgument } from '../place-argument.ts';
import { exitCodes, shown, type Terminal } from '../terminal.ts';

type RunsFlags = { readonly all?: true; readonly limit: number; readonly json?: true };

/** `runs [SOURCE]`: the published runs, newest first; with `--all` every other one, too. Needs only the store. */
export const addRuns: AddCommand = (program, terminal, finish) => {
  program
    .command('runs')
    .description('List the published runs, newest first.')
    .argument(
      '[source]',
      `one of ${sources.join(', ')}, or SOURCE.NAME (default: every source; with --all also every SOURCE.NAME)`,
      placeArgument,
    )
    .option('--all', 'also list unfinished, refused and superseded runs')
    .option('--limit <n>', 'the most runs to list for each source', numberOption(1, 10_000), 20)
    .option('--json', 'print the runs as one JSON value')
    .action(async (place: Place | undefined, flags: RunsFlags) =>
      finish(await listRuns(place, flags, terminal)),
    );
};

async function listRuns(place: Place | undefined, flags: RunsFlags, terminal: Terminal): Promise<number> {
  const store = await openStoreToRead(terminal);
  const all = flags.all === true;
  const found = await findRuns({ store, place, all, limit: flags.limit }, terminal);
  const { listed, broken, left } = found;
  if (flags.json) terminal.out(JSON.stringify(listed, undefined, 2));
  else for (const line of describeRuns(found, all, store.location)) terminal.out(line);
  if (left > 0)
    terminal.err(`${left} earlier ${left === 1 ? 'run' : 'runs'} not listed; use --limit to list more`);
  for (const line of broken) terminal.err(shown(line));
  return broken.length > 0 ? exitCodes.incomplete : exitCodes.done;
}

function describeRuns({ listed, broken }: FoundRuns, all: boolean, location: string): readonly string[] {
  // A run that cannot be read is named after the list.
  const rows = all ? listed : listed.filter(({ fault }) => fault === null);
  if (rows.length > 0)
    return inColumns(
      headerOf(all),
      rows.map((run) => cells(run, all)),
    );
  if (broken.length > 0) return [];
  return [all ? `no runs in ${shown(location)}` : `nothing has been published in ${shown(location)}`];
}

const headerOf = (all: boolean): readonly string[] => [
  'SOURCE',
  'RUN',
  ...(all ? ['STATE'] : []),
  ...'STARTED,SECONDS,RECORDS,ADDED,REMOVED,CHANGED,CONSISTENCY'.split(','),
];

function cells(run: ListedRun, all: boolean): readonly string[] {
  const { source, state, startedAt, durationMs, consistency } = run;
  const counts = [run.records, run.added, run.removed, run.changed];
  return [
    source,
    run.run,
    ...(all ? [state] : []),
    startedAt,
    durationMs === null ? '-' : (durationMs / 1000).toFixed(1),
    ...counts.map((count) => count?.toLocaleString('en') ?? '-'),
    consistency ?? '-',
    ...remarks(run),
  ].map(shown);
}

/** What comes last: why it was refused, or forced over what, or what is wrong with it. */
function remarks({ state, forced, refused, fault }: ListedRun): readonly string[] {
  if (fault !== null) return ['cannot be read'];
  if (forced) return [`forced over: ${refused.join(', ')}`];
  return state === 'refused' ? [`refused as: ${refused.join(', ')}`] : [];
}
