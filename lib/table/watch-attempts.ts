type Next<Args, Result> = (args: Args) => Promise<Result>;

/** A middleware of a command that reports why each attempt failed: what the SDK throws tells only of the last one. */
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

/** Within the SDK's retries, and where its errors have been parsed. */
export const OF_EACH_ATTEMPT = { step: 'deserialize', priority: 'high' } as const;
