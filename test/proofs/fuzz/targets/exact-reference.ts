export type LeafKind = 'text' | 'number' | 'word';

/** Converts a text, a number, or `true`, `false` or `null`, given its characters in the source. */
export type LeafOf = (kind: LeafKind, source: string) => unknown;

const comparableLeaf: LeafOf = (kind, source) =>
  kind === 'text' ? leafOf(unescaped(source)) : kind === 'number' ? leafOf(numberOf(source)) : source;

/**
 * The value as JavaScript's own parser reads it; undefined for invalid JSON. Every leaf is a text in comparable
 * form, or what `leaf` returns. Objects are maps.
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

/** The text of a JSON string literal. */
export const unescaped = (quoted: string): string => JSON.parse(quoted);

/** The digits of an integer; any other number as a double, since no more precision is promised. */
const numberOf = (source: string): string => (/^-?\d+$/.test(source) ? source : String(Number(source)));

/** The comparable form of a string or number: an id is the same as a number, as a string, or with leading zeros. */
const leafOf = (text: string): string => (/^-?\d{1,64}$/.test(text) ? String(BigInt(text)) : text);

/** The comparable form of a value that was read. */
export function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value === 'number' && Number.isInteger(value)) return leafOf(String(value));
  if (typeof value !== 'object' || value === null) return leafOf(String(value));
  return new Map(Object.entries(value).map(([name, each]) => [name, comparable(each)]));
}

/** Decodes bytes (one character each) as UTF-8; undefined if they are not valid UTF-8. */
export function decoded(body: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(body, 'latin1'));
  } catch {
    return undefined;
  }
}
