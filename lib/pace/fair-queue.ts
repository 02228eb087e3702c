/** The priority of a call. `high`: urgent jobs; `normal`: other jobs, and commands; `bulk`: large batches. */
export type Priority = 'high' | 'normal' | 'bulk';

/** How many calls of each priority leave, relative to the others, while calls of all three wait. */
const WEIGHTS = { high: 8, normal: 4, bulk: 1 } as const satisfies Record<Priority, number>;

/**
 * Weighted fair queueing: the next call to leave is the one that would end first if every priority were served at its
 * weight. Source: Demers, Keshav, Shenker, "Analysis and Simulation of a Fair Queueing Algorithm", 1989.
 */
export function createFairOrder() {
  const ends: Record<Priority, number> = { high: 0, normal: 0, bulk: 0 };
  let nowServed = 0;
  return {
    /** Returns the virtual time at which the call that arrives now is due. */
    arrive(priority: Priority): number {
      const atTime = Math.max(nowServed, ends[priority]) + 1 / WEIGHTS[priority];
      ends[priority] = atTime;
      return atTime;
    },
    /** Records that the call with this virtual time starts. */
    serve(atTime: number): void {
      nowServed = Math.max(nowServed, atTime);
    },
  };
}

/** The fair order that a task joins, and its priority. */
type OrderEntry = {
  readonly order: ReturnType<typeof createFairOrder>;
  readonly priority: Priority;
};

/**
 * Runs a task in a queue. An abort removes the task only while it waits: if the queue itself got the signal, it would
 * start the next task before an aborted task has ended. Without `entry`, tasks run in the order of their arrival.
 */
export async function enqueue<T>(
  /** A p-queue, but without its types: they would make our declarations depend on browser types. */
  queue: {
    readonly add: <T>(
      task: () => Promise<T>,
      options: { readonly priority: number; readonly signal?: AbortSignal },
    ) => Promise<T>;
  },
  task: () => Promise<T>,
  signal: AbortSignal | undefined,
  entry?: OrderEntry,
): Promise<T> {
  const atTime = entry?.order.arrive(entry.priority) ?? 0;
  const start = () => {
    entry?.order.serve(atTime);
    return task();
  };
  // Earlier times come first; p-queue takes the highest priority first.
  const priority = -atTime;
  if (signal === undefined) return queue.add(start, { priority });
  signal.throwIfAborted();
  const waiting = new AbortController();
  const stopWaiting = () => waiting.abort(signal.reason);
  signal.addEventListener('abort', stopWaiting, { once: true });
  const startWaited = () => {
    signal.removeEventListener('abort', stopWaiting);
    return start();
  };
  return await queue.add(startWaited, { signal: waiting.signal, priority });
}
