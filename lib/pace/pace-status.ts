import { type BudgetItem, cappedRate, effectiveRate, lineSpacing, lineStartMs } from './budget.ts';
import { isProbing, latestMs } from './throttle-state.ts';

/** An operation that is throttled while others are accepted. Times are epoch milliseconds. */
export type ThrottledOperation = {
  readonly operation: string;
  readonly sinceMs: number;
  readonly refusedAtMs: number;
  /** The operation's present rate, in requests a second. */
  readonly effectiveRate: number;
  /** Whether only one call at a time is sent, until one succeeds. */
  readonly isProbing: boolean;
};

/**
 * Reads the state of a fleet's budget. `configuredRate`, in requests a second, applies until a worker has
 * reserved slots with its own rate. Rethrows errors of the item.
 */
export async function readPaceStatus(item: BudgetItem, configuredRate: number, now = Date.now) {
  const budget = await item.read();
  const nowMs = now();
  const { throttle, rate = configuredRate } = budget;
  const startMs = lineStartMs(budget, { maxWaitMs: 0, nowMs }) ?? nowMs;
  return {
    budget,
    nowMs,
    /** The rate of the worker that reserved last. All rates are requests a second. */
    configuredRate: rate,
    /** `configuredRate`, or the lower rate that an operator has set. */
    cappedRate: cappedRate(rate, budget),
    /** The rate at which the fleet may send now. */
    effectiveRate: effectiveRate(rate, budget, nowMs),
    intervalMs: lineSpacing(rate, budget, nowMs).intervalMs,
    /**
     * The learned limit of the platform, and when it was learned (epoch milliseconds); undefined if no limit is known.
     */
    learned: throttle && { rate: throttle.rate, atMs: latestMs(throttle) },
    /** Whether the platform refuses calls, so that only one leaves at a time until one succeeds. */
    isProbing: isProbing(throttle),
    /** Milliseconds that a call made now would wait for its slot. */
    waitMs: Math.max(0, Math.round(startMs - nowMs)),
    /** The operations that are throttled on their own, in the order in which they were first called. */
    throttledOperations: await Promise.all(
      Object.entries(budget.operations ?? {}).flatMap(([operation, { aloneSinceMs, refusedAtMs = 0 }]) =>
        aloneSinceMs === undefined ? [] : [throttled({ operation, sinceMs: aloneSinceMs, refusedAtMs })],
      ),
    ),
  };

  async function throttled(
    known: Pick<ThrottledOperation, 'operation' | 'sinceMs' | 'refusedAtMs'>,
  ): Promise<ThrottledOperation> {
    const own = await item.of?.(known.operation).read();
    return {
      ...known,
      effectiveRate: own === undefined ? rate : effectiveRate(own.rate ?? rate, own, nowMs),
      isProbing: isProbing(own?.throttle),
    };
  }
}

/** A throttled operation as one line of text. */
export const throttledLine = ({ operation, sinceMs, isProbing, effectiveRate }: ThrottledOperation): string =>
  `${operation}: throttled on its own since ${new Date(sinceMs).toISOString()}: ${isProbing ? 'one call at a time until one succeeds' : `${Number(effectiveRate.toFixed(3))} a second`}`;
