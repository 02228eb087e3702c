export type ReadAheadOptions<Item, Result> = {
  readonly items: readonly Item[];
  /** `signal` is aborted when nobody needs the result any more. */
  readonly read: (item: Item, signal: AbortSignal) => Promise<Result>;
  /** How many reads are under way, or done and not yet taken; at least 1. */
  readonly concurrency: number;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Reads items in parallel and yields what came in their order. The first failure in time aborts every other read at
 * once: what came before the first item that is then missing is yielded, and the failure is thrown. A caller that leaves
 * early, or aborts, aborts what is under way.
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
  // Never rejects: nobody may be there any more to catch it.
  const settle = async (item: Item): Promise<Settled<Result>> => {
    try {
      return { kind: 'read', result: await read(item, signal) };
    } catch (error) {
      // The others fail by this one: none of them is to be told of in its place.
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
