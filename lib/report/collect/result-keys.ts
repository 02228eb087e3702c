import type { Store } from '../../store/store.ts';

const DAY_MS = 86_400_000;

/** Of how many days results are read, and how many. */
const RESULT_DAYS = 30;
const MOST_RESULTS = 10_000;

export type ResultObject = { readonly key: string; readonly sizeBytes: number };

export type NewestResults = {
  /** By day, newest first. */
  readonly objects: readonly ResultObject[];
  /** The beginning of the first day that they are of, epoch milliseconds. */
  readonly sinceMs: number;
  /** True if there are more of these days. */
  readonly isCut: boolean;
};

export type ResultsToFind = {
  readonly store: Pick<Store, 'list' | 'folders'>;
  readonly nowMs: number;
  readonly signal: AbortSignal;
  /** Default: 10,000. */
  readonly most?: number;
};

/**
 * The newest results of jobs, by the day in their keys: the day on which a job was first claimed. Lists day by day, so no
 * more is listed than is wanted. Of a day with too many, the types take turns, so that none hides the others.
 */
export async function newestResults({
  store,
  nowMs,
  signal,
  most = MOST_RESULTS,
}: ResultsToFind): Promise<NewestResults> {
  const types: string[] = [];
  for await (const folder of store.folders('results/', { signal })) types.push(folder);
  types.sort();
  const objects: ResultObject[] = [];
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
  // A clock may be ahead, so a day may have begun elsewhere.
  for (let day = 1; day > -RESULT_DAYS; day -= 1) {
    const sinceMs = today + day * DAY_MS;
    const prefixes = types.map((type) => `${type}/dt=${new Date(sinceMs).toISOString().slice(0, 10)}/`);
    for await (const object of inTurns(prefixes, store, signal)) {
      if (objects.length >= most) return { objects, sinceMs, isCut: true };
      objects.push(object);
    }
  }
  return { objects, sinceMs: today - (RESULT_DAYS - 1) * DAY_MS, isCut: false };
}

async function* inTurns(
  prefixes: readonly string[],
  store: Pick<Store, 'list'>,
  signal: AbortSignal,
): AsyncGenerator<ResultObject> {
  let lists = prefixes.map((prefix) => store.list(prefix, { signal }));
  try {
    while (lists.length > 0) {
      const left: typeof lists = [];
      for (const list of lists) {
        const next = await list.next();
        if (next.done) continue;
        left.push(list);
        if (next.value.key.endsWith('.json')) yield next.value;
      }
      lists = left;
    }
  } finally {
    for (const list of lists) await list.return(undefined);
  }
}
