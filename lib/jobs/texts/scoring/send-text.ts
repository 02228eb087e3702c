import { PlatformError, type Sentiment, type SentimentRequest } from '../../../platform/index.ts';
import type { Taken, TextClaim } from '../cache/text-claim.ts';
import { wasRefused } from './failures.ts';
import type { Run } from './run.ts';

/** How one attempt at a text ended. */
export type Tried =
  | { readonly kind: 'result'; readonly result: Sentiment }
  | { readonly kind: 'failure'; readonly error: PlatformError }
  /** Another worker was faster, or time is up. */
  | Taken
  /** The batch may make no more calls. */
  | { readonly kind: 'spent'; readonly most: number };

type NotSent = Extract<Tried, { readonly kind: 'scored' | 'held' | 'spent' }>;

/** Ends an attempt that may not be sent. */
class NotSentError extends Error {
  override readonly name = 'NotSentError';
  readonly taken: NotSent;

  constructor(taken: NotSent) {
    super(taken.kind);
    this.taken = taken;
  }
}

/**
 * One attempt. The text is claimed shortly before the call's slot, and `leave` called when the call leaves; what was
 * certainly not executed is taken back. A call that has left finishes even if the run is stopped: it is paid for.
 */
export async function sendText(
  request: SentimentRequest,
  claim: TextClaim,
  leave: () => void,
  run: Run,
): Promise<Tried> {
  if (run.isOver()) return heldNow(run);
  using waiting = abortedWith(run.signal);
  let [recorded, left] = [false, false];
  const beforeSend = async () => {
    if (recorded) return;
    run.signal.throwIfAborted();
    if (run.isOver()) throw new NotSentError(heldNow(run));
    const { limit } = run;
    if (limit && !(await limit.take())) throw new NotSentError({ kind: 'spent', most: limit.most });
    const sent = await claim.send();
    if (sent.kind !== 'sent') {
      await limit?.giveBack();
      throw new NotSentError(sent);
    }
    recorded = true;
  };
  const onLeave = () => {
    run.signal.throwIfAborted();
    if (run.isOver() || !claim.isHeld()) throw new NotSentError(heldNow(run));
    waiting[Symbol.dispose]();
    left = true;
    run.counts.departures += 1;
    leave();
  };
  try {
    const options = { signal: waiting.signal, beforeSend, onLeave, once: true, finishes: true };
    return { kind: 'result', result: await run.analyze(request, options) };
  } catch (error) {
    // It did not leave after all: its turn was too far off, or it was stopped before.
    if (recorded && !left) {
      await claim.takeBack().catch(() => undefined);
      await run.limit?.giveBack().catch(() => undefined);
    }
    if (error instanceof NotSentError) return error.taken;
    if (!(error instanceof PlatformError)) throw error;
    if (left && (!error.sent || wasRefused(error.failure))) {
      await claim.takeBack();
      await run.limit?.giveBack();
    }
    return { kind: 'failure', error };
  }
}

/** A text that this worker leaves alone for now. */
export const heldNow = ({ now }: Run) => ({ kind: 'held', untilMs: now() }) as const;

/** A signal that is aborted with another one until it is disposed. */
function abortedWith(signal: AbortSignal): Disposable & { readonly signal: AbortSignal } {
  const own = new AbortController();
  const abort = () => own.abort(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort);
  return { signal: own.signal, [Symbol.dispose]: () => signal.removeEventListener('abort', abort) };
}
