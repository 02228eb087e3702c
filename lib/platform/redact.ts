import type { Hide } from '../base/index.ts';

/** So many characters of a secret in a row are hidden, and a shorter secret as a whole. */
export const SHORTEST_RUN = 8;

/** Removes a token from what somebody else wrote, such as an error body that echoes a header. */
export function redact(text: string, token: string): string {
  if (last.token !== token) last = { token, hide: createHide([token], '[token]') };
  return last.hide(text);
}

/** A process has one token at a time. */
let last: { readonly token: string; readonly hide: Hide } = { token: '', hide: (text) => text };

/**
 * Puts `mark` for each run of `SHORTEST_RUN` or more characters of a secret: as they are, in other letter case, with any
 * of them encoded as in an address, in HTML or in JSON, in hex, and in base64, also within a longer text that was
 * encoded. Takes less than a microsecond a character.
 */
export function createHide(secrets: readonly string[], mark: string): Hide {
  const pieces = piecesOf(secrets);
  return (text) => {
    const at = Array.from({ length: text.length + 1 }, (_, index) => index);
    const found = findPieces({ text, at }, pieces, MOST_NESTED);
    return found.length === 0 ? text : replaceAll(text, found, mark);
  };
}

/** How often a text may have been encoded, one encoding in another, beside hex or base64. */
const MOST_NESTED = 2;

/** The shortest runs of the secrets in their forms, by length. */
function piecesOf(secrets: readonly string[]): ReadonlyMap<number, ReadonlySet<string>> {
  const pieces = new Map<number, Set<string>>();
  for (const { form, length } of secrets.flatMap(formsOf)) {
    const some = pieces.get(length) ?? new Set();
    pieces.set(length, some);
    for (let start = 0; start + length <= form.length; start += 1)
      some.add(form.slice(start, start + length));
  }
  return pieces;
}

/**
 * As it is, in hex, and in base64: there three bytes make four characters, so a secret reads differently by how many
 * bytes are before it. The characters at either end also depend on the neighbouring bytes, and are left.
 */
function formsOf(secret: string): readonly { readonly form: string; readonly length: number }[] {
  const plain = { form: folded(secret), length: Math.min(SHORTEST_RUN, secret.length) };
  if (secret.length < SHORTEST_RUN) return secret === '' ? [] : [plain];
  const bytes = Buffer.from(secret);
  const shifted = [0, 1, 2].map((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return whole.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  return [
    plain,
    { form: bytes.toString('hex'), length: 2 * SHORTEST_RUN },
    // So many characters are whole in any run, whatever is before it.
    ...shifted.map((form) => ({ form: folded(form), length: Math.floor((SHORTEST_RUN * 8 - 4) / 6) })),
  ];
}

/** One for both letter cases, and for both alphabets of base64. As long as the text. */
const folded = (text: string): string =>
  text
    .replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
    .replaceAll('-', '+')
    .replaceAll('_', '/');

/** A part of the text that was given. */
type Span = readonly [start: number, end: number];

/** `at`: where in the text that was given each character begins, and where the last one ends. */
type Decoded = { readonly text: string; readonly at: readonly number[] };

function findPieces(given: Decoded, pieces: ReturnType<typeof piecesOf>, nested: number): readonly Span[] {
  const { text, at } = given;
  const found: Span[] = [];
  const searched = folded(text);
  for (const [length, some] of pieces)
    for (let start = 0; start + length <= text.length; start += 1)
      if (some.has(searched.slice(start, start + length)))
        found.push([at[start] ?? 0, at[start + length] ?? 0]);
  const encodings = nested === 0 ? [] : ENCODINGS.filter(({ lead }) => text.includes(lead));
  const within = encodings.map(({ units }) => findPieces(decode(given, units), pieces, nested - 1));
  return [found, ...within].flat();
}

/** Of an address, of JSON and of HTML: a character as it is encoded there, or any other. */
const ENCODINGS = [
  { lead: '%', units: /%(?<hex>[0-9a-f]{2})|[\s\S]/gi },
  { lead: '\\', units: /\\(?:u00|x)(?<hex>[0-9a-f]{2})|\\?[\s\S]/gi },
  { lead: '&', units: /&#x0*(?<hex>[0-9a-f]{2});?|&#0*(?<decimal>\d{2,3});?|&(?<name>\w{2,6});|[\s\S]/gi },
];

function decode({ text, at }: Decoded, encoding: RegExp): Decoded {
  const units = Array.from(text.matchAll(encoding));
  return {
    text: units.map(meaning).join(''),
    at: [...units.map(({ index }) => at[index] ?? 0), at.at(-1) ?? 0],
  };
}

const NAMED = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", sol: '/', plus: '+', equals: '=' };

/** The one character that a unit is. */
function meaning({ 0: unit, groups = {} }: RegExpExecArray): string {
  const { hex, decimal, name } = groups;
  if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
  if (decimal !== undefined) return String.fromCharCode(Number(decimal));
  return (name && new Map(Object.entries(NAMED)).get(name.toLowerCase())) ?? unit.slice(-1);
}

/** One mark for all that overlap. */
function replaceAll(text: string, found: readonly Span[], mark: string): string {
  const spans: Span[] = [];
  for (const [start, end] of found.toSorted((a, b) => a[0] - b[0])) {
    const last = spans.at(-1);
    if (last === undefined || start >= last[1]) spans.push([start, end]);
    else spans[spans.length - 1] = [last[0], Math.max(last[1], end)];
  }
  const ends = [0, ...spans.map(([, end]) => end)];
  return [...spans, [text.length, 0] as const]
    .map(([start], index) => text.slice(ends[index], start))
    .join(mark);
}
