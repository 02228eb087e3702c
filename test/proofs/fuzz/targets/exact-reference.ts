export type LeafKind = 'text' | 'number' | 'word';

/** What stands for a text, a number, or `true`, `false` and `null`, by its characters as they were sent. */
export type LeafOf = (kind: LeafKind, source: string) => unknown;

const comparableLeaf: LeafOf = (kind, source) =>
  kind === 'text' ? leafOf(unescaped(source)) : kind === 'number' ? leafOf(numberOf(source)) : source;

/**
 * The value as JavaScript's own parser reads it, with every leaf as text so that two readings of it can be compared, or
 * as `leaf` makes it; undefined if it is no JSON. Objects are maps.
 */
export function exactReference(text: string, leaf: LeafOf = comparableLeaf): unknown {
  try {
    return JSON.parse(text, (_name, value, { source = '' }) => {
      if (Array.isArray(value)) return value;
      if (typeof value === 'object' && value !== null) return new Map(Object.entries(value));
      return leaf(typeof value === 'string' ? 'text' : typeof value === 'number' ? 'number' : 'word', source);
    });
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The text of a string with its quotes. */
export const unescaped = (quoted: string): string => JSON.parse(quoted);

/** An integer by its digits; any other number as a double, which is all that is promised of it. */
const numberOf = (source: string): string => (/^-?\d+$/.test(source) ? source : String(Number(source)));

/** A string or number in the form that is compared: an id as a number, as a string, or with leading zeros is the same. */
const leafOf = (text: string): string => (/^-?\d{1,64}$/.test(text) ? String(BigInt(text)) : text);

/** A value that was read, in the same form. */
export function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value === 'number' && Number.isInteger(value)) return leafOf(String(value));
  if (typeof value !== 'object' || value === null) return leafOf(String(value));
  return new Map(Object.entries(value).map(([name, each]) => [name, comparable(each)]));
}

/** Bytes as text, one character a byte, read as UTF-8; undefined if they are not. */
export function decoded(body: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(body, 'latin1'));
  } catch {
    return undefined;
  }
}
