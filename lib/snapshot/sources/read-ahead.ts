/** What results take while they wait for their turn. */
export type ResultMemory<Result> = {
  /** The most that all results take, except that there is always room for the one whose turn it is. */
  readonly mostBytes: number;
  readonly sizeOf: (result: Result) => number;
  /** Frees a result for which there is no room. */
  readonly release: (result: Result) => void;
};

export type ReadAheadOptions<Item, Result> = {
  readonly items: readonly Item[];
  /** `signal` is aborted when the result is no longer needed. */
  readonly read: (item: Item, signal: AbortSignal) => Promise<Result>;
  /** How many reads may be under way, or finished and not yet yielded; at least 1. */
  readonly concurrency: number;
  /** Default: not bounded. */
  readonly memory?: ResultMemory<Result> | undefined;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Reads items in parallel and yields the results in the order of the items. The first failure in time aborts all other
 * reads at once; the results up to the first item that lacks one are still yielded, and then the failure is thrown. If
 * the caller stops early or aborts, the reads under way are aborted.
 *
 * A result that comes before its turn, and for which there is no memory, is dropped, and its item is read again when it
 * is next. It must not wait while its connection is open, since the item that is next may need that connection's place.
 * Where results were large, fewer items are read ahead.
 */
export async function* readAhead<Item, Result>(
  options: ReadAheadOptions<Item, Result>,
): AsyncGenerator<Result, void, undefined> {
  const { items, concurrency, memory = UNBOUNDED } = options;
  const ended = new AbortController();
  const signal =
    options.signal === undefined ? ended.signal : AbortSignal.any([options.signal, ended.signal]);
  const read = createRead(options.read, signal, ended);
  const held = countHeld(memory, concurrency);
  const queue: Promise<Outcome<Result> | Dropped<Item>>[] = [];
  let started = 0;
  /** The index of the item whose turn it is. */
  let turn = 0;
  const readEarly = async (item: Item, index: number): Promise<Outcome<Result> | Dropped<Item>> => {
    const outcome = await read(item);
    if (outcome.kind === 'failed' || held.take(memory.sizeOf(outcome.result), index === turn)) return outcome;
    memory.release(outcome.result);
    return { kind: 'dropped', item };
  };
  const readInTurn = async (item: Item): Promise<Outcome<Result>> => {
    const outcome = await read(item);
    if (outcome.kind === 'read') held.take(memory.sizeOf(outcome.result), true);
    return outcome;
  };
  const fill = () => {
    const places = ended.signal.aborted ? 0 : Math.min(concurrency, held.places()) - queue.length;
    const next = items.slice(started, started + Math.max(0, places));
    queue.push(...next.map((item, at) => readEarly(item, started + at)));
    started += next.length;
  };
  try {
    options.signal?.throwIfAborted();
    fill();
    for (let head = queue.shift(); head !== undefined; head = queue.shift()) {
      const early = await head;
      const outcome = early.kind === 'dropped' ? await readInTurn(early.item) : early;
      options.signal?.throwIfAborted();
      if (outcome.kind === 'failed') throw outcome.error;
      const sizeBytes = memory.sizeOf(outcome.result);
      fill();
      yield outcome.result;
      held.giveBack(sizeBytes);
      turn += 1;
      fill();
    }
  } finally {
    ended.abort();
  }
}

type Outcome<Result> =
  | { readonly kind: 'read'; readonly result: Result }
  | { readonly kind: 'failed'; readonly error: unknown };

type Dropped<Item> = { readonly kind: 'dropped'; readonly item: Item };

/** Reads one item. Never rejects: there may be nobody left to catch it. The first failure ends everything. */
function createRead<Item, Result>(
  read: ReadAheadOptions<Item, Result>['read'],
  signal: AbortSignal,
  ended: AbortController,
): (item: Item) => Promise<Outcome<Result>> {
  let first: { readonly error: unknown } | undefined;
  return async (item) => {
    try {
      return { kind: 'read', result: await read(item, signal) };
    } catch (error) {
      // The others fail because of this one, so none of them may be reported instead of it.
      first ??= { error };
      ended.abort();
      return { kind: 'failed', error: first.error };
    }
  };
}

const UNBOUNDED = { mostBytes: Number.POSITIVE_INFINITY, sizeOf: () => 0, release: () => undefined };

/** What the results that were not yielded yet take, and the one that is being worked on. */
function countHeld({ mostBytes }: Pick<ResultMemory<never>, 'mostBytes'>, concurrency: number) {
  let heldBytes = 0;
  /** Of the latest results. */
  let sizes: readonly number[] = [];
  return {
    /** Takes a result's memory; false if there is none for it, unless it is next. */
    take(sizeBytes: number, isNext: boolean): boolean {
      sizes = [...sizes, sizeBytes].slice(-concurrency);
      if (!isNext && heldBytes + sizeBytes > mostBytes) return false;
      heldBytes += sizeBytes;
      return true;
    },
    giveBack(sizeBytes: number): void {
      heldBytes -= sizeBytes;
    },
    /** How many more results there is most likely room for, if they are as large as the latest ones; at least the next. */
    places: (): number =>
      Math.max(heldBytes === 0 ? 1 : 0, Math.floor((mostBytes - heldBytes) / Math.max(1, ...sizes))),
  };
}
