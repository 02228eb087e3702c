/** Whose calls leave first: those of urgent jobs, of other jobs and commands, or of large batches. */
export type Share = 'high' | 'normal' | 'bulk';

/** How many calls of each leave while calls of all three wait: none waits forever for another. */
const WEIGHTS = { high: 8, normal: 4, bulk: 1 } as const satisfies Record<Share, number>;

/**
 * Weighted fair queueing: the call leaves first that would end first if every share were served at its weight. Source:
 * Demers, Keshav, Shenker, "Analysis and Simulation of a Fair Queueing Algorithm", 1989.
 */
export function createFairOrder() {
  const ends: Record<Share, number> = { high: 0, normal: 0, bulk: 0 };
  let nowServed = 0;
  return {
    arrive(share: Share): number {
      const atTime = Math.max(nowServed, ends[share]) + 1 / WEIGHTS[share];
      ends[share] = atTime;
      return atTime;
    },
    serve(atTime: number): void {
      nowServed = Math.max(nowServed, atTime);
    },
  };
}

export type FairOrder = ReturnType<typeof createFairOrder>;
