/** What is counted; of the budget for people, and of one worker between two of its writes. */
export type Tally = {
  readonly granted: number;
  readonly used: number;
  readonly wasted: number;
  readonly waitedMs: number;
  readonly throttled: number;
  readonly safeRate: number;
};

export const noTally: Tally = { granted: 0, used: 0, wasted: 0, waitedMs: 0, throttled: 0, safeRate: 0 };

export const addTally = (a: Tally, b: Tally): Tally => ({
  granted: a.granted + b.granted,
  used: a.used + b.used,
  wasted: a.wasted + b.wasted,
  waitedMs: a.waitedMs + b.waitedMs,
  throttled: a.throttled + b.throttled,
  safeRate: a.safeRate + b.safeRate,
});

/** What one worker did, and what of it the budget has not been told. */
export type WorkerTally = {
  add(tally: Partial<Tally>): void;
  counted(): Tally;
  /** Slots that were granted: the budget counted them itself. */
  addGranted(slots: number): void;
  /** Takes what the budget has not been told, for the next write. */
  takeUntold(): Tally;
  /** Gives back what a write took that was refused or failed. */
  giveBack(untold: Tally): void;
};

/** The tally of a worker that has done nothing yet. */
export function createWorkerTally(): WorkerTally {
  let [counted, untold] = [noTally, noTally];
  return {
    add(tally) {
      const more = { ...noTally, ...tally };
      [counted, untold] = [addTally(counted, more), addTally(untold, more)];
    },
    counted: () => counted,
    addGranted(granted) {
      counted = addTally(counted, { ...noTally, granted });
    },
    takeUntold() {
      const taken = untold;
      untold = noTally;
      return taken;
    },
    giveBack(taken) {
      untold = addTally(untold, taken);
    },
  };
}
