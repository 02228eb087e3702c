export type PlacesOptions = {
  /** The most jobs at once; a whole number, at least 1. */
  readonly most: number;
  /** Losses within this time of one another have one cause, and count once, in milliseconds. */
  readonly onceInMs: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/** How many jobs a process holds at once. */
export type Places = {
  /** A whole number, at least 1. */
  readonly count: () => number;
  /** Reports a job that the process had to the end of its turn. */
  readonly held: () => void;
  /** Reports a job whose lease was lost meanwhile. */
  readonly lost: () => void;
};

/**
 * Holds fewer jobs while leases are lost: half as many after each loss, and one more for each round of jobs that are
 * not. What loses a lease is most often that this machine, or the table, cannot renew so many in time. Then each job in
 * hand makes the others slower, all are lost and claimed again, and none would ever end.
 */
export function createPlaces({ most, onceInMs, now }: PlacesOptions): Places {
  let places = most;
  let halvedAtMs = Number.NEGATIVE_INFINITY;
  return {
    count: () => Math.floor(places),
    held() {
      places = Math.min(most, places + 1 / Math.floor(places));
    },
    lost() {
      if (now() - halvedAtMs < onceInMs) return;
      halvedAtMs = now();
      places = Math.max(1, places / 2);
    },
  };
}
