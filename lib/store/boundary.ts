import { StoreError, type StoreFailure } from './error.ts';

/**
 * Creates the functions that run an adapter's work. They throw only the caller's own abort, or a `StoreError`, whose
 * failure `explain` derives from the error of the work.
 */
export function createBoundary(
  location: string,
  explain: (error: unknown) => StoreFailure,
): {
  /**
   * Runs `work` on the store. `doing`: the action and its object, such as `get latest.json`. `work` receives these
   * words with the location, for the errors that it throws itself.
   */
  run<T>(doing: string, signal: AbortSignal | undefined, work: (tried: string) => Promise<T>): Promise<T>;
  each<T>(doing: string, signal: AbortSignal | undefined, source: () => AsyncIterable<T>): AsyncGenerator<T>;
} {
  const triedOf = (doing: string) => `${doing} in ${location}`;
  const translate = (doing: string, signal: AbortSignal | undefined, error: unknown): unknown => {
    if (signal?.aborted) return signal.reason;
    if (error instanceof StoreError) return error;
    return new StoreError(triedOf(doing), explain(error), { cause: error });
  };
  return {
    async run(doing, signal, work) {
      try {
        signal?.throwIfAborted();
        return await work(triedOf(doing));
      } catch (error) {
        throw translate(doing, signal, error);
      }
    },
    async *each(doing, signal, source) {
      try {
        signal?.throwIfAborted();
        for await (const item of source()) {
          yield item;
          signal?.throwIfAborted();
        }
      } catch (error) {
        throw translate(doing, signal, error);
      }
    },
  };
}

/**
 * Stores pieces that the caller produces. If producing them throws, that error is thrown unchanged, and does not
 * count as a failure of the store.
 */
export async function withPieces<T>(
  pieces: AsyncIterable<Uint8Array>,
  store: (watched: AsyncIterable<Uint8Array>) => Promise<T>,
): Promise<T> {
  let thrown: { readonly error: unknown } | undefined;
  async function* watched(): AsyncGenerator<Uint8Array> {
    try {
      yield* pieces;
    } catch (error) {
      thrown = { error };
      throw error;
    }
  }
  try {
    return await store(watched());
  } catch (error) {
    throw thrown === undefined ? error : thrown.error;
  }
}
