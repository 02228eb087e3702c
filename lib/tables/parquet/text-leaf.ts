import type { ByteWriter } from 'hyparquet-writer/src/bytewriter.js';
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js';
import type { JsonBytes } from '../../snapshot/page/json-bytes.ts';
import {
  addLevels,
  bitsOf,
  type EncodedValues,
  type Leaf,
  type LeafPlace,
  type Levels,
  noLevels,
  takeBack,
} from './leaf.ts';
import {
  addQuoted,
  addText,
  clearTexts,
  hashOf,
  noTexts,
  plainAt,
  rollBackTexts,
  type Texts,
  textAt,
} from './texts.ts';

/** The texts of a leaf, and their places. */
export type TextColumn = {
  readonly levels: Levels;
  /** The level of a text. */
  readonly definition: number;
  readonly texts: Texts;
};

/** A longer text is no bound: bounds stay in memory to the end of the file. */
const LONGEST_BOUND = 4_096;

/** A leaf of texts. */
export function createTextLeaf(place: LeafPlace): Leaf & { readonly column: TextColumn } {
  const levels = noLevels();
  const texts = noTexts();
  return {
    ...place,
    type: 'BYTE_ARRAY',
    levels,
    column: { levels, definition: place.definition, texts },
    rollBack: (places) => rollBackTexts(texts, texts.count - takeBack(levels, places, place.definition)),
    clear() {
      levels.count = 0;
      clearTexts(texts);
    },
    encoded: (memory) => encodedTexts(texts, memory),
  };
}

/** Adds the text that is from `start` up to `end`. Returns a hash of it. */
export function addSpan(
  { levels, definition, texts }: TextColumn,
  repetition: number,
  source: JsonBytes,
  start: number,
  end: number,
): number {
  const hash = hashOf(source, start, end);
  addLevels(levels, repetition, definition);
  addText(texts, source, start, end, hash);
  return hash;
}

/** Adds a text in UTF-8. */
export const addUtf8 = (column: TextColumn, repetition: number, text: Buffer): number =>
  addSpan(column, repetition, jsonBytesOf(text), 0, text.length);

export const jsonBytesOf = (bytes: Buffer): JsonBytes => ({
  bytes,
  view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length),
});

/** Adds the string that begins at `start`, behind its quote, as `addQuoted` does. */
export function addString(
  { levels, definition, texts }: TextColumn,
  repetition: number,
  source: JsonBytes,
  start: number,
): number {
  const end = addQuoted(texts, source, start);
  if (end !== -1) addLevels(levels, repetition, definition);
  return end;
}

/** As a dictionary where that at least halves the bytes. */
function encodedTexts(texts: Texts, memory: ByteWriter): EncodedValues {
  const { bytes, sizeBytes, distinct, count, plainBytes } = texts;
  const bounds = boundsOf(texts);
  const bits = bitsOf(Math.max(distinct, 1) - 1);
  if (2 * (sizeBytes + (count * bits) / 8) <= plainBytes)
    return {
      count,
      page: indexPage(texts, bits, memory),
      dictionary: { page: bytes.subarray(0, sizeBytes), count: distinct },
      bounds,
    };
  if (texts.isEachOnce && distinct === count) return { count, page: bytes.subarray(0, sizeBytes), bounds };
  memory.ensure(plainBytes);
  for (let index = 0; index < count; index += 1)
    memory.appendBytes(plainAt(texts, texts.indexes[index] ?? 0));
  return { count, page: memory.getBytes(), bounds };
}

function indexPage({ indexes, count }: Texts, bits: number, memory: ByteWriter): Uint8Array {
  memory.appendUint8(bits);
  writeRleBitPackedHybrid(memory, indexes.subarray(0, count), bits);
  return memory.getBytes();
}

/** The distinct texts that come before and after all others, in the order of their bytes. */
function boundsOf(texts: Texts): EncodedValues['bounds'] {
  if (texts.count === 0) return undefined;
  let [first, last] = [0, 0];
  let firstPrefix = prefixAt(texts, 0);
  let lastPrefix = firstPrefix;
  for (let index = 1; index < texts.distinct; index += 1) {
    const prefix = prefixAt(texts, index);
    if (prefix < firstPrefix || (prefix === firstPrefix && isBefore(texts, index, first)))
      [first, firstPrefix] = [index, prefix];
    else if (prefix > lastPrefix || (prefix === lastPrefix && isBefore(texts, last, index)))
      [last, lastPrefix] = [index, prefix];
  }
  const [min, max] = [textAt(texts, first), textAt(texts, last)];
  if (min.length > LONGEST_BOUND || max.length > LONGEST_BOUND) return undefined;
  return { min: min.toString('utf8'), max: max.toString('utf8') };
}

/** The first four bytes of a distinct text as a number: that of an earlier text is not above that of a later one. */
function prefixAt({ bytes, view, starts }: Texts, index: number): number {
  const start = starts[index] ?? 0;
  const length = view.getInt32(start, true);
  if (length >= 4) return view.getUint32(start + 4);
  let prefix = 0;
  for (let at = 0; at < 4; at += 1) prefix = 256 * prefix + (at < length ? (bytes[start + 4 + at] ?? 0) : 0);
  return prefix;
}

/** True if a distinct text comes before another one. */
function isBefore({ bytes, view, starts }: Texts, index: number, other: number): boolean {
  const start = starts[index] ?? 0;
  const otherStart = starts[other] ?? 0;
  const length = view.getInt32(start, true);
  const otherLength = view.getInt32(otherStart, true);
  const end = 4 + Math.min(length, otherLength);
  let at = 4;
  while (at + 4 <= end && view.getInt32(start + at) === view.getInt32(otherStart + at)) at += 4;
  for (; at < end; at += 1) {
    const byte = bytes[start + at] ?? 0;
    const otherByte = bytes[otherStart + at] ?? 0;
    if (byte !== otherByte) return byte < otherByte;
  }
  return length < otherLength;
}
