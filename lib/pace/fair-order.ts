/** Whose calls leave first: those of urgent jobs, of other jobs and commands, or of large batches. */
export type Share = 'high' | 'normal' | 'bulk';

/** How many calls of each leave while calls of all three wait: none waits forever for another. */
const WEIGHTS = { high: 8, normal: 4, bulk: 1 } as const satisfies Record<Share, number>;

/**
 * The order of the calls in a queue: weighted fair queueing. Each call gets a virtual time at which it would end if
 * every share were served at its weight, and the earliest leaves first. Calls of one share leave in the order they
 * came. Source: Demers, Keshav, Shenker, "Analysis and Simulation of a Fair Queueing Algorithm", 1989.
 */
export function createFairOrder() {
  const ends: Record<Share, number> = { high: 0, normal: 0, bulk: 0 };
  let nowServed = 0;
  return {
    /** The virtual time of a call that arrives now. */
    arrive(share: Share): number {
      const atTime = Math.max(nowServed, ends[share]) + 1 / WEIGHTS[share];
      ends[share] = atTime;
      return atTime;
    },
    /** A call of this virtual time is served. */
    serve(atTime: number): void {
      nowServed = Math.max(nowServed, atTime);
    },
  };
}

export type FairOrder = ReturnType<typeof createFairOrder>;
