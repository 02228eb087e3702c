/** The parts of the shortest time limit that a function which runs jobs may have, in milliseconds. */
export const jobTimes = {
  /** The timeout of a request that runs a code function. */
  codeFunctionMs: 330_000,
  /** The time for the last writes and the response of an invocation. */
  toRespondMs: 5_000,
} as const;
