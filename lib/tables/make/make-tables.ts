import { publishedKeys } from '../../snapshot/changes/published-runs.ts';
import type { Warn } from '../../snapshot/history/clear-work.ts';
import { placesIn } from '../../snapshot/history/places.ts';
import { type Place, sourceOf } from '../../snapshot/keys.ts';
import { StoredObjectError } from '../../store/index.ts';
import type { Partitions } from '../partitions/partitions.ts';
import { pointAtLatest } from './latest-parquet.ts';
import { type MadeFolder, type MakeOptions, SourceChangedError } from './make-folder.ts';
import { endedDays, makeDay } from './make-results.ts';
import { makeRun } from './make-run.ts';
import { listRuns } from './make-runs.ts';
import { makeBatch, segmentsOfBatches } from './make-scores.ts';

/** What may lack Parquet: the runs of a place, the batches of scores, or the days of results. */
export type TableGroup = Place | 'scores' | 'results';

export type TablesToMake = MakeOptions & {
  /** Default: all that there are, results and scores first. */
  readonly groups?: readonly TableGroup[] | undefined;
  /** Where an earlier call left. Default: the beginning. */
  readonly from?: Named | undefined;
  /** The tables over the published runs. Default: none. */
  readonly partitions?: Partitions | undefined;
  /** How long results stay, in days: an older day is left as it is. Default: 90. */
  readonly resultsDays?: number | undefined;
  /**
   * Look at days older than a week only once a week, since a listing of all results costs time, and trust what is recorded
   * of runs. Default: false.
   */
  readonly isSparse?: boolean | undefined;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly warn: Warn;
};

/** One run, batch or day: `name` is the run, the segment of the batch, or `TYPE DAY`. */
export type Named = { readonly group: TableGroup; readonly name: string };

/** What happened to one that lacked Parquet; `why` is in words. `left`: the time was over. */
export type TableOutcome =
  | (Named & { readonly kind: 'made' } & Omit<MadeFolder, 'isLeft'>)
  | (Named & { readonly kind: 'left' })
  | (Named & { readonly kind: 'skipped'; readonly why: string });

/**
 * Makes the tables that published runs, finished batches of scores and ended days of results lack, and points the table of
 * each latest run at its Parquet. Repeating it does only what is missing. One that is damaged is skipped, the others
 * are made; it ends with the first that is `left`, from which the next call may continue.
 */
export async function* makeTables(options: TablesToMake): AsyncGenerator<TableOutcome> {
  const { from, isOver } = options;
  const groups = options.groups ?? (['results', 'scores', ...(await placesIn(options.store))] as const);
  const begin = from === undefined ? 0 : Math.max(0, groups.indexOf(from.group));
  for (const group of groups.slice(begin)) {
    const found = await unlessSkipped(() => itemsOf(group, options));
    if (typeof found === 'string') {
      yield { group, name: 'latest.json', kind: 'skipped', why: found };
      continue;
    }
    const first = group === from?.group ? found.findIndex(({ name }) => name === from.name) : 0;
    for (const { name, make } of found.slice(Math.max(0, first))) {
      if (isOver()) return yield { group, name, kind: 'left' };
      const made = await unlessSkipped(make);
      if (typeof made === 'string') yield { group, name, kind: 'skipped', why: made };
      if (typeof made !== 'object') continue;
      const { isLeft, ...counts } = made;
      if (counts.files > 0) yield { group, name, kind: 'made', ...counts };
      if (isLeft) return yield { group, name, kind: 'left' };
    }
  }
}

type Item = { readonly name: string; readonly make: () => Promise<MadeFolder | undefined> };

async function itemsOf(group: TableGroup, options: TablesToMake): Promise<readonly Item[]> {
  switch (group) {
    case 'results':
      return (await endedDays(options)).map((day) => ({
        name: `${day.type} ${day.day}`,
        make: () => makeDay(day, options),
      }));
    case 'scores':
      return (await segmentsOfBatches(options)).map((name) => ({
        name,
        make: () => makeBatch(name, options),
      }));
    default:
      return itemsOfPlace(group, options);
  }
}

/** The newest come first: they are asked for most. What a run shares with the one after or before it is copied. */
async function itemsOfPlace(place: Place, options: TablesToMake): Promise<readonly Item[]> {
  const { store, signal, isDry } = options;
  const runs = await publishedKeys(store, place, { signal });
  const made = await recordsOf(place, options);
  const list = () => listRuns({ store, place, signal });
  const items = runs.map((run, index) => ({
    name: run.run,
    async make() {
      const isLatest = index === 0;
      const neighbours = [runs[index - 1], runs[index + 1]].flatMap((each) => each?.run ?? []);
      const ofRun = { run, isLatest, neighbours, made: made.get(run.run) ?? new Set<string>() };
      const files = await makeRun({ ...options, ...ofRun, place });
      if (isLatest && !isDry && files?.isLeft !== true) {
        await pointAtLatest(store, sourceOf(place));
        if (files !== undefined) await list();
      }
      return files;
    },
  }));
  // Again, now that what older ones lacked is made.
  return isDry ? items : [...items, { name: 'runs', make: async () => void (await list()) }];
}

/** The names in the folders of the Parquet of a place's runs, by the run. */
async function recordsOf(
  place: Place,
  { store, signal }: TablesToMake,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const found = new Map<string, Set<string>>();
  const folder = `parquet/${place}/`;
  for await (const { key } of store.list(folder, { signal })) {
    const [, run, name = ''] = /^dt=[^/]+\/run=([^/]+)\/([^/]+)$/.exec(key.slice(folder.length)) ?? [];
    if (run !== undefined) found.set(run, (found.get(run) ?? new Set()).add(name));
  }
  return found;
}

/** What is wrong with an object that is damaged, or that others change all the time. */
async function unlessSkipped<T>(work: () => Promise<T>): Promise<T | string> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StoredObjectError || error instanceof SourceChangedError) return error.message;
    throw error;
  }
}
