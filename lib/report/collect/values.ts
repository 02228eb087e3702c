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

const MAX_LENGTH = 300;

/** A text of the platform as the report holds it: of at most `most` characters, and a mark if some are left out. */
export function shownText(text: string, most: number = MAX_LENGTH): string {
  if (text.length <= most) return text;
  const cut = text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '');
  // A copy: a piece of a text would keep the whole of it in memory.
  return Buffer.from(`${cut}…`, 'utf16le').toString('utf16le');
}

/** A text; undefined if it is something else, or empty. */
export const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** Reports objects that are not what they should be, if any, by the first. */
export function addOdd(addFault: Reading['addFault'], odd: readonly string[], expected: string): void {
  if (odd.length > 0)
    addFault(`${odd[0]}: expected ${expected}, got something else; ${odd.length} such objects are left out`);
}
