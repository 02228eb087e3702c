import type { Store } from '../../store/index.ts';

/** What every function that reads facts for the report needs. */
export type Reading = {
  readonly store: Store;
  /** Called with what is missing or damaged, in words; everything else is still read. */
  readonly addFault: (fault: string) => void;
  readonly signal: AbortSignal;
};

/*
 * Readers of values of any shape: a value of another type than the expected one counts as absent.
 */

/** The members of an object of any shape. */
export type Members = Readonly<Record<string, unknown>>;

/** The members of any value; empty if it is not an object. */
export const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null ? (value as Members) : {};

/** The word under which missing values are counted. */
export const NOT_STATED = 'unknown';

const MAX_LENGTH = 300;

/** Shortens a string of the platform to `maxLength` characters, the last of which is an ellipsis. */
export function shownText(text: string, maxLength: number = MAX_LENGTH): string {
  if (text.length <= maxLength) return text;
  const cut = text.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, '');
  // Copied, since a slice would keep the whole string in memory.
  return Buffer.from(`${cut}…`, 'utf16le').toString('utf16le');
}

/** The value if it is a string that is not empty; otherwise undefined. */
export const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
