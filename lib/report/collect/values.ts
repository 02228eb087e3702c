import type { Store } from '../../store/index.ts';

/** What every function needs that reads facts for the report. */
export type Reading = {
  readonly store: Store;
  /** Receives what is missing or damaged, in words; everything else is still read. */
  readonly addFault: (fault: string) => void;
  readonly signal: AbortSignal;
};

/* Reads values of any shape: a value of another type counts as absent. */

export type Members = Readonly<Record<string, unknown>>;

/** The members of any value; empty if it is not an object. */
export const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null ? (value as Members) : {};

/** The name under which missing values are counted. */
export const NOT_STATED = 'unknown';

const MAX_LENGTH = 300;

/** A text of the platform, cut at `most` characters with an ellipsis. */
export function shownText(text: string, most: number = MAX_LENGTH): string {
  if (text.length <= most) return text;
  const cut = text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '');
  // It is a copy, since a slice would keep the full text in memory.
  return Buffer.from(`${cut}…`, 'utf16le').toString('utf16le');
}

/** A text; undefined if the value is not a text, or is empty. */
export const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
