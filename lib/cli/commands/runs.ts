import { degradedWords, findRuns, type ListedRun, refusedAs } from '../../snapshot/history/index.ts';
import type { Run } from '../command.ts';
import { openStoreOf } from '../options/from-settings.ts';
import { inColumns, notListed, shown } from '../terminal/terminal.ts';

/** Lists the published runs, newest first; with `--all` also unpublished runs. Needs only the store. */
export default (async ([place], { all = false, limit }, terminal) => {
  const store = await openStoreOf(terminal);
  const found = await findRuns({ store, place, all, limit, signal: terminal.signal });
  const { listed, broken, left } = found;
  for (const line of [...notListed(left, 'run'), ...broken]) terminal.err(shown(line));
  const ended = broken.length > 0 ? 'incomplete' : 'done';
  return { json: listed, words: describeRuns(found, all, { place, location: store.location }), ended };
}) satisfies Run<'runs'>;

function describeRuns(
  { listed, broken }: Awaited<ReturnType<typeof findRuns>>,
  all: boolean,
  { place, location }: { readonly place: string | undefined; readonly location: string },
): readonly string[] {
  // Unreadable runs are not in the list: they are reported on stderr.
  const rows = all ? listed : listed.filter(({ fault }) => fault === null);
  if (rows.length > 0)
    return inColumns(
      headerOf(all),
      rows.map((row) => cells(row, all)),
    );
  if (broken.length > 0) return [];
  // The name is printed, since the user may have misspelt it.
  const of = place?.includes('.') ? `${place}: ` : '';
  return [`${of}${all ? 'no runs' : 'nothing has been published'} in ${location}`];
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

/** The last column: why the run was refused, which gates were overridden, or that it cannot be read. */
function remarks({ state, forced, refused, degradedPages, fault }: ListedRun): readonly string[] {
  if (fault !== null) return ['cannot be read'];
  const reasons = refusedAs({ refused, degradedPages: degradedPages ?? 0 });
  if (forced) return [`forced over: ${reasons}`];
  return state === 'refused' ? [`refused as: ${reasons}`] : degradedWords(degradedPages ?? 0);
}
