import { StoreError, type StoreFailure } from './error.ts';

/** One call to a store: what it tries, for the error's message, and the caller's signal. */
type Attempt = { readonly tried: string; readonly signal: AbortSignal | undefined };

export type Boundary = {
  /** `work` is given what is tried, for failures that it finds itself. */
  run<T>(attempt: Attempt, work: (tried: string) => Promise<T>): Promise<T>;
  each<T>(attempt: Attempt, source: () => AsyncIterable<T>): AsyncGenerator<T>;
};

/**
 * Runs an adapter's work so that it throws only two things: the caller's own abort, as its signal gives it, and
 * `StoreError`, whose failure `explain` derives from what the file system or the service threw.
 */
export function createBoundary(explain: (error: unknown) => StoreFailure): Boundary {
  const translate = ({ tried, signal }: Attempt, error: unknown): unknown => {
    if (signal?.aborted) return signal.reason;
    return error instanceof StoreError ? error : new StoreError(tried, explain(error), { cause: error });
  };
  return {
    async run(attempt, work) {
      try {
        attempt.signal?.throwIfAborted();
        return await work(attempt.tried);
      } catch (error) {
        throw translate(attempt, error);
      }
    },
    async *each(attempt, source) {
      try {
        attempt.signal?.throwIfAborted();
        for await (const item of source()) {
          yield item;
          attempt.signal?.throwIfAborted();
        }
      } catch (error) {
        throw translate(attempt, error);
      }
    },
  };
}
