import { asText, groupsOf, type ModelColumns, type RowGroup } from '../../model/index.ts';
import type { Source } from '../../snapshot/sources/sources.ts';
import { type Counts, MOST_LISTED, MOST_WHOLE } from '../facts.ts';
import { NOT_STATED, shownText } from './values.ts';

/** How many records a list may have and still be whole, and how many a list has that is not. */
export type ListLimits = { readonly whole: number; readonly top: number };

export const listLimits: ListLimits = { whole: MOST_WHOLE, top: MOST_LISTED };

/** The records of a source, and how many of them to list. */
export type RecordsToShow = {
  readonly columns: ModelColumns;
  readonly limits: ListLimits;
  readonly signal: AbortSignal;
};

/** How many records a source has. */
export const recordsOf = ({ columns }: RecordsToShow, source: Source): number =>
  (columns[source]?.parts ?? []).reduce((sum, { count }) => sum + count, 0);

/** A row group, and the rows of it that count. */
type Rows = { readonly group: RowGroup; readonly rows: Uint32Array };

/** All records of a source. */
export async function* allRows({ columns, signal }: RecordsToShow, source: Source): AsyncGenerator<Rows> {
  for await (const { group } of groupsOf(columns[source])) {
    signal.throwIfAborted();
    yield { group, rows: Uint32Array.from({ length: group.rows }, (_, row) => row) };
  }
}

/**
 * The rows that `see` returns something for (it gets their places among the rows too), with what `read` makes of them. `read` is called once for a group with any
 * such row: so columns that are only listed are not read of others.
 */
export async function chosenRows<Seen extends object, Said extends object>(
  { group, rows }: Rows,
  see: (row: number, place: number) => Seen | undefined,
  read: (group: RowGroup) => Promise<(row: number) => Said>,
): Promise<readonly (Seen & Said)[]> {
  const chosen: { readonly row: number; readonly seen: Seen }[] = [];
  // Not by its entries: each would be an object, a million of them.
  for (let place = 0; place < rows.length; place += 1) {
    const row = rows[place] ?? 0;
    const seen = see(row, place);
    if (seen !== undefined) chosen.push({ row, seen });
  }
  if (chosen.length === 0) return [];
  const saidAt = await read(group);
  return chosen.map(({ row, seen }) => ({ ...seen, ...saidAt(row) }));
}

/** The members of rows as columns. */
export const columnsOf = <R extends object, N extends keyof R>(rows: readonly R[], names: readonly N[]) =>
  Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name])])) as unknown as {
    readonly [Name in N]: readonly R[Name][];
  };

/**
 * Says of one thing after another whether it is listed: all are if there are at most `whole`, or else the first `top`,
 * and the first `top` with each bit of its flags among `bits`.
 */
export function createChoice(total: number, bits: readonly number[], { whole, top }: ListLimits) {
  let left = top;
  // Those of which not enough are listed yet.
  let wanted = bits.reduce((all, bit) => all | bit, 0);
  const lefts = bits.map((bit) => ({ bit, left: top }));
  return (flags: number): boolean => {
    const isListed = total <= whole || left > 0 || (flags & wanted) !== 0;
    left -= 1;
    if ((flags & wanted) === 0) return isListed;
    for (const each of lefts)
      if ((flags & wanted & each.bit) !== 0) {
        each.left -= 1;
        if (each.left === 0) wanted &= ~each.bit;
      }
    return isListed;
  };
}

/** Counts how often each key comes. */
export function createCounts<K>() {
  const counts = new Map<K, number>();
  return { counts, add: (key: K): void => void counts.set(key, (counts.get(key) ?? 0) + 1) };
}

/** How many things have each flag, by how many have the same bits. */
export function flagCounts<F extends string>(
  known: Iterable<readonly [number, number]>,
  bits: Record<F, number>,
) {
  const having = (bit: number) => [...known].reduce((sum, [flags, n]) => sum + (flags & bit ? n : 0), 0);
  const names = Object.keys(bits) as F[];
  return Object.fromEntries(names.map((name) => [name, having(bits[name])])) as Record<F, number>;
}

/** How many values are listed. */
const LISTED = 50;

/** A text of a column, such as a status, as it is counted: `NOT_STATED` if it is empty. */
export const countedText = (utf8: Uint8Array): string => shownText(asText(utf8) || NOT_STATED);

/** The same of an enumeration, of which letters may come in any case. */
export const countedEnum = (utf8: Uint8Array): string => shownText(asText(utf8).toUpperCase() || NOT_STATED);

/** Counts how often each value occurs; none, as `NOT_STATED`. */
export function createCountedValues() {
  const { counts: counted, add } = createCounts<string>();
  return {
    add: (value: string | null | undefined): void => add(value ?? NOT_STATED),
    /** Most frequent first; of those that are not listed how many there are. */
    counts(): Counts {
      const sorted = [...counted].sort(([, a], [, b]) => b - a);
      const others = sorted.slice(LISTED).reduce((sum, [, count]) => sum + count, 0);
      return { values: sorted.slice(0, LISTED), others };
    },
  };
}

/** Holds the `most` entries of the highest size; of equal ones, those that came first. */
export function createLargest<T>(most: number) {
  const held: { readonly size: number; readonly at: number; readonly value: T }[] = [];
  let [added, limit] = [0, Number.NEGATIVE_INFINITY];
  const trim = () => {
    held.sort((a, b) => b.size - a.size || a.at - b.at);
    held.length = Math.min(held.length, most);
    if (held.length === most) limit = held.at(-1)?.size ?? limit;
  };
  return {
    /** True if an entry of this size would be held now. */
    mayAdd: (size: number) => size > limit || held.length < most,
    add(size: number, value: T) {
      held.push({ size, at: added, value });
      added += 1;
      // Sorted now and then, so that an entry costs little.
      if (held.length >= 2 * most + 16) trim();
    },
    /** The largest, in the order in which they came. */
    values(): readonly T[] {
      trim();
      return held.toSorted((a, b) => a.at - b.at).map(({ value }) => value);
    },
  };
}
