/** The shortest time that a function which runs jobs must be given is made of these, in milliseconds. */
export const jobTimes = {
  /** A code function may take this long. */
  codeFunctionMs: 330_000,
  /** What the last writes and the answer of an invocation may take. */
  toAnswerMs: 5_000,
} as const;
