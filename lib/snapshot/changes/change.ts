import { exactValue } from './differing-fields.ts';
import { readLine, valuesByName } from './line-members.ts';

/** What happened to one record from one run to the next, with its lines as bytes. */
export type LineChange =
  | { readonly change: 'added'; readonly key: string; readonly after: Buffer }
  | { readonly change: 'removed'; readonly key: string; readonly before: Buffer }
  | {
      readonly change: 'changed';
      readonly key: string;
      readonly before: Buffer;
      readonly after: Buffer;
      /** The top-level fields that differ, in the order of their names; at least one. */
      readonly fields: readonly string[];
    };

export const changeOf = (
  key: string,
  before: Buffer,
  after: Buffer,
  fields: readonly string[],
): LineChange => ({ change: 'changed', key, before, after, fields });

/** A record that only one of the two runs has. */
export const changeOfOne = (side: 'before' | 'after', key: string, line: Buffer): LineChange =>
  side === 'before' ? { change: 'removed', key, before: line } : { change: 'added', key, after: line };

type AsText<C> = C extends unknown ? { readonly [M in keyof C]: C[M] extends Buffer ? string : C[M] } : never;

export type Change = AsText<LineChange>;

/** A change as one line of JSON, without the line end: the records byte for byte as in the parts. */
export function printChange(change: Change): string {
  return piecesOf(change).join('');
}

/** The pieces of that line in order, texts of JSON and lines of records. */
export function piecesOf<L extends string | Buffer>(change: ChangeOf<L>): readonly (string | L)[] {
  const { key, before, after, fields = [] } = change;
  const pieces: (string | L)[] = [];
  let text = `{"change":"${change.change}","key":${JSON.stringify(key)}`;
  for (const [name, line] of [['before', before] as const, ['after', after] as const]) {
    if (line === undefined) continue;
    pieces.push(`${text},"${name}":`, line);
    text = '';
  }
  pieces.push(`${text},"fields":${JSON.stringify(fields)}}`);
  return pieces;
}

type ChangeOf<L> = {
  readonly change: Change['change'];
  readonly key: string;
  readonly before?: L;
  readonly after?: L;
  readonly fields?: readonly string[];
};

/** The fields of a record by name, with exact numbers; one with too many values to be parsed is its text. */
export const fieldsOf = (line: string): ReadonlyMap<string, unknown> =>
  new Map(Array.from(valuesByName(readLine(Buffer.from(line))), ([name, text]) => [name, exactValue(text)]));

export type ChangeCounts = { readonly added: number; readonly removed: number; readonly changed: number };

/** Reads changes to their end: counts all, and collects the first `limit`. */
export async function collectChanges(
  found: AsyncIterable<Change>,
  limit: number,
): Promise<{ readonly counts: ChangeCounts; readonly changes: readonly Change[] }> {
  const counts = { added: 0, removed: 0, changed: 0 };
  const changes: Change[] = [];
  for await (const change of found) {
    counts[change.change] += 1;
    if (changes.length < limit) changes.push(change);
  }
  return { counts, changes };
}
