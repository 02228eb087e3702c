import { type JsonBytes, skipName, skipText } from '../../base/bytes/index.ts';

/** What reading a line has found so far. */
export type Reading = {
  json: JsonBytes;
  /** Becomes false when something does not fit. */
  fits: boolean;
  /** Becomes true when an object has two members of one name. */
  repeats: boolean;
  /** Behind the colon of the name that was read last. */
  behindName: number;
};

export type Names = {
  readonly quoted: readonly QuotedName[];
  readonly indexes: ReadonlyMap<string, number>;
};

/** A name in its quotes, with its colon: four bytes at a time, the last of which may be those of the last but one too. */
type QuotedName = { readonly length: number; readonly words: readonly number[]; readonly last: number };

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

/** Right before its colon and its value, which is then `lengthOf` behind. If false, it may be there with space. */
export function isNameAt(names: Names, index: number, { bytes, view }: JsonBytes, at: number): boolean {
  const name = names.quoted[index];
  if (name === undefined || at + name.length >= bytes.length) return false;
  const { words, length, last } = name;
  if (view.getInt32(at + length - 4, true) !== last) return false;
  for (let word = 0; word < words.length; word += 1)
    if (view.getInt32(at + 4 * word, true) !== words[word]) return false;
  return (bytes[at + length] ?? 0) > 0x20;
}

export const lengthOf = ({ quoted }: Names, index: number): number => quoted[index]?.length ?? 0;

/** Reads a member's name, and returns which of the names it is; -1 if it is none. Its value is at `behindName`. */
export function findName({ indexes }: Names, reading: Reading, at: number): number {
  const name = readName(reading, at);
  return name === undefined ? -1 : (indexes.get(name) ?? -1);
}

/** Reads a member's name; undefined for one that UTF-8 cannot express. Its value is at `behindName`. */
export function readName(reading: Reading, at: number): string | undefined {
  reading.behindName = skipName(reading.json, at);
  const name = nameAt(reading.json, at);
  return name.isWellFormed() ? name : undefined;
}

/** The name of the member whose name's quote is at `at`. */
export function nameAt(json: JsonBytes, at: number): string {
  const text = json.bytes.toString('utf8', at, skipText(json, at));
  return text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1);
}
