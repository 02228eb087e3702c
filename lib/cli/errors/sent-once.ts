import { errorText } from '../../base/index.ts';
import { type CallOptions, isRefusal, PlatformError } from '../../platform/index.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The error of a call that is never sent twice. The message ends with whether the call may have taken effect. */
export class SentOnceError extends Error {
  override readonly name = 'SentOnceError';
  override readonly cause: unknown;
  /** Whether the request was sent and the platform did not refuse it. */
  readonly mayHaveTakenEffect: boolean;

  constructor(cause: unknown, words: string, mayHaveTakenEffect: boolean) {
    super(`${errorText(cause)}\n  ${words}`);
    this.cause = cause;
    this.mayHaveTakenEffect = mayHaveTakenEffect;
  }
}

/**
 * Makes a call that is sent only once. A stop cancels the call only before its request is sent; afterwards the call
 * waits for the response, which shows what happened. Throws `SentOnceError`.
 */
export async function sendOnce<T>(
  send: (options: CallOptions) => Promise<T>,
  /** What the message says if the outcome is unknown. */
  words: {
    /** What may have happened: `the function may have run`. */
    readonly mayHave: string;
    /** What the user should look at before running the command again. */
    readonly lookAt: string;
  },
  { signal }: Pick<Terminal, 'signal'>,
): Promise<T> {
  const { mayHave, lookAt } = words;
  try {
    return await send({ signal, finishes: true });
  } catch (thrown) {
    if (thrown instanceof PlatformError && thrown.failure.kind === 'input') throw thrown;
    const error =
      signal.aborted && thrown === signal.reason ? new Error('interrupted: stopped as requested') : thrown;
    switch (effectOf(error)) {
      case 'none':
        throw new SentOnceError(error, 'nothing took effect, so you can run the command again', false);
      case 'refused':
        throw new SentOnceError(error, 'the platform refused the request: nothing took effect', false);
      case 'unknown':
        throw new SentOnceError(
          error,
          `the request was sent: ${mayHave}. Before you run the command again, look at ${lookAt}`,
          true,
        );
    }
  }
}

/** The effect that a failed call may have had. Any error but a `PlatformError` happened before the request. */
function effectOf(error: unknown): 'none' | 'refused' | 'unknown' {
  if (!(error instanceof PlatformError) || !error.sent) return 'none';
  return isRefusal(error.failure) ? 'refused' : 'unknown';
}
