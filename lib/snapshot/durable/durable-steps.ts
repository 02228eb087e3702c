/**
 * What a durable execution offers. The code that uses it is run again from its beginning in each invocation, and must
 * come by the same steps and waits in the same order each time: it may branch on what steps answered, and on nothing
 * else that differs from one invocation to the next.
 */
export type DurableSteps = {
  /**
   * Does something and keeps the answer, plain JSON, which every later invocation gets without doing it again. It may be
   * done more than once: its answer may not have been kept. What fails is tried again by `afterStepFailure`.
   */
  readonly step: <T>(name: string, act: () => Promise<T>) => Promise<T>;
  /** Ends the invocation; a new one goes on after so long. */
  readonly wait: (ms: number) => Promise<void>;
  /** What is left of the invocation, in milliseconds. To be asked within a step only. */
  readonly remainingMs: () => number;
};

/** What an act brought, and how much of an invocation that needs which follows it. */
export type Brought<T> = { readonly value: T; readonly nextNeedsMs: number };

/** The shortest wait there is: all that it is for is a new invocation. */
const PAUSE_MS = 1_000;

/**
 * A step, and after it a short wait if the invocation has too little time for what follows. Whether it waits is part of
 * the step's answer: on a replay there is time enough, and the wait must be come by all the same.
 */
export async function stepAndPause<T extends object>(
  { step, wait, remainingMs }: DurableSteps,
  name: string,
  act: () => Promise<Brought<T>>,
): Promise<T> {
  const { mustPause, ...value } = await step(name, async () => {
    const brought = await act();
    return { ...brought.value, mustPause: remainingMs() < brought.nextNeedsMs };
  });
  if (mustPause) await wait(PAUSE_MS);
  return value as unknown as T;
}
