import { QueryError } from './query-error.ts';

/** A signal that is aborted when the time is over, or with the signal given. Dispose of it. */
export function stopAfter(
  seconds: number | undefined,
  signal: AbortSignal | undefined,
): Disposable & { readonly signal: AbortSignal } {
  const stop = new AbortController();
  const onAbort = () => stop.abort(signal?.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  const timer =
    seconds === undefined ? undefined : setTimeout(() => stop.abort(tooLong(seconds)), seconds * 1000);
  return {
    signal: stop.signal,
    [Symbol.dispose]() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    },
  };
}

const tooLong = (seconds: number) =>
  new QueryError(`the query took longer than ${seconds} s and was stopped`, { kind: 'too-long', seconds });
