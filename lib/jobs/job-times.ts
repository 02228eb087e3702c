/** The shortest time limit for a function that runs jobs is made up of these, in milliseconds. */
export const jobTimes = {
  codeFunctionMs: 330_000,
  /** How long the last writes and the response of an invocation may take. */
  toAnswerMs: 5_000,
} as const;
