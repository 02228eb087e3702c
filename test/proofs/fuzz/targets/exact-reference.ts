/*
 * A JSON parser that shares nothing with the one under test: a character at a time, as RFC 8259 says. Of members with
 * the same name the last one counts, as everywhere in JavaScript.
 */

export type LeafKind = 'text' | 'number' | 'word';

/** What stands for a text, a number, or `true`, `false` and `null`, by its characters as they were sent. */
export type LeafOf = (kind: LeafKind, source: string) => unknown;

const comparableLeaf: LeafOf = (kind, source) =>
  kind === 'text' ? leafOf(unescaped(source)) : kind === 'number' ? leafOf(numberOf(source)) : source;

/**
 * The value, with every leaf as text so that two readings of it can be compared, or as `leaf` makes it; undefined if it
 * is no JSON. Objects are maps.
 */
export function exactReference(text: string, leaf: LeafOf = comparableLeaf): unknown {
  let at = 0;
  const space = () => {
    while (' \t\n\r'.includes(text.charAt(at)) && at < text.length) at += 1;
  };
  const take = (expected: string) => {
    if (!text.startsWith(expected, at)) throw new NotJsonError();
    at += expected.length;
  };
  const word = (name: string): unknown => {
    take(name);
    return leaf('word', name);
  };
  const matched = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const [found] = pattern.exec(text) ?? [];
    if (found === undefined) throw new NotJsonError();
    at += found.length;
    return found;
  };
  const list = (open: string, close: string, item: () => void): void => {
    take(open);
    space();
    while (text.charAt(at) !== close) {
      item();
      space();
      if (text.charAt(at) === close) break;
      take(',');
      space();
      if (text.charAt(at) === close) throw new NotJsonError();
    }
    take(close);
  };
  const array = (): unknown => {
    const items: unknown[] = [];
    list('[', ']', () => items.push(value()));
    return items;
  };
  const object = (): unknown => {
    const members = new Map<string, unknown>();
    list('{', '}', () => {
      const name = unescaped(matched(STRING));
      space();
      take(':');
      members.set(name, value());
    });
    return members;
  };
  const value = (): unknown => {
    space();
    const first = text.charAt(at);
    if (first === '{') return object();
    if (first === '[') return array();
    if (first === '"') return leaf('text', matched(STRING));
    if (first === 't' || first === 'f') return word(first === 't' ? 'true' : 'false');
    return first === 'n' ? word('null') : leaf('number', matched(NUMBER));
  };
  try {
    const whole = value();
    space();
    return at === text.length ? whole : undefined;
  } catch (error) {
    if (error instanceof NotJsonError) return undefined;
    throw error;
  }
}

class NotJsonError extends Error {}

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids exactly these in strings.
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ...(['"', '\\', '/'] as const).map((each) => [each, each] as const),
  ...[
    ['b', '\b'] as const,
    ['f', '\f'] as const,
    ['n', '\n'] as const,
    ['r', '\r'] as const,
    ['t', '\t'] as const,
  ],
]);

/** The text of a string with its quotes. */
export const unescaped = (quoted: string): string =>
  quoted
    .slice(1, -1)
    .replaceAll(/\\(?:u(....)|(.))/g, (_, code?: string, other = '') =>
      code === undefined ? (ESCAPES.get(other) ?? '') : String.fromCharCode(Number.parseInt(code, 16)),
    );

/** An integer by its digits; any other number as a double, which is all that is promised of it. */
const numberOf = (source: string): string => (/^-?\d+$/.test(source) ? source : String(Number(source)));

/** A text or number as it is compared: an id is the same as a number, as text, and with zeros before it. */
const leafOf = (text: string): string => (/^-?\d{1,64}$/.test(text) ? String(BigInt(text)) : text);

/** A value that was read, in the same form. */
export function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value === 'number' && Number.isInteger(value)) return leafOf(String(value));
  if (typeof value !== 'object' || value === null) return leafOf(String(value));
  return new Map(Object.entries(value).map(([name, each]) => [name, comparable(each)]));
}
