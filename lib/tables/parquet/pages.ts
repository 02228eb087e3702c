import type { ByteWriter } from 'hyparquet-writer';

/*
 * Headers of pages, and the numbers in them, in the Parquet format:
 * https://parquet.apache.org/docs/file-format/. Only files that this program wrote are read here, so only the
 * features that they use are implemented.
 */

const ENCODINGS = { PLAIN: 0, RLE_DICTIONARY: 8 } as const;
const PAGE_TYPES = { dictionary: 2, data: 3 } as const;

/**
 * Bytes in Thrift's compact protocol: before an integer that is the next field, before the struct with the header of a
 * dictionary or of a page of data, and at the end of a struct.
 */
const NEXT_INTEGER = 0x15;
const DICTIONARY_HEADER = 0x4c;
const DATA_HEADER = 0x5c;
const END = 0;

/** Writes the header that comes before a page's levels and values. */
export function writePageHeader(
  out: ByteWriter,
  /** The content of the header. A dictionary has no levels, no nulls and no rows. */
  header: {
    readonly kind: 'dictionary' | 'data';
    /** The size in bytes of levels and values together, before and after the compression of the values. */
    readonly sizeBytes: number;
    readonly packedBytes: number;
    /** The number of values in the page, including nulls. */
    readonly values: number;
    readonly nulls: number;
    readonly rows: number;
    readonly encoding: keyof typeof ENCODINGS;
    readonly definitionBytes: number;
    readonly repetitionBytes: number;
  },
): void {
  const { kind, values, nulls, rows, definitionBytes, repetitionBytes } = header;
  const encoding = ENCODINGS[header.encoding];
  writeIntegers(out, [PAGE_TYPES[kind], header.sizeBytes, header.packedBytes]);
  out.appendUint8(kind === 'dictionary' ? DICTIONARY_HEADER : DATA_HEADER);
  if (kind === 'dictionary') writeIntegers(out, [values, encoding]);
  else writeIntegers(out, [values, nulls, rows, encoding, definitionBytes, repetitionBytes]);
  out.appendUint8(END);
  out.appendUint8(END);
}

function writeIntegers(out: ByteWriter, integers: readonly number[]): void {
  for (const integer of integers) {
    out.appendUint8(NEXT_INTEGER);
    // The lowest bit is the sign; no integer here is negative.
    out.appendVarInt(integer << 1);
  }
}

/** Reads a header that `writePageHeader` wrote. `end`: the index after it. Throws `RangeError` for any other bytes. */
export function readPageHeader(bytes: Uint8Array, start: number) {
  const cursor = { bytes, at: start };
  const [type, sizeBytes = 0, packedBytes = 0] = readIntegers(cursor);
  const [values = 0, ...more] = readIntegers(cursor);
  // Plus 1 for the end of the outer struct; the end of the inner struct has been read.
  const header = { end: cursor.at + 1, sizeBytes, packedBytes, values };
  if (type === PAGE_TYPES.dictionary) return { ...header, nulls: 0, definitionBytes: 0, repetitionBytes: 0 };
  if (type !== PAGE_TYPES.data) throw new RangeError(`expected a dictionary or a page of data, got ${type}`);
  const [nulls = 0, , , definitionBytes = 0, repetitionBytes = 0] = more;
  return { ...header, nulls, definitionBytes, repetitionBytes };
}

type Cursor = { readonly bytes: Uint8Array; at: number };

/** Reads integers up to a field of another type, and the first byte of that field. */
function readIntegers(cursor: Cursor): readonly number[] {
  const found: number[] = [];
  while (cursor.bytes[cursor.at] === NEXT_INTEGER) {
    cursor.at += 1;
    found.push(readVarInt(cursor) >>> 1);
  }
  cursor.at += 1;
  return found;
}

function readVarInt(cursor: Cursor): number {
  let value = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = cursor.bytes[cursor.at];
    if (byte === undefined) throw new RangeError('expected more bytes of a page, got its end');
    cursor.at += 1;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value >>> 0;
  }
}

/** Numbers are packed in groups of this many. */
const GROUP_LENGTH = 8;

/**
 * Writes numbers of `bits` bits each, at most 24, in Parquet's encoding of levels and dictionary indexes: a sequence of
 * equal numbers as its length and the number, all other numbers packed. Returns how many bytes they take.
 */
export function writeNumbers(out: ByteWriter, numbers: ArrayLike<number>, bits: number): number {
  const start = out.offset;
  let packedFrom = 0;
  let at = 0;
  while (at < numbers.length) {
    const number = numbers[at] ?? 0;
    let end = at + 1;
    while (end < numbers.length && numbers[end] === number) end += 1;
    if (end - at < GROUP_LENGTH) at += GROUP_LENGTH;
    else {
      writePacked(out, numbers, { start: packedFrom, end: at, bits });
      out.appendVarInt((end - at) << 1);
      for (let shift = 0; shift < bits; shift += 8) out.appendUint8((number >> shift) & 0xff);
      at = end;
      packedFrom = end;
    }
  }
  writePacked(out, numbers, { start: packedFrom, end: at, bits });
  return out.offset - start;
}

/** Writes packed numbers in whole groups, with zeros after the last number. */
function writePacked(
  out: ByteWriter,
  numbers: ArrayLike<number>,
  options: { readonly start: number; readonly end: number; readonly bits: number },
): void {
  const { start, end, bits } = options;
  if (start === end) return;
  out.appendVarInt((((end - start) / GROUP_LENGTH) << 1) | 1);
  let waiting = 0;
  let waitingBits = 0;
  for (let at = start; at < end; at += 1) {
    waiting |= (numbers[at] ?? 0) << waitingBits;
    waitingBits += bits;
    for (; waitingBits >= 8; waitingBits -= 8) {
      out.appendUint8(waiting & 0xff);
      waiting >>>= 8;
    }
  }
}

/**
 * Reads numbers that `writeNumbers` wrote, from `start` on, until `numbers` is full. Throws `RangeError` if there are
 * too few.
 */
export function readNumbers(
  bytes: Uint8Array,
  start: number,
  bits: number,
  numbers: Uint8Array | Uint32Array,
): void {
  const cursor = { bytes, at: start };
  let count = 0;
  while (count < numbers.length) {
    const head = readVarInt(cursor);
    if ((head & 1) === 1) {
      const end = count + GROUP_LENGTH * (head >>> 1);
      readPacked(bytes, cursor.at, bits, numbers.subarray(count, end));
      cursor.at += (head >>> 1) * bits;
      count = end;
    } else {
      let number = 0;
      for (let shift = 0; shift < bits; shift += 8, cursor.at += 1)
        number |= (bytes[cursor.at] ?? 0) << shift;
      numbers.fill(number, count, count + (head >>> 1));
      count += head >>> 1;
    }
  }
}

function readPacked(bytes: Uint8Array, start: number, bits: number, numbers: Uint8Array | Uint32Array): void {
  const mask = (1 << bits) - 1;
  let next = start;
  let read = 0;
  let readBits = 0;
  for (let at = 0; at < numbers.length; at += 1) {
    for (; readBits < bits; readBits += 8, next += 1) read |= (bytes[next] ?? 0) << readBits;
    numbers[at] = read & mask;
    read >>>= bits;
    readBits -= bits;
  }
}
