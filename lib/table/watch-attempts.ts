type Next<Args, Result> = (args: Args) => Promise<Result>;

/** Middleware for a command that reports why each attempt failed: the SDK's error describes only the last one. */
export const watchAttempts =
  (onFailed: (error: unknown) => void) =>
  <Args, Result>(next: Next<Args, Result>): Next<Args, Result> =>
  async (args) => {
    try {
      return await next(args);
    } catch (error) {
      onFailed(error);
      throw error;
    }
  };

/** The position inside the SDK's retries, after its errors have been parsed. */
export const OF_EACH_ATTEMPT = { step: 'deserialize', priority: 'high' } as const;
