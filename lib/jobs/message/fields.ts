import * as z from 'zod/mini';
import { utcTime } from '../../base/index.ts';

export { each, whole, yesOrNo } from '../../base/index.ts';

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
  /** The job is not done before this time. */
  notBefore: z.optional(utcTime),
  /** Whether its calls leave before those of other jobs. */
  priority: z.optional(z.enum(['high', 'normal'], { error: 'high or normal' })),
} as const;

/** The fields that say which job it is, and when it is done, but not what it does: equal jobs may differ in them. */
export const NOT_CONTENT: ReadonlySet<string> = new Set(['id', 'notBefore', 'priority']);

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
