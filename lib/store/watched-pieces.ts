/**
 * Runs what stores a caller's pieces. If they throw, it throws the same: an adapter's boundary would take that for a
 * failure of the store.
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
