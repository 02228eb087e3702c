import * as z from 'zod/mini';

/** The id of a calculation, card, data file or user: the digits of an integer, `-?(0|[1-9]\d*)`, at most 64 of them. */
export type Id = string;

/** Orders two ids as integers: negative if `a` is the lower one, 0 if they are equal. */
export function compareIds(a: Id, b: Id): number {
  // Without signs, the longer text is the higher id; at equal length, the order of the texts decides.
  if (!a.startsWith('-') && !b.startsWith('-')) return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
  const [left, right] = [BigInt(a), BigInt(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Real ids have 20 digits at most; reading, comparing and storing longer ones costs more and more. */
export const MAX_ID_DIGITS = 64;

const DIGITS = new RegExp(`^-?\\d{1,${MAX_ID_DIGITS}}$`);

/** The digits of an id as received in JSON (number, bigint, or text of digits), or undefined if it is not an id. */
export function idDigits(value: unknown): Id | undefined {
  if (typeof value === 'bigint') return idDigits(String(value));
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined;
  if (typeof value !== 'string' || !DIGITS.test(value)) return undefined;
  return String(BigInt(value));
}

/** Schema of an id, sent or received: takes any of its forms and returns its digits. */
export const idSchema = z.pipe(
  z.custom<number | bigint | string>((value) => idDigits(value) !== undefined, {
    error: `an integer of at most ${MAX_ID_DIGITS} digits (as text or a bigint beyond 2^53)`,
  }),
  z.transform((value) => idDigits(value) ?? ''),
);
