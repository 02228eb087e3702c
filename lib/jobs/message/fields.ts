import * as z from 'zod/mini';

export { each, whole, yesOrNo } from '../../json/inputs.ts';

/*
 * Fields that several messages share. An error message says what was expected; `faultsOf` adds what was received.
 */

/** A job's id: it names a row of the ledger and an object of the store. */
export const jobId = z
  .string({ error: 'text' })
  .check(z.regex(/^[A-Za-z0-9._:-]{1,128}$/, { error: '1 to 128 of A-Z a-z 0-9 . _ : -' }));

/** The fields of every message, apart from its type. */
export const common = {
  version: z.literal(1, { error: '1, the version of the message format' }),
  id: z.optional(jobId),
} as const;

export const isObject = (value: unknown): value is GivenMessage =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A message as received: an object, not checked yet. */
export type GivenMessage = Readonly<Record<string, unknown>>;

/**
 * A rule on several fields of a message, reported at the field `at`. It is checked on the message as received, and not
 * by zod, which skips such a rule if any field has a fault of its own.
 */
export type FieldRule = {
  readonly at: string;
  /** What is expected there. `nameOf`: what a field is called where the message came from. */
  readonly expected: string | ((nameOf: (field: string) => string) => string);
  readonly holds: (message: GivenMessage) => boolean;
};

/** Two fields that must be given together or not at all. */
export const together = (a: string, b: string): readonly FieldRule[] => [
  {
    at: a,
    expected: (nameOf) => `a value, since ${nameOf(b)} is given`,
    holds: (message) => message[a] !== undefined || message[b] === undefined,
  },
  {
    at: b,
    expected: (nameOf) => `a value, since ${nameOf(a)} is given`,
    holds: (message) => message[b] !== undefined || message[a] === undefined,
  },
];
