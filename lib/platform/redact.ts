import type { Hide } from '../base/index.ts';

/** Any this many successive characters of a secret are hidden. A shorter secret is hidden as a whole. */
export const MIN_RUN_LENGTH = 8;

/** Hides a token in text from outside, such as an error body that echoes a header. */
export function redact(text: string, token: string): string {
  if (last.token !== token) last = { token, hide: createHide([token], '[token]') };
  return last.hide(text);
}

let last: { readonly token: string; readonly hide: Hide } = { token: '', hide: (text) => text };

/**
 * Creates a function that replaces any `MIN_RUN_LENGTH` or more successive characters of a secret with `mark`. It also
 * finds them in other letter case, in hex, and in base64, even if the secret was encoded together with other text. It
 * does not see through escaped characters, as in a URL or in HTML. Takes less than a microsecond for a character.
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
 * The forms in which a secret is found: unchanged, in hex, and in base64. In base64, three bytes become four
 * characters, so a secret has three forms, which depend on the number of bytes before it. The characters at both
 * ends also depend on neighbouring bytes, so they are left out.
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
    // The length is the number of complete characters of a run, whatever comes before it.
    ...shifted.map((form) => ({ form: folded(form), length: Math.floor((MIN_RUN_LENGTH * 8 - 4) / 6) })),
  ];
}

/** The string in lower case, and in one of the two alphabets of base64. The length stays the same. */
const folded = (text: string): string =>
  text
    .replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
    .replaceAll('-', '+')
    .replaceAll('_', '/');

type Span = readonly [start: number, end: number];

/** Replaces spans, which are sorted by their starts, with `mark`; spans that overlap share one mark. */
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
