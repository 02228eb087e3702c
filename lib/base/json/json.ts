/**
 * Reads JSON as `JSON.parse` does, except that an integer beyond 2^53 becomes a bigint: the digits of an id matter, and
 * a number would round them. Throws `SyntaxError` on anything but complete, valid JSON, and `JsonLimitError` if it
 * is nested more than 512 deep, or has an integer of more than 1,000 digits.
 *
 * Access to the source of a number costs several times as much as a plain parse, so it is used only if the JSON has 16
 * digits in a row, as 2^53 has.
 */
export function parseJson(text: string): unknown {
  if (isDeeperThan(text, MAX_DEPTH)) throw tooDeep();
  return hasLongDigits(text) ? JSON.parse(text, preserveDigits) : JSON.parse(text);
}

const LONG = 16;

/**
 * Whether a string has 16 digits in a row. One of these must be at the position 16, 32, 48, …, so only these
 * positions are checked first.
 */
function hasLongDigits(text: string): boolean {
  for (let at = LONG - 1; at < text.length; at += LONG) {
    if (!isDigit(text.charCodeAt(at))) continue;
    let from = at;
    let to = at + 1;
    while (from > 0 && isDigit(text.charCodeAt(from - 1))) from -= 1;
    while (to < text.length && isDigit(text.charCodeAt(to))) to += 1;
    if (to - from >= LONG) return true;
  }
  return false;
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** Parses JSON that platform-sync has written, with every number as `JSON.parse` reads it. */
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

/** The types of ECMAScript's "JSON.parse source text access", which Node 24 has and TypeScript's library lacks. */
declare global {
  interface JSON {
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
    ): unknown;
    rawJSON(text: string): object;
  }
}

/** Maximum depth of nested JSON (RFC 8259, section 9): V8's parser and our recursion could go several times as deep. */
export const MAX_DEPTH = 512;

/** Maximum digits of an integer that is read as a bigint: parsing one takes more than linear time. */
const MAX_DIGITS = 1_000;

/** Maximum values of a parsed response: each takes up to 300 bytes of memory. 25,000 cards have about this many. */
const MAX_VALUES = 1_000_000;

/** Thrown for JSON that exceeds a limit, and is valid as far as it was read. Reading it again does not help. */
export class JsonLimitError extends Error {
  override readonly name = 'JsonLimitError';
}

/**
 * The error for arrays and objects that are nested too deeply. `where`: a position in the JSON, such as ` at byte
 * 7`.
 */
export const tooDeep = (where = ''): JsonLimitError =>
  new JsonLimitError(`expected at most ${MAX_DEPTH} levels of nested arrays and objects, got more${where}`);

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;

/**
 * Whether arrays and objects are nested more than `max` deep. Brackets in strings are ignored. The JSON may be invalid.
 */
export function isDeeperThan(text: string, max: number): boolean {
  if (text.length <= max) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    // `[` and `{` differ in one bit only, and so do `]` and `}`.
    else if ((code | 0x20) === 0x7b) depth += 1;
    else if ((code | 0x20) === 0x7d) depth -= 1;
    if (depth > max) return true;
  }
  return false;
}

/** Whether JSON has more than `max` values. Commas and brackets in strings are ignored. The JSON may be invalid. */
export function holdsMoreValues(text: string, max: number): boolean {
  if (text.length <= max) return false;
  let values = 1;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    // An array or object has one more value than commas. `[` and `{` differ in one bit only.
    else if (code === COMMA || (code | 0x20) === 0x7b) values += 1;
    if (values > max) return true;
  }
  return false;
}

/**
 * The index of the quote that closes the string whose opening quote is at `quote`; the end of the JSON if it is
 * missing.
 */
function endOfString(text: string, quote: number): number {
  for (let from = quote + 1; ; ) {
    const end = text.indexOf('"', from);
    if (end === -1) return text.length;
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
    from = end + 1;
  }
}

/**
 * Throws `JsonLimitError` if JSON in UTF-8, valid or not, has more than `max` values. `what`: the JSON in words,
 * for the error.
 */
export function refuseManyValues(bytes: Uint8Array, max = MAX_VALUES, what = 'a response'): void {
  if (bytes.byteLength <= max) return;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  if (holdsMoreValues(text, max))
    throw new JsonLimitError(`expected at most ${max} values in ${what}, got more`);
}

/** A JSON number with its source. `value` is the same string for all sources with the same value. */
export class ExactNumber {
  readonly source: string;
  readonly value: string;

  constructor(source: string) {
    this.source = source;
    this.value = decimalValue(source);
  }
}

/** Reads JSON as `JSON.parse` does, with an `ExactNumber` for each number. Throws `SyntaxError`. */
export function parseExact(text: string): unknown {
  return JSON.parse(text, (_key, value, { source }) =>
    typeof value === 'number' ? new ExactNumber(source ?? '') : value,
  );
}

/**
 * Prints a value of `parseExact` so that equal values give equal JSON: names sorted, no white space, numbers by
 * value.
 */
export const canonicalExact = (value: unknown): string => print(value, (number) => number.value);

/** Prints a value like `canonicalExact`, but each number as it was written, for people. */
export const printExact = (value: unknown): string => print(value, (number) => number.source);

/**
 * Prints a value of `parseJson` so that equal values give equal JSON: numbers by their value (`1.0` as `1`, `1e20`
 * as its digits), bigints by their digits.
 */
export const canonicalJson = (value: unknown): string => print(value, ({ source }) => source);

function print(value: unknown, number: (value: ExactNumber) => string): string {
  if (value instanceof ExactNumber) return number(value);
  if (typeof value === 'bigint') return String(value);
  // A whole number prints like a bigint, since the same value may have been read as a bigint elsewhere.
  if (typeof value === 'number') return Number.isInteger(value) ? String(BigInt(value)) : String(value);
  if (Array.isArray(value)) return `[${value.map((part) => print(part, number)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, part]) => `${JSON.stringify(name)}:${print(part, number)}`).join(',')}}`;
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Maximum characters of an exponent that is normalized. A number with a longer exponent stays unchanged. */
const MAX_EXPONENT_LENGTH = 15;

/**
 * The value of a JSON number as digits without zeros at either end, and a power of ten: `0.10` is `1e-1`, `-100` is
 * `-1e2`, every zero is `0`. It takes linear time, since it converts the number neither to a double nor to a bigint.
 */
function decimalValue(source: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(source) ?? [];
  const digits = whole + fraction;
  let first = 0;
  let end = digits.length;
  while (digits.charCodeAt(first) === ZERO) first += 1;
  if (first === end) return '0';
  if (exponent.length > MAX_EXPONENT_LENGTH) return source;
  while (digits.charCodeAt(end - 1) === ZERO) end -= 1;
  return `${sign}${digits.slice(first, end)}e${Number(exponent) + whole.length - end}`;
}

const ZERO = 0x30;

/** Words for numbers that JSON does not have, as several languages print them. */
const NO_NUMBER = /-?\b(?:NaN|Infinity)\b/g;
const CONTROL = /\p{Cc}/gu;

/**
 * Repairs JSON as careless programs print it: NaN and infinities become null, control characters in strings are
 * escaped, and NULs behind the value are dropped. Undefined if there is nothing to repair.
 */
function repairJson(text: string): string | undefined {
  const pieces: string[] = [];
  const whole = text.replace(/\0+\s*$/, '');
  for (let at = 0; at < whole.length; ) {
    const quote = whole.indexOf('"', at);
    const start = quote < 0 ? whole.length : quote;
    const end = quote < 0 ? whole.length : endOfString(whole, quote) + 1;
    pieces.push(whole.slice(at, start).replaceAll(NO_NUMBER, 'null'));
    pieces.push(whole.slice(start, end).replaceAll(CONTROL, escaped));
    at = end;
  }
  const repaired = pieces.join('');
  return repaired === text ? undefined : repaired;
}

const escaped = (control: string): string => JSON.stringify(control).slice(1, -1);

/** JSON in UTF-8 without its invalid bytes, repaired; undefined if there is nothing to repair. */
export function repairBytes(bytes: Buffer): Buffer<ArrayBuffer> | undefined {
  const text = bytes.toString('utf8');
  const repaired = repairJson(text) ?? (text.includes('\ufffd') ? text : undefined);
  return repaired === undefined ? undefined : Buffer.from(repaired);
}
