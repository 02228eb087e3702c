/*
 * Seeded records are dated between two fixed moments, so that the same seed gives the same bytes on any day.
 */

/** When the first record was created, in epoch milliseconds. */
export const SEEDED_FROM_MS = Date.UTC(2019, 0, 7, 8);

/** No seeded record is newer than this, in epoch milliseconds. */
export const SEEDED_UNTIL_MS = Date.UTC(2026, 5, 1);
