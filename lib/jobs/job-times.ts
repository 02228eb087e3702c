/** The parts of the shortest allowed time limit of a function that runs jobs, in milliseconds. */
export const jobTimes = {
  codeFunctionMs: 330_000,
  /** The time for the last writes and the response of an invocation. */
  toRespondMs: 5_000,
} as const;
