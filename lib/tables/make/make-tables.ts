import * as z from 'zod/mini';
import { publishedRuns } from '../../snapshot/changes/published-runs.ts';
import { placesIn } from '../../snapshot/history/places.ts';
import { type Place, parsePlace, sourceOf } from '../../snapshot/keys.ts';
import { StoredObjectError } from '../../store/index.ts';
import { type MadeRun, makeRun, type RunToMake } from './make-run.ts';
import { listRuns, pointAtLatest } from './make-runs.ts';

export type TablesToMake = Pick<
  RunToMake,
  'store' | 'isOver' | 'signal' | 'partitions' | 'isSparse' | 'warn'
> & {
  /** Default: all that there are. */
  readonly places?: readonly Place[] | undefined;
};

type NamedRun = { readonly group: Place; readonly name: string };

/** What happened to one that lacked tables; `why` is in words. `left`: the time was over. */
export type TableOutcome =
  | (NamedRun & { readonly kind: 'made' } & Omit<MadeRun, 'isLeft'>)
  | (NamedRun & { readonly kind: 'left' })
  | (NamedRun & { readonly kind: 'skipped'; readonly why: string });

/** Repeating it does only what is missing. One that is damaged is skipped; it ends with the first that is `left`. */
export async function* makeTables(options: TablesToMake): AsyncGenerator<TableOutcome> {
  for (const place of options.places ?? (await placesIn(options.store)))
    for await (const outcome of tablesOf(place, options)) {
      yield outcome;
      if (outcome.kind === 'left') return;
    }
}

/** The newest come first: they are asked for most. What a run shares with the one after or before it is copied. */
async function* tablesOf(place: Place, options: TablesToMake): AsyncGenerator<TableOutcome> {
  const { store, signal, isOver } = options;
  const named = (name: string): NamedRun => ({ group: place, name });
  const list = () => listRuns({ store, place, signal });
  const runs = await unlessSkipped(() => publishedRuns(store, place, { signal }));
  if (typeof runs === 'string') return yield { ...named('latest.json'), kind: 'skipped', why: runs };
  const made = await namesMade(place, options);
  for (const [index, run] of runs.entries()) {
    if (isOver()) return yield { ...named(run.run), kind: 'left' };
    const isLatest = index === 0;
    const neighbours = [runs[index - 1], runs[index + 1]].flatMap((each) => each?.run ?? []);
    const ofRun = { run, isLatest, neighbours, made: made.get(run.run) ?? new Set<string>() };
    const files = await unlessSkipped(async () => {
      const found = await makeRun({ ...options, ...ofRun, place });
      if (isLatest && found?.isLeft !== true) {
        await pointAtLatest(store, sourceOf(place));
        if (found !== undefined && found.files > 0) await list();
      }
      return found;
    });
    if (typeof files === 'string') yield { ...named(run.run), kind: 'skipped', why: files };
    if (typeof files !== 'object') continue;
    const { isLeft, records, bytes, other } = files;
    if (files.files > 0) yield { ...named(run.run), kind: 'made', files: files.files, records, bytes, other };
    if (isLeft) return yield { ...named(run.run), kind: 'left' };
  }
  // Again, now that what older ones lacked is made.
  const why = await unlessSkipped(list);
  if (why !== undefined) yield { ...named('runs'), kind: 'skipped', why };
}

/** The names in the folders of the Parquet of a place's runs, by the run. */
async function namesMade(place: Place, { store, signal }: TablesToMake) {
  const found = new Map<string, Set<string>>();
  const folder = `parquet/${place}/`;
  for await (const { key } of store.list(folder, { signal })) {
    const [, run, name = ''] = /^dt=[^/]+\/run=([^/]+)\/([^/]+)$/.exec(key.slice(folder.length)) ?? [];
    if (run !== undefined) found.set(run, (found.get(run) ?? new Set()).add(name));
  }
  return found;
}

async function unlessSkipped<T>(work: () => Promise<T>): Promise<T | string> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StoredObjectError) return error.message;
    throw error;
  }
}

/** What the function is started with: the key of a `latest.json` that was stored, for its place alone; or nothing. */
export const writeTablesEvent = z.object({ published: z.optional(z.string()) });

/** The most that a line of the log names. */
const MOST_SKIPPED = 20;

/** As much of `makeTables` as there is time for: what it made, the first that are damaged and why, and what is left. */
export async function writeTables({
  published,
  ...options
}: Omit<TablesToMake, 'places' | 'isSparse'> & z.infer<typeof writeTablesEvent>) {
  const place = parsePlace(published?.split('/').at(-2) ?? '');
  const written = { made: 0, files: 0, records: 0 };
  const skipped: string[] = [];
  let left: NamedRun | undefined;
  const places = place && [place];
  for await (const outcome of makeTables({ ...options, places, isSparse: true })) {
    const { group, name, kind } = outcome;
    if (kind === 'left') left = { group, name };
    if (kind === 'skipped' && skipped.length < MOST_SKIPPED) skipped.push(`${group} ${name}: ${outcome.why}`);
    if (kind !== 'made') continue;
    written.made += 1;
    written.files += outcome.files;
    written.records += outcome.records;
  }
  return { ...written, skipped, left };
}
