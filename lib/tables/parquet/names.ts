import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  firstItem,
  type JsonBytes,
  jsonBytesOf,
  nextItem,
  OPEN_ARRAY,
  OPEN_OBJECT,
  skipDeepValue,
  skipName,
  skipText,
} from '../../base/json/index.ts';

/** The state while reading a line. */
export type Reading = {
  json: JsonBytes;
  /** Set to false when a value does not fit its column. */
  matchesSchema: boolean;
  /** Set to true when an object has two members with the same name. */
  repeats: boolean;
  /** The index after the colon of the name that was read last. */
  afterName: number;
};

type Names = {
  readonly quoted: readonly QuotedName[];
  readonly indexes: ReadonlyMap<string, number>;
};

/** A name in quotes, with its colon, as 32-bit words. The last word may overlap the one before it. */
type QuotedName = { readonly length: number; readonly words: readonly number[]; readonly last: number };

/** Prepares names for `isNameAt` and `findName`. */
export const namesOf = (names: readonly string[]): Names => ({
  quoted: names.map(quotedName),
  indexes: new Map(names.map((name, index) => [name, index])),
});

function quotedName(name: string): QuotedName {
  const bytes = Buffer.from(`${JSON.stringify(name)}:`.padEnd(4));
  const { length } = bytes;
  const words = Array.from({ length: Math.ceil(length / 4) - 1 }, (_, index) => bytes.readInt32LE(4 * index));
  return { length, words, last: bytes.readInt32LE(length - 4) };
}

/**
 * Whether the name with this index is at `at`, directly followed by its colon and its value; the value is `lengthOf`
 * bytes later. If false, the name may still be there, with space around the colon.
 */
export function isNameAt(names: Names, index: number, { bytes, view }: JsonBytes, at: number): boolean {
  const name = names.quoted[index];
  if (name === undefined || at + name.length >= bytes.length) return false;
  const { words, length, last } = name;
  if (view.getInt32(at + length - 4, true) !== last) return false;
  for (let word = 0; word < words.length; word += 1)
    if (view.getInt32(at + 4 * word, true) !== words[word]) return false;
  return (bytes[at + length] ?? 0) > 0x20;
}

/** The bytes of the name with this index, in quotes and with its colon. */
export const lengthOf = ({ quoted }: Names, index: number): number => quoted[index]?.length ?? 0;

/** Reads a member's name, and returns its index among the names; -1 for any other name. The value is at `afterName`. */
export function findName({ indexes }: Names, reading: Reading, at: number): number {
  const name = readName(reading, at);
  return name === undefined ? -1 : (indexes.get(name) ?? -1);
}

/** Reads a member's name; undefined if it has a lone surrogate. The value is at `afterName`. */
export function readName(reading: Reading, at: number): string | undefined {
  reading.afterName = skipName(reading.json, at);
  const name = nameAt(reading.json, at);
  return name.isWellFormed() ? name : undefined;
}

/** The name of a member. `at`: the position of the name's opening quote. */
export function nameAt(json: JsonBytes, at: number): string {
  const text = json.bytes.toString('utf8', at, skipText(json, at));
  return text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1);
}

/** Values that are nested more deeply than this stay unchanged, since no column is that deep. */
const MAX_DEPTH = 64;

/**
 * Copies the object at `at`. If a name is repeated, at any depth, only the last member with the name is copied, which
 * is the one that JSON readers use. The bytes stay the same, except for space between members.
 */
export function onlyLast(
  json: JsonBytes,
  at: number,
): {
  readonly json: JsonBytes;
  /** The position of the last member of each name: from its name's opening quote up to the index after its value. */
  readonly spans: ReadonlyMap<unknown, readonly [start: number, end: number]>;
} {
  const spans = new Map<unknown, readonly [number, number]>();
  const { text } = printed(json, at, 0, spans);
  return { json: jsonBytesOf(Buffer.from(text, 'latin1')), spans };
}

/** Does the same as `onlyLast` for any value at `at`; undefined if no object in it repeats a name. */
export function withoutRepeats(json: JsonBytes, at: number): Buffer | undefined {
  const { text, repeats } = printed(json, at, 0);
  return repeats ? Buffer.from(text, 'latin1') : undefined;
}

function printed(
  json: JsonBytes,
  at: number,
  depth: number,
  spans?: Map<unknown, readonly [number, number]>,
): { readonly text: string; readonly end: number; readonly repeats: boolean } {
  const { bytes } = json;
  const isObject = bytes[at] === OPEN_OBJECT;
  if (depth === MAX_DEPTH || !(isObject || bytes[at] === OPEN_ARRAY)) {
    const end = skipDeepValue(json, at, 0);
    return { text: bytes.toString('latin1', at, end), end, repeats: false };
  }
  const close = isObject ? CLOSE_OBJECT : CLOSE_ARRAY;
  const items = new Map<unknown, string>();
  let repeats = false;
  let item = firstItem(bytes, at, close);
  while (item >= 0) {
    const valueAt = isObject ? skipName(json, item) : item;
    const { text, end, repeats: within } = printed(json, valueAt, depth + 1);
    const name = isObject ? nameAt(json, item) : items.size;
    // Deleted first, so that the name moves to the end, where its last member is.
    repeats = items.delete(name) || within || repeats;
    items.set(name, bytes.toString('latin1', item, valueAt) + text);
    spans?.set(name, [item, end]);
    item = nextItem(bytes, end, close);
  }
  const inside = [...items.values()].join(',');
  return { text: isObject ? `{${inside}}` : `[${inside}]`, end: ~item, repeats };
}
