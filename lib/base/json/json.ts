import { isDeeperThan, JsonLimitError, MAX_DEPTH, MAX_DIGITS, tooDeep } from './json-limits.ts';

/**
 * Reads JSON as `JSON.parse` does, except that an integer beyond 2^53 becomes a bigint: the digits of an id matter, and
 * a number would round them. Throws `SyntaxError` on anything but complete, valid JSON, and `JsonLimitError` if it
 * is nested more than 512 deep, or has an integer of more than 1,000 digits.
 *
 * Source text access costs several times as much as a plain parse, so it is used only if there is a run of 16 digits
 * at all: 2^53 has 16.
 */
export function parseJson(text: string): unknown {
  if (isDeeperThan(text, MAX_DEPTH)) throw tooDeep();
  return hasLongDigits(text) ? JSON.parse(text, preserveDigits) : JSON.parse(text);
}

const LONG = 16;

/** Whether a text has a run of 16 digits. Such a run has one at every 16th place: only those are looked at. */
export function hasLongDigits(text: string): boolean {
  for (let at = LONG - 1; at < text.length; at += LONG) {
    if (!isDigit(text.charCodeAt(at))) continue;
    let [from, to] = [at, at + 1];
    while (from > 0 && isDigit(text.charCodeAt(from - 1))) from -= 1;
    while (to < text.length && isDigit(text.charCodeAt(to))) to += 1;
    if (to - from >= LONG) return true;
  }
  return false;
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** The same, with every number as `JSON.parse` reads it: for what platform-sync has printed itself. */
export function parseOwnJson(text: string): unknown {
  if (isDeeperThan(text, MAX_DEPTH)) throw tooDeep();
  return JSON.parse(text);
}

/** Prints what `parseJson` reads: bigints as integers, everything else as `JSON.stringify` does. */
export function printJson(value: unknown, space?: number): string {
  return JSON.stringify(
    value,
    (_key, part) => (typeof part === 'bigint' ? JSON.rawJSON(String(part)) : part),
    space,
  );
}

function preserveDigits(_key: string, value: unknown, context: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context.source ?? '';
  if (!/^-?\d+$/.test(source)) return value;
  if (source.length > MAX_DIGITS)
    throw new JsonLimitError(`expected integers of at most ${MAX_DIGITS} digits, got ${source.length}`);
  return BigInt(source);
}

/** ECMAScript's "JSON.parse source text access", which Node 24 has and TypeScript's library does not know yet. */
declare global {
  interface JSON {
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
    ): unknown;
    rawJSON(text: string): object;
  }
}
