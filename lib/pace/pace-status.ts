import { type BudgetItem, cappedRate, effectiveRate, lineSpacing, lineStartMs } from './budget.ts';
import { isProbing, latestMs } from './throttle-state.ts';

/** An operation that is throttled while others are accepted. Times are epoch milliseconds. */
export type ThrottledOperation = {
  readonly operation: string;
  readonly sinceMs: number;
  readonly refusedAtMs: number;
  /** Requests a second that it may send now. */
  readonly effectiveRate: number;
  /** One call leaves at a time until one succeeds. */
  readonly isProbing: boolean;
};

/**
 * The state of a fleet's budget. `configuredRate`, in requests a second, counts until a worker has reserved slots with
 * its own. Rethrows errors of the item.
 */
export async function readPaceStatus(item: BudgetItem, configuredRate: number, now = Date.now) {
  const budget = await item.read();
  const nowMs = now();
  const { throttle, rate = configuredRate } = budget;
  const startMs = lineStartMs(budget, { maxWaitMs: 0, nowMs }) ?? nowMs;
  return {
    budget,
    nowMs,
    /** The senders' rate; all rates are requests a second. */
    configuredRate: rate,
    /** `configuredRate`, or the lower one that an operator has set. */
    cappedRate: cappedRate(rate, budget),
    /** What the fleet may send now. */
    effectiveRate: effectiveRate(rate, budget, nowMs),
    intervalMs: lineSpacing(rate, budget, nowMs).intervalMs,
    /** What is known of the platform's limit, and since when (epoch milliseconds); undefined if nothing is. */
    learned: throttle && { rate: throttle.rate, atMs: latestMs(throttle) },
    /** While the platform refuses: one call leaves at a time until one succeeds. */
    isProbing: isProbing(throttle),
    /** How long a call made now would wait for its slot. */
    waitMs: Math.max(0, Math.round(startMs - nowMs)),
    /** In the order in which they were first called. */
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
  `${operation}: throttled alone since ${new Date(sinceMs).toISOString()}: ${isProbing ? 'one call at a time until one succeeds' : `${Number(effectiveRate.toFixed(3))} a second`}`;
