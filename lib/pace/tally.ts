export type Tally = {
  readonly granted: number;
  readonly used: number;
  readonly wasted: number;
  readonly waitedMs: number;
  readonly throttled: number;
};

export const noTally: Tally = { granted: 0, used: 0, wasted: 0, waitedMs: 0, throttled: 0 };

export const addTally = (a: Tally, b: Tally, times = 1): Tally => ({
  granted: a.granted + times * b.granted,
  used: a.used + times * b.used,
  wasted: a.wasted + times * b.wasted,
  waitedMs: a.waitedMs + times * b.waitedMs,
  throttled: a.throttled + times * b.throttled,
});

export type WorkerTally = ReturnType<typeof createWorkerTally>;

/** What one worker did, and how much of that it has reported to the budget. */
export function createWorkerTally() {
  let [counted, known] = [noTally, noTally];
  return {
    add(some: Partial<Tally>): void {
      counted = addTally(counted, { ...noTally, ...some });
    },
    counted: (): Tally => counted,
    /** What the next write reports, if it grants so many slots. */
    reportOf: (granted: number): Tally => ({ ...addTally(counted, known, -1), granted }),
    reported(report: Tally): void {
      known = addTally(known, report);
      counted = { ...counted, granted: known.granted };
    },
  };
}
