import { ExactNumber, parseExact } from '../../base/index.ts';
import { exactFields, isBeyondLimits } from './deep-lines.ts';
import { type Line, lineOf } from './line-reader.ts';

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

type AsText<C> = C extends unknown ? { readonly [M in keyof C]: C[M] extends Buffer ? string : C[M] } : never;

/** The same with its lines as text. */
export type Change = AsText<LineChange>;

/** The change of a record from one run to another; undefined if it did not change, or is in neither. */
export function changeOf(
  key: string,
  before: Line | undefined,
  after: Line | undefined,
  differing: (before: Line, after: Line) => readonly string[],
): LineChange | undefined {
  if (before === undefined)
    return after === undefined ? undefined : { change: 'added', key, after: bytesOf(after) };
  if (after === undefined) return { change: 'removed', key, before: bytesOf(before) };
  const fields = differing(before, after);
  if (fields.length === 0) return undefined;
  return { change: 'changed', key, before: bytesOf(before), after: bytesOf(after), fields };
}

const bytesOf = ({ json, start, end }: Line): Buffer => json.bytes.subarray(start, end);

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

/**
 * The fields of a record by name, with exact numbers; a line that is not an object has none. Fields beyond the limits are
 * their text.
 */
export function fieldsOf(line: string): ReadonlyMap<string, unknown> {
  if (isBeyondLimits(line)) return exactFields(lineOf(Buffer.from(line)));
  const record = parseExact(line);
  const isObject = typeof record === 'object' && record !== null && !(record instanceof ExactNumber);
  return new Map(isObject ? Object.entries(record) : []);
}
