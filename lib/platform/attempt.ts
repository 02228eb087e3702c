import type { Share } from '../pace/fair-order.ts';
import { type Pace, PaceWaitError, type Slot } from '../pace/pace.ts';
import type { Observe } from './events.ts';
import type { PlatformFailure, StatusFailure } from './failure.ts';
import type { AttemptResult, PlatformRequest, Send } from './http/transport.ts';

export type AttemptOptions = {
  readonly signal?: AbortSignal | undefined;
  /** Whose call it is: urgent ones leave before the calls of large batches. Default: `normal`. */
  readonly share?: Share | undefined;
  /** An abort stops the call only until its request has left: for callers that must know the response. Default: false. */
  readonly finishes?: boolean | undefined;
  /**
   * Awaited shortly before each attempt's turn, to record that it is about to be sent. If it throws, the call ends with
   * that error. The attempt may still not leave, if its turn is too far off or the caller aborts: `onLeave` shows that.
   */
  readonly beforeSend?: (() => Promise<void>) | undefined;
  /** Called in the attempt's turn, at the moment it leaves. If it throws, it does not, and the call ends with that error. */
  readonly onLeave?: (() => void) | undefined;
};

/** Holds a call that a stop does not give up from the moment it leaves until it has ended, within `timeoutMs`. */
export type HoldLeft = (call: { readonly operation: string; readonly timeoutMs: number }) => Disposable;

export type AttemptParts = {
  readonly send: Send;
  readonly pace: Pace;
  readonly observe: Observe;
  /** Milliseconds on a monotonic clock. */
  readonly now: () => number;
  readonly holdLeft?: HoldLeft | undefined;
};

export type Attempt = {
  readonly request: PlatformRequest;
  readonly token: string;
  readonly operation: string;
  readonly attempt: number;
};

/** Waits for the attempt's turn and sends it once. Throws the caller's abort, and what the two hooks throw. */
export async function makeAttempt(
  attempt: Attempt,
  parts: AttemptParts,
  options: AttemptOptions,
): Promise<AttemptResult> {
  const { signal, beforeSend: prepare, share } = options;
  try {
    // The pace looks at the signal until the call leaves.
    const send = (slot: Slot) => sendIn(slot, attempt, parts, options);
    const { operation } = attempt;
    return await parts.pace.run(send, { signal, isAccepted, prepare, share, operation });
  } catch (error) {
    if (!(error instanceof PaceWaitError)) throw error;
    const { waitMs, maxWaitMs, isPaused } = error;
    const paused = isPaused ? { isPaused } : {};
    const failure = { kind: 'wait', waitMs, maxWaitMs, ...paused } as const;
    return { kind: 'failure', status: undefined, sizeBytes: 0, failure };
  }
}

/** Whether the platform took the request up: a success, or a fault that it found in the request itself. */
function isAccepted(result: AttemptResult): boolean {
  if (result.kind === 'response') return true;
  const { failure } = result;
  return failure.kind === 'status' && [400, 404, 409, 422].includes(failure.status);
}

/** A 429, or a 503 that says when to come back. */
const isThrottled = (failure: PlatformFailure): failure is StatusFailure =>
  failure.kind === 'status' &&
  (failure.status === 429 || (failure.status === 503 && failure.retryAfterMs !== undefined));

async function sendIn(
  slot: Slot,
  { request, token, operation, attempt }: Attempt,
  { send, pace, observe, now, holdLeft }: AttemptParts,
  { signal, onLeave, finishes = false }: AttemptOptions,
): Promise<AttemptResult> {
  if (slot.waitedMs > 0) observe({ kind: 'waited', operation, attempt, waitedMs: slot.waitedMs });
  onLeave?.();
  signal?.throwIfAborted();
  const startedMs = now();
  using _ = finishes ? holdLeft?.({ operation, timeoutMs: request.timeoutMs }) : undefined;
  const result = await send(request, token, finishes ? undefined : signal);
  const { status, sizeBytes } = result;
  const durationMs = now() - startedMs;
  const failure = result.kind === 'failure' ? { failure: result.failure } : {};
  observe({ kind: 'request', operation, attempt, status, sizeBytes, durationMs, ...failure });
  if (result.kind === 'failure' && isThrottled(result.failure)) {
    const { retryAfterMs } = result.failure;
    observe({ kind: 'throttled', operation, attempt, retryAfterMs });
    await pace.throttled(slot, retryAfterMs);
  }
  return result;
}
