export type ReadAheadOptions<Item, Result> = {
  readonly items: readonly Item[];
  /** `signal` is aborted when the result is no longer needed. */
  readonly read: (item: Item, signal: AbortSignal) => Promise<Result>;
  /** How many reads may be under way, or finished and not yet yielded; at least 1. */
  readonly concurrency: number;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Reads items in parallel and yields the results in the order of the items. The first failure in time aborts all other
 * reads at once; the results up to the first item that lacks one are still yielded, and then the failure is thrown. If
 * the caller stops early or aborts, the reads under way are aborted.
 */
export async function* readAhead<Item, Result>(
  options: ReadAheadOptions<Item, Result>,
): AsyncGenerator<Result, void, undefined> {
  const { items, read, concurrency } = options;
  const ended = new AbortController();
  const signal =
    options.signal === undefined ? ended.signal : AbortSignal.any([options.signal, ended.signal]);
  const queue: Promise<Settled<Result>>[] = [];
  let started = 0;
  let first: { readonly error: unknown } | undefined;
  // Never rejects: there may be nobody left to catch it.
  const settle = async (item: Item): Promise<Settled<Result>> => {
    try {
      return { kind: 'read', result: await read(item, signal) };
    } catch (error) {
      // The others fail because of this one, so none of them may be reported instead of it.
      first ??= { error };
      ended.abort();
      return { kind: 'failed', error: first.error };
    }
  };
  const fill = () => {
    const places = ended.signal.aborted ? 0 : concurrency - queue.length;
    const next = items.slice(started, started + places);
    started += next.length;
    queue.push(...next.map(settle));
  };
  try {
    options.signal?.throwIfAborted();
    fill();
    for (let head = queue.shift(); head !== undefined; head = queue.shift()) {
      const settled = await head;
      options.signal?.throwIfAborted();
      if (settled.kind === 'failed') throw settled.error;
      fill();
      yield settled.result;
    }
  } finally {
    ended.abort();
  }
}

type Settled<Result> =
  | { readonly kind: 'read'; readonly result: Result }
  | { readonly kind: 'failed'; readonly error: unknown };
