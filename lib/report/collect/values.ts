import type { Store } from '../../store/index.ts';

/** What everything is read with that the report shows. */
export type Reading = {
  readonly store: Store;
  /** Receives what is missing or damaged, in words: the rest is read. */
  readonly addFault: (fault: string) => void;
  readonly signal: AbortSignal;
};

/*
 * What a record says, whatever it sends: each value of another type counts as absent.
 */

export type Members = Readonly<Record<string, unknown>>;

/** The members of any value; none if it is not an object. */
export const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null ? (value as Members) : {};

/** What a value that a record lacks is counted under. */
export const NOT_STATED = 'unknown';

const LONGEST = 300;

/** A text of the platform as the report holds it: of at most `most` characters, and a mark if some are left out. */
export function shownText(text: string, most: number = LONGEST): string {
  if (text.length <= most) return text;
  const cut = text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '');
  // A copy: a piece of a text would keep the whole of it in memory.
  return Buffer.from(`${cut}…`, 'utf16le').toString('utf16le');
}

/** A text; undefined if it is something else, or empty. */
export const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** A number of things or bytes; undefined if it is none. */
export function sizeIn(value: unknown): number | undefined {
  const size = typeof value === 'bigint' ? Number(value) : value;
  return typeof size === 'number' && size >= 0 ? size : undefined;
}

/** Years 1 to 9999. */
const FIRST_MS = Date.parse('0001-01-01T00:00:00Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** A time in epoch milliseconds, sent as such or as ISO 8601 (UTC unless it says otherwise); undefined if it is none. */
export function timeIn(value: unknown): number | undefined {
  const ms =
    typeof value === 'number' || typeof value === 'bigint'
      ? Math.trunc(Number(value))
      : typeof value === 'string'
        ? /^-?\d{1,15}$/.test(value)
          ? Number(value)
          : parseIso(value)
        : Number.NaN;
  return ms >= FIRST_MS && ms <= LAST_MS ? ms : undefined;
}

const ISO = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;

function parseIso(text: string): number {
  if (text.length > 64) return Number.NaN;
  const [, day, time = '00:00', zone = 'Z'] = ISO.exec(text) ?? [];
  if (day === undefined) return Number.NaN;
  const [, hours, minutes = '00'] = /^([+-]\d\d):?(\d\d)?$/.exec(zone) ?? [];
  return Date.parse(`${day}T${time}${hours === undefined ? 'Z' : `${hours}:${minutes}`}`);
}

/** Reports objects that are not what they should be, if any, by the first. */
export function addOdd(addFault: Reading['addFault'], odd: readonly string[], expected: string): void {
  if (odd.length > 0)
    addFault(`${odd[0]}: expected ${expected}, got something else; ${odd.length} such objects are left out`);
}
