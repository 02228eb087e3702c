import type { Store } from '../../store/index.ts';

/** How the facts of the report are read. */
export type Reading = {
  readonly store: Store;
  /** Receives what is missing or damaged, in words; the rest is still read. */
  readonly addFault: (fault: string) => void;
  readonly signal: AbortSignal;
};

/* Reading values of any shape: a value of another type counts as absent. */

export type Members = Readonly<Record<string, unknown>>;

/** The members of any value; none if it is not an object. */
export const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null ? (value as Members) : {};

/** What a missing value is counted under. */
export const NOT_STATED = 'unknown';

const MAX_LENGTH = 300;

/** A text of the platform, cut at `most` characters with an ellipsis. */
export function shownText(text: string, most: number = MAX_LENGTH): string {
  if (text.length <= most) return text;
  const cut = text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '');
  // A copy: a slice would keep the full text in memory.
  return Buffer.from(`${cut}…`, 'utf16le').toString('utf16le');
}

/** A text; undefined if it is something else, or empty. */
export const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
