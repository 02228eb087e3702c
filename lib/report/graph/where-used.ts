import { lastRuns } from '../../model/index.ts';
import { readAgain } from '../../snapshot/read-again.ts';
import type { Source } from '../../snapshot/sources/sources.ts';
import type { Store } from '../../store/store.ts';
import { kinds } from './graph.ts';
import { createHints, type Hint } from './hints.ts';
import { type FindableKind, findableKinds, type UsedThing } from './used-thing.ts';
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
 * What has an id, and what depends on it over several hops, by the last published runs. A million calculations and 140,000
 * cards were measured at 8 CPU seconds and 390 MB in all, 250 MB with `--max-semi-space-size=4`; at 25 CPU seconds where
 * their uses were not stored. Throws `StoreError` if the store cannot be read.
 */
export const whereUsed = (options: WhereUsedOptions): Promise<WhereUsed> =>
  readAgain(
    () => searchOnce(options),
    ({ faults }) => faults,
  );

async function searchOnce(options: WhereUsedOptions): Promise<WhereUsed> {
  const { store, kind, signal, most, hops = Number.POSITIVE_INFINITY } = options;
  const id = options.id.trim();
  const faults = createFaults();
  const wanted = kind === undefined ? Object.values(findableKinds).flat() : findableKinds[kind];
  const { runs, unpublished } = await lastRuns(store, [...new Set<Source>(wanted)], faults.add);
  const hints = createHints(id);
  const search = { store, runs, addFault: faults.add, signal, id, most, hints };
  const inGraph = kinds.find((each) => each === kind);
  const found: UsedThing[] = [];
  if (kind === undefined || inGraph !== undefined)
    found.push(...(await whereUsedInGraph({ ...search, kind: inGraph, hops })));
  if (kind === undefined || kind === 'fileset' || kind === 'file')
    found.push(...(await whereUsedInFiles({ ...search, kind })));
  if (kind === undefined || kind === 'data-file')
    found.push(...(await whereUsedInDataFiles({ ...search, kind })));
  return {
    searched: runs.map(({ place, manifest: { run, startedAt, records, missing } }) => ({
      place,
      run,
      startedAt,
      records,
      missing: missing.length,
    })),
    unpublished,
    found,
    hints: found.length === 0 ? hints.found() : [],
    faults: faults.all(),
  };
}

/** The runs are read twice, so the same fault may be found again. */
function createFaults() {
  const faults = new Set<string>();
  let isMore = false;
  return {
    add(fault: string): void {
      if (faults.size < MOST_FAULTS) faults.add(fault);
      else isMore ||= !faults.has(fault);
    },
    all: (): readonly string[] => (isMore ? [...faults, 'and more'] : [...faults]),
  };
}
