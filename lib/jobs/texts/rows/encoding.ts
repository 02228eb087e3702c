import { analyse } from 'chardet';
import { notRows, RowsError } from './rows-error.ts';

/** An encoding by its name in `TextDecoder`, and the length of the byte order mark, 0 if there is none. */
export type Encoding = { readonly name: string; readonly markBytes: number };

const MARKS: readonly (Encoding & { readonly mark: readonly number[] })[] = [
  { name: 'utf-8', markBytes: 3, mark: [0xef, 0xbb, 0xbf] },
  { name: 'utf-16le', markBytes: 2, mark: [0xff, 0xfe] },
  { name: 'utf-16be', markBytes: 2, mark: [0xfe, 0xff] },
];

/**
 * The encoding of a source: the requested one, otherwise that of its byte order mark, otherwise UTF-16 if it holds zero
 * bytes, UTF-8 if most of its non-ASCII content is valid UTF-8, and the likeliest by byte frequency if not. Throws
 * `RowsError` for an unknown encoding, and for zero bytes that are not UTF-16.
 */
export function findEncoding(sample: Uint8Array, requested?: string): Encoding {
  const marked = MARKS.find(({ mark }) => mark.every((byte, index) => sample[index] === byte));
  const name = requested === undefined ? (marked?.name ?? guess(sample)) : supported(requested);
  if (name === undefined)
    throw new RowsError(
      'option',
      `encoding: expected an encoding such as utf-8, utf-16le or windows-1252, got ${JSON.stringify(requested)}`,
    );
  return { name, markBytes: marked?.name === name ? marked.markBytes : 0 };
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
  if (sample.includes(0)) return unmarkedUtf16(sample);
  if (isMostlyUtf8(sample)) return 'utf-8';
  const [likeliest] = analyse(sample)
    .filter(({ name }) => !/ASCII|UTF-/.test(name))
    // Short Western texts are often mistaken for Baltic ones.
    .map(({ name, confidence }) => ({ name, weight: name === 'windows-1257' ? confidence / 3 : confidence }))
    .sort((a, b) => b.weight - a.weight);
  return supported(likeliest?.name ?? FALLBACK) ?? FALLBACK;
}

/** False if there are at least as many broken bytes as valid characters: other encodings are rarely valid by chance. */
function isMostlyUtf8(sample: Uint8Array): boolean {
  if (decoded(sample, 'utf-8') !== undefined) return true;
  const text = new TextDecoder().decode(sample, { stream: true });
  const broken = text.match(/\uFFFD/g)?.length ?? 0;
  return (text.match(/[\u0080-\uFFFC]/g)?.length ?? 0) > broken;
}

/** The sample as text, whose last character may be cut off; undefined if it is none in this encoding. */
function decoded(sample: Uint8Array, name: string): string | undefined {
  try {
    return new TextDecoder(name, { fatal: true }).decode(sample, { stream: true });
  } catch {
    return undefined;
  }
}

/** UTF-16 without a byte order mark: of its separators and line ends, one byte is zero, which comes first in big-endian. */
function unmarkedUtf16(sample: Uint8Array): string {
  const zerosAt = (parity: number) =>
    sample.filter((byte, index) => byte === 0 && index % 2 === parity).length;
  const name = zerosAt(0) > zerosAt(1) ? 'utf-16be' : 'utf-16le';
  if (decoded(sample, name)?.includes('\0') === false) return name;
  throw notRows('zero bytes, which no text has: if it is one, name its encoding by --encoding');
}
