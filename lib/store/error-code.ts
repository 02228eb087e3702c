export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

/** Returns `value` for an error with one of `codes`, and rethrows every other error. For `catch` of a promise. */
export const unlessCode =
  <T>(codes: readonly string[], value: T) =>
  (error: unknown): T => {
    if (codes.includes(errorCode(error) ?? '')) return value;
    throw error;
  };
