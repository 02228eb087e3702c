import { analyse } from 'chardet';
import { RowsError } from './rows-error.ts';

/** Bytes of a source that its encoding is found by. */
export const SAMPLE_BYTES = 256 * 1024;

/** An encoding by the name that `TextDecoder` gives it, and the length of the mark that the bytes begin with. */
export type Encoding = { readonly name: string; readonly markBytes: number };

const MARKS: readonly (Encoding & { readonly mark: readonly number[] })[] = [
  { name: 'utf-8', markBytes: 3, mark: [0xef, 0xbb, 0xbf] },
  { name: 'utf-16le', markBytes: 2, mark: [0xff, 0xfe] },
  { name: 'utf-16be', markBytes: 2, mark: [0xfe, 0xff] },
];

/**
 * The encoding of a source: the one that was asked for, else that of its byte order mark, else UTF-8 if most of what
 * is not ASCII is valid UTF-8, else the likeliest by the frequency of its bytes.
 */
export function findEncoding(sample: Uint8Array, asked?: string): Encoding {
  const marked = MARKS.find(({ mark }) => mark.every((byte, index) => sample[index] === byte));
  const name = asked === undefined ? (marked?.name ?? guess(sample)) : nameOf(asked);
  return { name, markBytes: marked?.name === name ? marked.markBytes : 0 };
}

function nameOf(asked: string): string {
  const name = supported(asked);
  if (name !== undefined) return name;
  const expected = 'an encoding such as utf-8, utf-16le or windows-1252';
  throw new RowsError({ kind: 'option', option: 'encoding', expected, got: JSON.stringify(asked) });
}

function supported(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

const FALLBACK = 'windows-1252';

function guess(sample: Uint8Array): string {
  if (isMostlyUtf8(sample)) return 'utf-8';
  const [likeliest] = analyse(sample)
    .filter(({ name }) => !/^(ASCII|UTF-)/.test(name))
    // Short Western texts are often taken for Baltic ones.
    .map(({ name, confidence }) => ({ name, weight: name === 'windows-1257' ? confidence / 3 : confidence }))
    .sort((a, b) => b.weight - a.weight);
  return supported(likeliest?.name ?? FALLBACK) ?? FALLBACK;
}

/** False where as many bytes are broken as characters are valid: other encodings make valid ones by chance, but few. */
function isMostlyUtf8(sample: Uint8Array): boolean {
  // As a stream, so that a character which the end of the sample cuts is not a broken one.
  const text = new TextDecoder().decode(sample, { stream: true });
  const broken = text.match(/\uFFFD/g)?.length ?? 0;
  if (broken === 0 || isUtf8(sample)) return true;
  return (text.match(/[\u0080-\uFFFC]/g)?.length ?? 0) > broken;
}

/** U+FFFD may also stand there as a character. */
function isUtf8(sample: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(sample, { stream: true });
    return true;
  } catch {
    return false;
  }
}
