import * as z from 'zod/mini';

export { each, whole, yesOrNo } from '../../json/inputs.ts';

/*
 * What fields of several messages look like. A message of a fault says what was expected; `faultsOf` adds what came.
 */

/** A job's id: it names a row of the ledger and an object of the store. */
export const jobId = z
  .string({ error: 'text' })
  .check(z.regex(/^[A-Za-z0-9._:-]{1,128}$/, { error: '1 to 128 of A-Z a-z 0-9 . _ : -' }));

/** The fields of every message, its type aside. */
export const common = {
  version: z.literal(1, { error: '1, the version of messages' }),
  id: z.optional(jobId),
} as const;

export const isObject = (value: unknown): value is GivenMessage =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A message as it came: an object, not checked yet. */
export type GivenMessage = Readonly<Record<string, unknown>>;

/**
 * A rule on several fields of a message, reported at the field `at`. It is checked on what came, and not by zod, which
 * skips such a rule where one of many fields has a fault of its own.
 */
export type FieldRule = {
  readonly at: string;
  /** What is expected there; `nameOf`: what a field is called where the message came from. */
  readonly expected: string | ((nameOf: (field: string) => string) => string);
  readonly holds: (message: GivenMessage) => boolean;
};

/** Two fields that come together or not at all. */
export const together = (a: string, b: string): readonly FieldRule[] => [
  {
    at: a,
    expected: (nameOf) => `one, since ${nameOf(b)} is given`,
    holds: (message) => message[a] !== undefined || message[b] === undefined,
  },
  {
    at: b,
    expected: (nameOf) => `one, since ${nameOf(a)} is given`,
    holds: (message) => message[b] !== undefined || message[a] === undefined,
  },
];
