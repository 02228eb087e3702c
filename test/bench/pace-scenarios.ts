/** A time span, in milliseconds after the start. */
export type Span = { readonly fromMs: number; readonly untilMs: number };

/** The faults of the workers. */
export type WorkerFaults = {
  /** The time in which none of their requests reaches the table. */
  readonly tableUnavailable?: Span;
  /** Milliseconds that each call takes to write, like a job that writes SENT, before it may leave. */
  readonly sentMs?: number;
  /** How far their clock is ahead, in milliseconds. */
  readonly skewMs?: number;
};

/** A fleet that always has waiting calls, and its faults. */
export type PaceScenario = {
  readonly name: string;
  /** Requests a second of the fleet. */
  readonly rate: number;
  readonly workers: number;
  readonly seconds: number;
  /** The time in which the platform responds to every call with a 429 and this `Retry-After`. */
  readonly refuses?: Span & { readonly retryAfterSeconds: number };
  readonly faults?: WorkerFaults;
  /** How far the clocks of the workers are ahead, used in turn. Default: 0. */
  readonly skewsMs?: readonly number[];
  /** The number of other processes that keep a core busy. Default: none. */
  readonly burners?: number;
  /** The share of the rate that must be used outside outages. Default: 95 %. */
  readonly minUsed?: number;
};

/** The scenarios, one row each. `PACE_SCENARIO` selects those whose names contain it. */
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
