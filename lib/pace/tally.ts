/** What is counted: by the budget, for people to read, and by each worker between two of its writes. */
export type Tally = {
  readonly granted: number;
  readonly used: number;
  readonly wasted: number;
  readonly waitedMs: number;
  readonly throttled: number;
};

export const noTally: Tally = { granted: 0, used: 0, wasted: 0, waitedMs: 0, throttled: 0 };

export const addTally = (a: Tally, b: Tally): Tally => ({
  granted: a.granted + b.granted,
  used: a.used + b.used,
  wasted: a.wasted + b.wasted,
  waitedMs: a.waitedMs + b.waitedMs,
  throttled: a.throttled + b.throttled,
});

/** What one worker did, and what of it has not been reported to the budget. */
export type WorkerTally = {
  add(tally: Partial<Tally>): void;
  counted(): Tally;
  /** Counts granted slots, which the budget has counted already. */
  addGranted(slots: number): void;
  /** Takes what has not been reported yet, for the next write to report. */
  takeUnreported(): Tally;
  /** Gives back what a write took, if it was refused or failed. */
  giveBack(unreported: Tally): void;
};

/** The tally of a worker that has done nothing yet. */
export function createWorkerTally(): WorkerTally {
  let [counted, unreported] = [noTally, noTally];
  return {
    add(tally) {
      const more = { ...noTally, ...tally };
      [counted, unreported] = [addTally(counted, more), addTally(unreported, more)];
    },
    counted: () => counted,
    addGranted(granted) {
      counted = addTally(counted, { ...noTally, granted });
    },
    takeUnreported() {
      const taken = unreported;
      unreported = noTally;
      return taken;
    },
    giveBack(taken) {
      unreported = addTally(unreported, taken);
    },
  };
}
