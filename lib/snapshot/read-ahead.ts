export type ReadAheadOptions<Item, Result> = {
  readonly items: readonly Item[];
  /** `signal` is aborted when nobody waits for the result any more. */
  readonly read: (item: Item, signal: AbortSignal) => Promise<Result>;
  /** How many reads are under way, or done and not yet taken; at least 1. */
  readonly concurrency: number;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Reads items in parallel and yields what came in their order. After a failure no further read begins; what lies
 * before it is yielded, then it is thrown. A caller that leaves early, or aborts, aborts what is under way.
 */
export async function* readAhead<Item, Result>(
  options: ReadAheadOptions<Item, Result>,
): AsyncGenerator<Result, void, undefined> {
  const { items, read, concurrency } = options;
  const left = new AbortController();
  const signal = options.signal === undefined ? left.signal : AbortSignal.any([options.signal, left.signal]);
  const queue: Promise<Settled<Result>>[] = [];
  let started = 0;
  let hasFailed = false;
  // Never rejects: nobody may be there any more to catch it.
  const settle = async (item: Item): Promise<Settled<Result>> => {
    try {
      return { kind: 'read', result: await read(item, signal) };
    } catch (error) {
      hasFailed = true;
      return { kind: 'failed', error };
    }
  };
  const fill = () => {
    const places = hasFailed ? 0 : concurrency - queue.length;
    const next = items.slice(started, started + places);
    started += next.length;
    queue.push(...next.map(settle));
  };
  try {
    signal.throwIfAborted();
    fill();
    for (let head = queue.shift(); head !== undefined; head = queue.shift()) {
      const settled = await head;
      signal.throwIfAborted();
      if (settled.kind === 'failed') throw settled.error;
      fill();
      yield settled.result;
    }
  } finally {
    left.abort();
  }
}

type Settled<Result> =
  | { readonly kind: 'read'; readonly result: Result }
  | { readonly kind: 'failed'; readonly error: unknown };
