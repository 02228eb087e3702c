import type { Hide } from '../base/index.ts';

/** So many characters of a secret in a row are hidden, and a shorter secret as a whole. */
export const MIN_RUN_LENGTH = 8;

/** Removes a token from what somebody else wrote, such as an error body that echoes a header. */
export function redact(text: string, token: string): string {
  if (last.token !== token) last = { token, hide: createHide([token], '[token]') };
  return last.hide(text);
}

let last: { readonly token: string; readonly hide: Hide } = { token: '', hide: (text) => text };

/**
 * Puts `mark` for each run of `MIN_RUN_LENGTH` or more characters of a secret: as they are, in other letter case, in hex,
 * and in base64, also within a longer text that was encoded. Characters that are escaped, as in an address or in HTML,
 * are none of a run. Takes less than a microsecond a character.
 */
export function createHide(secrets: readonly string[], mark: string): Hide {
  const pieces = piecesOf(secrets);
  return (text) => {
    const searched = folded(text);
    const found: Span[] = [];
    for (let start = 0; start < text.length; start += 1)
      for (const [length, some] of pieces)
        if (some.has(searched.slice(start, start + length))) found.push([start, start + length]);
    return found.length === 0 ? text : replaceAll(text, found, mark);
  };
}

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
  const plain = { form: folded(secret), length: Math.min(MIN_RUN_LENGTH, secret.length) };
  if (secret.length < MIN_RUN_LENGTH) return secret === '' ? [] : [plain];
  const bytes = Buffer.from(secret);
  const shifted = [0, 1, 2].map((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return whole.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  return [
    plain,
    { form: bytes.toString('hex'), length: 2 * MIN_RUN_LENGTH },
    // So many characters are whole in any run, whatever is before it.
    ...shifted.map((form) => ({ form: folded(form), length: Math.floor((MIN_RUN_LENGTH * 8 - 4) / 6) })),
  ];
}

/** One for both letter cases, and for both alphabets of base64. As long as the text. */
const folded = (text: string): string =>
  text
    .replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
    .replaceAll('-', '+')
    .replaceAll('_', '/');

type Span = readonly [start: number, end: number];

/** One mark for all that overlap; they are in the order of their starts. */
function replaceAll(text: string, found: readonly Span[], mark: string): string {
  const spans: Span[] = [];
  for (const [start, end] of found) {
    const last = spans.at(-1);
    if (last === undefined || start >= last[1]) spans.push([start, end]);
    else spans[spans.length - 1] = [last[0], Math.max(last[1], end)];
  }
  const ends = [0, ...spans.map(([, end]) => end)];
  return [...spans, [text.length, 0] as const]
    .map(([start], index) => text.slice(ends[index], start))
    .join(mark);
}
