import * as z from 'zod/mini';

/*
 * What callers give, checked before anything is sent. A message says what was expected; `faultsOf` adds what came.
 */

export const uuid = z
  .string({ error: 'a UUID' })
  .check(
    z.regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, { error: 'a UUID (8-4-4-4-12 hex digits)' }),
  );

/** Text with at least one character that is not white space. */
export const filledText = z
  .string({ error: 'text' })
  .check(z.regex(/\S/, { error: 'text that is not empty' }));

/** Text that stands in a path: `.` and `..` would be taken as steps within it. */
export const pathSegment = z.string({ error: 'text' }).check(
  z.refine((value) => value !== '' && value !== '.' && value !== '..', {
    error: 'a name, not empty, "." or ".."',
  }),
);

/** A whole number between two bounds, both included. */
export const wholeNumber = (least: number, most: number) => {
  const error = `a whole number from ${least} to ${most}`;
  return z
    .number({ error })
    .check(z.refine((value) => Number.isInteger(value) && value >= least && value <= most, { error }));
};

/** An ISO 8601 date and time with a zone, or a date. */
export const isoTime = z.string({ error: 'an ISO 8601 date-time' }).check(
  z.refine((value) => /^\d{4}-\d{2}-\d{2}(T.+)?$/.test(value) && !Number.isNaN(Date.parse(value)), {
    error: 'an ISO 8601 date-time',
  }),
);
