import type { ByteWriter } from 'hyparquet-writer/src/bytewriter.js';

/** Fewer of the same value are packed bit by bit. */
const LEAST_RUN = 8;

/** The most bytes of the length of a run. */
const LENGTH_BYTES = 5;

/** How many bits the numbers up to `most` take. */
export const bitsOf = (most: number): number => 32 - Math.clz32(most);

/** Numbers of so many bits, at most 24: these, or what is in them above the lowest `shift` bits. */
type Numbers = {
  readonly values: Uint8Array | Int32Array;
  readonly count: number;
  readonly shift: number;
  readonly bits: number;
};

/** Writes numbers as Parquet's hybrid of runs of the same one and groups of eight. Returns how many bytes they take. */
export function writePackedRuns(out: ByteWriter, numbers: Numbers): number {
  const { values, count, shift, bits } = numbers;
  // Of values that make a run, at least eight follow one another: what a run takes, its values would take at least.
  out.ensure(Math.ceil(count / 8) * (bits + 2 * LENGTH_BYTES) + LENGTH_BYTES);
  const bytes = new Uint8Array(out.buffer, out.index);
  let [at, packedFrom, index] = [0, 0, 0];
  while (index < count) {
    const end = endOfRun(numbers, index);
    if (end - index < LEAST_RUN) index += 8;
    else {
      at = writeGroups(bytes, at, { numbers, from: packedFrom, to: index });
      at = writeNumber(bytes, at, 2 * (end - index));
      const value = ((values[index] ?? 0) >> shift) & maskOf(bits);
      for (let byte = 0; byte < bits; byte += 8, at += 1) bytes[at] = value >> byte;
      index = end;
      packedFrom = end;
    }
  }
  at = writeGroups(bytes, at, { numbers, from: packedFrom, to: index });
  out.index += at;
  out.offset += at;
  return at;
}

const maskOf = (bits: number): number => (1 << bits) - 1;

function endOfRun({ values, count, shift, bits }: Numbers, start: number): number {
  const mask = maskOf(bits) << shift;
  const value = (values[start] ?? 0) & mask;
  let end = start + 1;
  while (end < count && ((values[end] ?? 0) & mask) === value) end += 1;
  return end;
}

type Groups = { readonly numbers: Numbers; readonly from: number; readonly to: number };

/** Whole groups: what is missing at the end of the numbers is 0. */
function writeGroups(bytes: Uint8Array, start: number, { numbers, from, to }: Groups): number {
  if (from === to) return start;
  const { values, count, shift, bits } = numbers;
  const mask = maskOf(bits);
  let at = writeNumber(bytes, start, ((to - from) >> 2) | 1);
  let [pending, pendingBits] = [0, 0];
  for (let index = from; index < to; index += 1) {
    const value = index < count ? ((values[index] ?? 0) >> shift) & mask : 0;
    pending |= value << pendingBits;
    pendingBits += bits;
    while (pendingBits >= 8) {
      bytes[at] = pending;
      at += 1;
      pending >>>= 8;
      pendingBits -= 8;
    }
  }
  return at;
}

/** Seven bits a byte, the lowest first. */
function writeNumber(bytes: Uint8Array, start: number, value: number): number {
  let [at, left] = [start, value];
  for (; left > 0x7f; left >>>= 7) {
    bytes[at] = left | 0x80;
    at += 1;
  }
  bytes[at] = left;
  return at + 1;
}
