import { columnsOfRuns, describedRecords, lastRuns, openModel } from '../../model/index.ts';
import { readAgain } from '../../snapshot/read-again.ts';
import { type Source, sources } from '../../snapshot/sources/sources.ts';
import type { Store } from '../../store/index.ts';
import {
  type FindableKind,
  findableKinds,
  type Hint,
  kindOf,
  type Search,
  type UsedThing,
} from './used-thing.ts';
import { whereUsedInDataFiles, whereUsedInFiles } from './where-used-in-files.ts';
import { whereUsedInGraph } from './where-used-in-graph.ts';

export type WhereUsedOptions = {
  readonly store: Store;
  /** An id in any of its forms; of a file, its path or its id. */
  readonly id: string;
  /** Default: every kind that has the id. */
  readonly kind?: FindableKind | undefined;
  /** How many uses away, at most. Default: any number. */
  readonly hops?: number | undefined;
  /** The most dependents to list of each thing; all are counted. */
  readonly most: number;
  readonly signal?: AbortSignal | undefined;
};

export type WhereUsed = {
  /** What was searched, a run each. `startedAt` is ISO text. */
  readonly searched: readonly {
    readonly place: string;
    readonly run: string;
    readonly startedAt: string;
    readonly records: number;
    /** What the platform refused to give it, such as the cards of a dataset. */
    readonly missing: number;
  }[];
  /** What would have been searched, but is not published. */
  readonly unpublished: readonly Source[];
  /** Everything that has the id: none if it is not known. */
  readonly found: readonly UsedThing[];
  /** What may have been meant, if nothing was found. */
  readonly hints: readonly Hint[];
  /** What is missing or damaged, in words: the rest holds. At most 20, and whether there are more. */
  readonly faults: readonly string[];
};

const MOST_FAULTS = 20;

/**
 * What has an id, and what depends on it over several hops, by the last published runs. Throws `StoreError` if the store
 * cannot be read.
 */
export const whereUsed = (options: WhereUsedOptions): Promise<WhereUsed> =>
  readAgain(
    () => searchOnce(options),
    ({ faults }) => faults,
  );

async function searchOnce(options: WhereUsedOptions): Promise<WhereUsed> {
  const { store, kind, signal, most, hops = Number.POSITIVE_INFINITY } = options;
  // Records are read twice, so the same fault may be found again.
  const faults = new Set<string>();
  const wanted = [...new Set<Source>(kind === undefined ? sources : findableKinds[kind])];
  const addFault = (fault: string, source: Source) => {
    if (wanted.includes(source)) faults.add(fault);
  };
  const reading = { store, addFault, signal };
  const isInModel = wanted.includes('calculations');
  const opened = isInModel ? await openModel({ ...reading, now: Date.now, addDamage: addFault }) : undefined;
  const last = opened?.runs ?? (await lastRuns(store, wanted, addFault)).runs;
  const runs = last.filter(({ source }) => wanted.includes(source));
  const columns = opened?.columns ?? columnsOfRuns({ ...reading, runs });
  const search = { columns, id: options.id.trim(), kind, hops, most };
  const found = [
    ...(opened === undefined ? [] : await whereUsedInGraph(opened.model, search)),
    ...(wanted.includes('data-files') ? await whereUsedInDataFiles(search) : []),
    ...(wanted.includes('files') ? await whereUsedInFiles(search) : []),
  ];
  return {
    searched: runs.map(({ place, manifest: { run, startedAt, records, missing } }) => ({
      place,
      run,
      startedAt,
      records,
      missing: missing.length,
    })),
    unpublished: wanted.filter((source) => !runs.some((run) => run.source === source)),
    found,
    hints: found.length === 0 ? await hintsFor(search) : [],
    faults: faults.size > MOST_FAULTS ? [...[...faults].slice(0, MOST_FAULTS), 'and more'] : [...faults],
  };
}

const MOST_HINTS = 5;
/** Fewer characters begin too many ids. */
const LEAST_START = 3;

/** Things that have the id as their name, whatever its case, or as the start of theirs; at most five. */
async function hintsFor(search: Search): Promise<readonly Hint[]> {
  const wanted = search.id.toLowerCase();
  const isStart = (id: string) => wanted.length >= LEAST_START && id.toLowerCase().startsWith(wanted);
  const found = new Map<string, Hint>();
  const hint = (kind: FindableKind, id: string, name: string | null) => {
    if (isStart(id) || name?.trim().toLowerCase() === wanted) found.set(`${kind} ${id}`, { kind, id, name });
  };
  for await (const records of describedRecords(search.columns))
    for (const { source, id, name, fileset } of records) {
      if (found.size >= MOST_HINTS) return [...found.values()];
      hint(kindOf[source], id, name);
      if (fileset !== null) hint('fileset', fileset, null);
    }
  return [...found.values()];
}
