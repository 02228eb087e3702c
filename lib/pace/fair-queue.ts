/** Which calls leave first: those of urgent jobs, of other jobs and commands, or of large batches. */
export type Priority = 'high' | 'normal' | 'bulk';

/** How many calls of each priority leave while calls of all three wait: none waits forever for another. */
const WEIGHTS = { high: 8, normal: 4, bulk: 1 } as const satisfies Record<Priority, number>;

/**
 * Weighted fair queueing: the call leaves first that would end first if every priority were served at its weight.
 * Source: Demers, Keshav, Shenker, "Analysis and Simulation of a Fair Queueing Algorithm", 1989.
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
    /** The call that is due at this virtual time starts. */
    serve(atTime: number): void {
      nowServed = Math.max(nowServed, atTime);
    },
  };
}

/** A fair order, and the priority under which a call joins it. */
type PlaceInOrder = {
  readonly order: ReturnType<typeof createFairOrder>;
  readonly priority: Priority;
};

/**
 * Runs a task in a queue; an abort removes it only while it waits. A queue that has the signal itself starts the next
 * task though an aborted one has not ended. Without a `place`, first come, first served.
 */
export async function enqueue<T>(
  /** A queue of p-queue, whose own declarations name types of browsers: ours must not reach them. */
  queue: {
    readonly add: <T>(
      task: () => Promise<T>,
      options: { readonly priority: number; readonly signal?: AbortSignal },
    ) => Promise<T>;
  },
  task: () => Promise<T>,
  signal: AbortSignal | undefined,
  place?: PlaceInOrder,
): Promise<T> {
  const atTime = place?.order.arrive(place.priority) ?? 0;
  const start = () => {
    place?.order.serve(atTime);
    return task();
  };
  // Earlier times first; p-queue takes the highest priority first.
  const priority = -atTime;
  if (signal === undefined) return queue.add(start, { priority });
  signal.throwIfAborted();
  const waiting = new AbortController();
  const leave = () => waiting.abort(signal.reason);
  signal.addEventListener('abort', leave, { once: true });
  const stay = () => {
    signal.removeEventListener('abort', leave);
    return start();
  };
  return await queue.add(stay, { signal: waiting.signal, priority });
}
