import type { Pace, Slot } from '../../lib/pace/pace.ts';

export type FakePaceOptions = {
  /** The wait of each call: returns its milliseconds, or throws. Default: no wait. */
  readonly takeTurn?: (signal?: AbortSignal) => number | Promise<number>;
  /** When the slot of a call begins. Default: always 0. */
  readonly now?: () => number;
  readonly throttled?: (slot: Slot, retryAfterMs?: number) => void;
};

/** A pace that lets every call leave immediately unless `takeTurn` waits or throws, and never slows down. */
export function createFakePace(options: FakePaceOptions = {}): Pace {
  const { takeTurn = () => 0, now = () => 0, throttled = () => undefined } = options;
  return {
    async run(call, { signal, prepare } = {}) {
      if (prepare !== undefined) await prepare();
      const turn = takeTurn(signal);
      // Without a wait the call leaves in the same tick, so that recorded schedules stay valid.
      const waitedMs = typeof turn === 'number' ? turn : await turn;
      return call({ atMs: now(), waitedMs });
    },
    throttled: async (slot, retryAfterMs) => throttled(slot, retryAfterMs),
    counts: () => ({ granted: 0, used: 0, wasted: 0, waitedMs: 0, throttled: 0, effectiveRate: 1 }),
  };
}
