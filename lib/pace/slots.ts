import type { PaceCounts, Slot } from './pace.ts';

/** What one process has to send, as far as it bears on how many slots it can use. */
export type Demand = {
  /** Calls that have a place in flight and wait for a slot, the one that asks among them. */
  readonly waiting: number;
  /** Calls that wait for a place in flight. */
  readonly queued: number;
  /** Calls that have come so far. */
  readonly arrived: number;
  readonly concurrency: number;
  /** How long a call takes from its slot to its end, of late; 0 while none has ended. */
  readonly latencyMs: number;
};

export type SlotRequest = {
  readonly calledAtMs: number;
  readonly signal: AbortSignal | undefined;
  readonly demand: () => Demand;
};

/** Where slots come from: a process's own time or a fleet's. One call at a time takes. */
export type SlotSource = {
  /** Waits for the next slot. Throws `PaceWaitError` where it lies too far off. */
  take(request: SlotRequest): Promise<Slot>;
  /** When a call with so many others before it may leave, at the earliest. */
  dueAtMs(ahead: number): number;
  throttled(slot: Slot, retryAfterMs: number | undefined): Promise<void>;
  counts(): PaceCounts;
};

/** Milliseconds on one clock, and a sleep on it. */
export type Clock = {
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
};
