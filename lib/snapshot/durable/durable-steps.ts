/**
 * What a durable execution offers. The code that uses it runs again from its beginning in each invocation, and must
 * reach the same steps and waits in the same order each time: it may branch on the results of steps, but on nothing
 * else that differs from one invocation to the next.
 */
export type DurableSteps = {
  /**
   * Does something and stores the result, plain JSON; later invocations get the result without doing it again. It may
   * still be done more than once, if its result was not stored. Failures are retried according to `afterStepFailure`.
   */
  readonly step: <T>(name: string, act: () => Promise<T>) => Promise<T>;
  /** Ends the invocation; a new one continues after this time. */
  readonly wait: (ms: number) => Promise<void>;
  /** What is left of the invocation, in milliseconds. Call it only within a step. */
  readonly remainingMs: () => number;
};

/** The shortest wait there is: its only purpose is a new invocation. */
const PAUSE_MS = 1_000;

/**
 * A step, followed by a short wait if the invocation has too little time left for the next one, which needs `needsMs`.
 * Whether it waits is part of the step's result: on a replay there is enough time, and the wait must be reached all the same.
 */
export async function stepAndPause<T extends object>(
  { step, wait, remainingMs }: DurableSteps,
  name: string,
  needsMs: number,
  act: () => Promise<T>,
): Promise<T> {
  const { mustPause, ...value } = await step(name, async () => {
    const result = await act();
    return { ...result, mustPause: remainingMs() < needsMs };
  });
  if (mustPause) await wait(PAUSE_MS);
  return value as unknown as T;
}
