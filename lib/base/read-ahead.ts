export type ReadAheadOptions<Item, Result> = {
  readonly items: readonly Item[];
  readonly read: (item: Item, signal: AbortSignal) => Promise<Result>;
  /** How many reads may be under way, or finished and not yet yielded; at least 1. */
  readonly concurrency: number;
  /** The bytes of memory that a result takes. Default: they are not counted. */
  readonly sizeOf?: (result: Result) => number;
  readonly signal?: AbortSignal | undefined;
};

/** As many results as large as the latest ones are read ahead as fit into this. */
const AHEAD_BYTES = 64 * 1024 * 1024;

/**
 * Reads in parallel, and yields in the order of the items. The first failure aborts all other reads, and is thrown
 * after the results before it. Where sizes are counted, the first item is read alone, and fewer ahead after large
 * results.
 */
export async function* readAhead<Item, Result>({
  items,
  read,
  concurrency,
  sizeOf,
  signal: given,
}: ReadAheadOptions<Item, Result>): AsyncGenerator<Result, void, undefined> {
  const ended = new AbortController();
  const signal = given === undefined ? ended.signal : AbortSignal.any([given, ended.signal]);
  let failed: { readonly error: unknown } | undefined;
  /** Never rejects: there may be nobody left to catch it. */
  const start = async (item: Item) => {
    try {
      return { result: await read(item, signal) };
    } catch (error) {
      // The others fail because of this one, so none of them may be reported instead of it.
      failed ??= { error };
      ended.abort();
      return failed;
    }
  };
  let sizes: readonly number[] = [];
  const queue: ReturnType<typeof start>[] = [];
  let started = 0;
  const fill = (inHand: number) => {
    const fits = sizes.length === 0 ? 1 : Math.floor(AHEAD_BYTES / Math.max(1, ...sizes));
    const most = sizeOf === undefined ? concurrency : Math.min(concurrency, Math.max(1, fits) - inHand);
    const free = ended.signal.aborted ? 0 : Math.max(0, most - queue.length);
    queue.push(...items.slice(started, started + free).map(start));
    started = Math.min(items.length, started + free);
  };
  try {
    given?.throwIfAborted();
    fill(0);
    for (let head = queue.shift(); head !== undefined; head = queue.shift()) {
      const outcome = await head;
      given?.throwIfAborted();
      if ('error' in outcome) throw outcome.error;
      if (sizeOf !== undefined) sizes = [...sizes, sizeOf(outcome.result)].slice(-concurrency);
      fill(1);
      yield outcome.result;
      fill(0);
    }
  } finally {
    ended.abort();
  }
}
