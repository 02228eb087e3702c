/** The random numbers of one record. */
export type Random = ReturnType<typeof randomFor>;

/** The items of a list that is written as one string, separated by `|`; a line may end after a `|`. */
export function itemsOf({ raw }: TemplateStringsArray): readonly string[] {
  return raw.join('').split(/\|\s*/);
}

/**
 * Creates the random numbers of one record: the same seed, stream and index always give the same numbers, in whatever
 * order records are generated. The generator is mulberry32 (Tommy Ettinger, public domain).
 */
export function randomFor(seed: number, stream: string, index = 0) {
  let state = mix(mix(streamHash(stream) ^ seed) + Math.imul(index, 0x9e3779b1)) | 0;
  const bits = () => {
    state = (state + 0x6d2b79f5) | 0;
    let word = Math.imul(state ^ (state >>> 15), 1 | state);
    word = (word + Math.imul(word ^ (word >>> 7), 61 | word)) ^ word;
    return (word ^ (word >>> 14)) >>> 0;
  };
  const next = () => bits() / 4_294_967_296;
  const below = (bound: number) => Math.floor(next() * bound);
  const hex = (digits: number) => {
    let text = '';
    while (text.length < digits) {
      const word = bits();
      text += hexByte(word >>> 24) + hexByte(word >>> 16) + hexByte(word >>> 8) + hexByte(word);
    }
    return text.slice(0, digits);
  };
  return {
    /** A number from 0 to 1, never 1 itself. */
    next,
    /** A whole number from 0 to `bound - 1`. */
    below,
    /** True with this probability. */
    chance: (probability: number) => next() < probability,
    /** Draws an item of a list. Throws `RangeError` if the list is empty. */
    pick: <T>(list: readonly T[]): T => pickFrom(list, below(list.length)),
    /** This many hexadecimal digits, in lower case. */
    hex,
    uuid() {
      const digits = hex(32);
      const variant = '89ab'.charAt(below(4));
      return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-${variant}${digits.slice(17, 20)}-${digits.slice(20)}`;
    },
  };
}

/**
 * Draws a single number from 0 to 1, never 1 itself: the same for the same seed, stream and index. It is faster than
 * `randomFor`, and returns another number than the first one from `randomFor`.
 */
export function drawFor(seed: number, stream: string, index: number): number {
  return (mix(mix(streamHash(stream) ^ seed) + Math.imul(index, 0x9e3779b1)) >>> 0) / 4_294_967_296;
}

function pickFrom<T>(list: readonly T[], index: number): T {
  const picked = list[index];
  if (picked === undefined && list.length === 0) throw new RangeError('expected a list that is not empty');
  return picked as T;
}

/** The finalizer of MurmurHash3: spreads neighbouring keys over all 32 bits. */
function mix(word: number): number {
  let mixed = word | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

const HEX_BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
const hexByte = (word: number) => HEX_BYTES[word & 255] ?? '';

/** The hashes are cached: there are few streams, but many draws. */
const hashes = new Map<string, number>();

function streamHash(stream: string): number {
  let hash = hashes.get(stream);
  if (hash === undefined) {
    hash = hashString(stream);
    hashes.set(stream, hash);
  }
  return hash;
}

/** The FNV-1a hash over UTF-16 code units. */
function hashString(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash;
}

/**
 * The earliest creation time of a seeded record. It is fixed, so that the same seed gives the same bytes on any day.
 */
export const SEEDED_FROM_MS = Date.UTC(2019, 0, 7, 8);

/** The end of the creation times of seeded records. */
export const SEEDED_UNTIL_MS = Date.UTC(2026, 5, 1);
