/** What must be done in the end, in reverse order: as `AsyncDisposableStack`, which Node 22 lacks. */
export type Cleanups = {
  /** Disposes of it in the end. */
  use(what: Disposable | AsyncDisposable): void;
  /** Calls it in the end. */
  defer(cleanup: () => unknown): void;
  /** Takes everything over, so that nothing is left to do here. */
  move(): Cleanups;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Every cleanup runs, also after one that failed; if any failed, their end throws the first error. */
export function createCleanups(given: readonly (() => unknown)[] = []): Cleanups {
  let cleanups = [...given];
  const takeAll = () => {
    const all = cleanups;
    cleanups = [];
    return all;
  };
  return {
    use(what) {
      cleanups.push(() =>
        Symbol.asyncDispose in what ? what[Symbol.asyncDispose]() : what[Symbol.dispose](),
      );
    },
    defer: (cleanup) => void cleanups.push(cleanup),
    move: () => createCleanups(takeAll()),
    async [Symbol.asyncDispose]() {
      const errors: unknown[] = [];
      for (const cleanup of takeAll().toReversed()) {
        try {
          await cleanup();
        } catch (error) {
          errors.push(error);
        }
      }
      if (errors.length > 0) throw errors[0];
    },
  };
}
