import { AwsError } from '../../base/aws/index.ts';
import { type Manifest, newlyMissing, refusalWords, refusedAs } from '../../snapshot/history/index.ts';
import { clearPublishedWork, type Publication } from '../../snapshot/index.ts';
import type { Place } from '../../snapshot/sources/index.ts';
import { type Store, StoreError } from '../../store/index.ts';
import { commandLine } from '../options/command-lines.ts';
import {
  andMore,
  type CommandResult,
  counted,
  type ExitStatus,
  printCommandResult,
  shownLines,
  size,
  type Terminal,
  warnOn,
} from '../terminal/terminal.ts';

/** Deletes a published run's objects under `work/`, prints how the run ended, then builds its tables. */
export async function endWith(
  publication: Publication,
  store: Store,
  options: {
    readonly json?: true;
    /** False: the tables are not built. */
    readonly tables?: boolean | undefined;
    /** Whether newly missing ids make the run incomplete. Default: they are only listed. */
    readonly countsMissing?: boolean | undefined;
  },
  terminal: Terminal,
  print = (found: CommandResult): ExitStatus => printCommandResult(found, options.json, terminal),
): Promise<ExitStatus> {
  const { json, tables = true, countsMissing = false } = options;
  const place = publication.manifest.source as Place;
  if (publication.kind === 'published') await clearPublishedWork(store, place, warnOn(terminal));
  const found = foundRun(publication, store, countsMissing);
  const ended = print(found);
  if (json && ended !== 'done') terminal.err(shownLines(found.words));
  if (tables && publication.kind === 'published') await makeTablesOf(publication, store, terminal);
  return ended;
}

/**
 * A finished run in words, and as JSON: its manifest, the manifest's key, and whether it was published. The run is
 * incomplete if it was not published, or with `countsMissing` if it could not read an id that the last run had read.
 */
function foundRun(
  publication: Publication,
  store: Pick<Store, 'location'>,
  countsMissing = false,
): CommandResult & { readonly words: string } {
  const { kind, key, manifest } = publication;
  const news = countsMissing ? newlyMissing(manifest) : [];
  const instead = kind === 'superseded' ? { supersededBy: publication.latest.run } : {};
  return {
    json: {
      ...manifest,
      published: kind === 'published',
      outcome: kind,
      ...instead,
      store: store.location,
      manifest: key,
    },
    words: describePublication(publication, store, news),
    ended: kind === 'published' && news.length === 0 ? 'done' : 'incomplete',
  };
}

/** A finished run in a few lines, for people. */
function describePublication(
  publication: Publication,
  store: Pick<Store, 'location'>,
  news: readonly Manifest['missing'][number][],
): string {
  const { manifest, key } = publication;
  const bytes = manifest.parts.reduce((sum, part) => sum + part.bytes, 0);
  const seconds = (Date.parse(manifest.finishedAt) - Date.parse(manifest.startedAt)) / 1000;
  const { requests, retries, throttled } = manifest.calls;
  return [
    `${manifest.source}: ${counted(manifest.records, 'record')} in ${counted(manifest.parts.length, 'part')}, ${size(bytes)}, ${seconds.toFixed(1)} s`,
    `consistency: ${manifest.consistency}, in the order of ${manifest.order}, by ${counted(manifest.passes, 'pass', 'passes')}`,
    `calls: ${counted(requests, 'request')}, ${counted(retries, 'retry', 'retries')}, ${throttled} throttled`,
    ...(manifest.idsFrom === undefined ? [] : [`ids from: ${manifest.idsFrom}`]),
    ...describeMissing(manifest, news),
    ...(manifest.changes === null ? [] : [changed(manifest.changes)]),
    ...outcome(publication),
    `manifest: ${store.location}/${key}`,
  ].join('\n');
}

/** Maximum missing ids in a line; the manifest lists all of them. */
const MAX_MISSING = 5;

/** The lines about missing ids. `news`: the newly missing ids, which make the run incomplete. */
function describeMissing(
  { missing }: Manifest,
  news: readonly Manifest['missing'][number][],
): readonly string[] {
  if (missing.length === 0) return [];
  const known = missing.filter((each) => !news.includes(each));
  return [
    ...(known.length === 0 ? [] : [`missing${news.length > 0 ? ' as before' : ''}: ${namedIds(known)}`]),
    ...(news.length === 0
      ? []
      : [
          `missing: ${namedIds(news)}`,
          `incomplete: ${counted(news.length, 'id')} could not be read; if they stay missing, the next run does not report them again`,
        ]),
  ];
}

function namedIds(ids: readonly Manifest['missing'][number][]): string {
  const named = ids.slice(0, MAX_MISSING).map(({ id, status }) => `${id} (${status || 'no response'})`);
  return [...named, ...andMore(ids.length - MAX_MISSING)].join(', ');
}

const changed = ({ against, added, removed, changed: different }: NonNullable<Manifest['changes']>) =>
  `changes: ${added} added, ${removed} removed, ${different} changed since run ${against}`;

/** The command that publishes a refused run anyway. */
const publishCommand = (place: string, run: string): string =>
  commandLine(['publish', place, run], { force: true });

function outcome(publication: Publication): readonly string[] {
  const { kind, manifest } = publication;
  switch (kind) {
    case 'published':
      return manifest.forced
        ? [`published with --force, although refused as: ${refusedAs(manifest)}`]
        : [`published${manifest.accepted.length > 0 ? `; accepted: ${manifest.accepted.join(', ')}` : ''}`];
    case 'refused':
      return [
        `not published; refused as: ${refusedAs(manifest)}`,
        ...refusalWords(manifest).map((line) => `  ${line}`),
        ...(publication.broken === undefined ? [] : [`  ${publication.broken}`]),
        `the last published run stays published; to publish this run anyway: ${publishCommand(manifest.source, manifest.run)}`,
      ];
    case 'superseded':
      return [
        `not published: run ${publication.latest.run}, which started later, has been published in the meantime`,
        `to publish this run anyway: ${publishCommand(manifest.source, manifest.run)}`,
      ];
    default:
      return publication satisfies never;
  }
}

/** Builds the tables of a published run. If that fails, only warns, since the next query builds them. */
async function makeTablesOf({ manifest }: Publication, store: Store, terminal: Terminal): Promise<void> {
  const warn = (what: string) =>
    terminal.err(shownLines(`warning: ${what}; to build the tables: platform-sync tables`));
  const { buildTablesHere } = await import('../commands/tables.ts');
  const wanted = { store, places: [manifest.source as Place], isSparse: true };
  const warnOf = (what: string, reason: Error) => warn(`${what}: ${reason.message}`);
  try {
    for await (const outcome of buildTablesHere({ ...wanted, warn: warnOf }, terminal))
      if (outcome.kind === 'skipped') warn(`no tables of run ${outcome.name}: ${outcome.why}`);
  } catch (error) {
    if (terminal.signal.aborted) return;
    if (!(error instanceof StoreError || error instanceof AwsError)) throw error;
    warn(error.message);
  }
}
