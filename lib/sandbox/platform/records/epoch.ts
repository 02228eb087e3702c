/*
 * The seeded records live between two fixed moments, so that the same seed gives the same bytes on any day.
 */

/** The first record was created here, in epoch milliseconds. */
export const SEEDED_FROM_MS = Date.UTC(2019, 0, 7, 8);

/** Nothing seeded is younger than this, in epoch milliseconds. */
export const SEEDED_UNTIL_MS = Date.UTC(2026, 5, 1);
