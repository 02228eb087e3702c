/** The `code` of a Node.js error (`ENOENT`), or undefined. */
export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

/** Gives `value` where the work failed with one of `codes`; every other error passes through. */
export const unlessCode =
  <T>(codes: readonly string[], value: T) =>
  (error: unknown): T => {
    if (codes.includes(errorCode(error) ?? '')) return value;
    throw error;
  };
