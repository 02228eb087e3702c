/** From and until, in milliseconds after the start. */
export type Span = { readonly fromMs: number; readonly untilMs: number };

/** The faults of the workers. */
export type WorkerFaults = {
  /** No request of theirs reaches the table. */
  readonly tableUnavailable?: Span;
  /** How long each call writes, as a job does with SENT, before it may leave, in milliseconds. */
  readonly sentMs?: number;
  /** How much their clock is ahead, in milliseconds. */
  readonly skewMs?: number;
};

/** A fleet that always has calls waiting, and what happens to it. */
export type PaceScenario = {
  readonly name: string;
  /** Requests a second of the fleet. */
  readonly rate: number;
  readonly workers: number;
  readonly seconds: number;
  /** The platform refuses every call, with this `Retry-After`. */
  readonly refuses?: Span & { readonly retryAfterSeconds: number };
  readonly faults?: WorkerFaults;
  /** How much the clocks of the workers are ahead, one after another and again from the first. Default: not at all. */
  readonly skewsMs?: readonly number[];
  /** How many processes keep a core busy beside the fleet. Default: none. */
  readonly burners?: number;
  /** What must hold where nothing is down. Default: 95 % of the rate is used. */
  readonly minUsed?: number;
};

/** A row each. `PACE_SCENARIO` picks those whose names contain it. */
export const scenarios: readonly PaceScenario[] = [
  {
    name: '60 s of 429, `Retry-After: 1`',
    rate: 2,
    workers: 4,
    seconds: 150,
    refuses: { fromMs: 10_000, untilMs: 70_000, retryAfterSeconds: 1 },
  },
  {
    name: '60 s of 429, `Retry-After: 1`',
    rate: 49,
    workers: 10,
    seconds: 150,
    refuses: { fromMs: 10_000, untilMs: 70_000, retryAfterSeconds: 1 },
  },
  {
    name: 'the table unreachable for 20 s',
    rate: 49,
    workers: 10,
    seconds: 90,
    faults: { tableUnavailable: { fromMs: 10_000, untilMs: 30_000 } },
  },
  { name: 'SENT stalled by 200 ms', rate: 49, workers: 10, seconds: 30, faults: { sentMs: 200 } },
  { name: 'SENT stalled by 1 s', rate: 49, workers: 10, seconds: 30, faults: { sentMs: 1_000 } },
  { name: 'clocks ±5 min', rate: 49, workers: 10, seconds: 30, skewsMs: [0, 300_000, -300_000] },
  // A timer that is late costs its slot: the rate is never exceeded for it.
  { name: 'both cores busy', rate: 49, workers: 10, seconds: 30, burners: 2, minUsed: 0.8 },
];
