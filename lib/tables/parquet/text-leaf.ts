import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js';
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js';
import type { JsonBytes } from '../../snapshot/page/json-bytes.ts';
import type { EncodedValues, Leaf, LeafPlace } from './leaf.ts';
import { addLevels, noLevels } from './levels.ts';
import { addText, clearTexts, hashOf, noTexts, plainAt, type Texts, textAt } from './texts.ts';

/** A leaf of texts. */
export type TextLeaf = Leaf & {
  /** Adds the text that is from `start` up to `end`; `hash` is `hashOf` it. */
  add(repetition: number, source: JsonBytes, start: number, end: number, hash: number): void;
  /** Adds a text in UTF-8. */
  addText(repetition: number, text: Buffer): void;
};

/** A longer text is no bound: bounds stay in memory to the end of the file. */
const LONGEST_BOUND = 4_096;

export function createTextLeaf(place: LeafPlace): TextLeaf {
  const levels = noLevels();
  const texts = noTexts();
  const mark = { places: 0, texts: 0, plainBytes: 0 };
  return {
    ...place,
    type: 'BYTE_ARRAY',
    levels,
    add(repetition, source, start, end, hash) {
      addLevels(levels, repetition, place.definition);
      addText(texts, source, start, end, hash);
    },
    addText(repetition, text) {
      const source = { bytes: text, view: new DataView(text.buffer, text.byteOffset, text.length) };
      addLevels(levels, repetition, place.definition);
      addText(texts, source, 0, text.length, hashOf(source, 0, text.length));
    },
    mark() {
      mark.places = levels.count;
      mark.texts = texts.count;
      mark.plainBytes = texts.plainBytes;
    },
    rollBack() {
      levels.count = mark.places;
      // What is distinct stays: it has no index, and is a bound at most.
      texts.count = mark.texts;
      texts.plainBytes = mark.plainBytes;
    },
    clear() {
      levels.count = 0;
      clearTexts(texts);
    },
    encoded: () => encodedTexts(texts),
  };
}

/** As a dictionary where that at least halves the bytes. */
function encodedTexts(texts: Texts): EncodedValues {
  const { bytes, sizeBytes, distinct, count, plainBytes } = texts;
  const bounds = boundsOf(texts);
  const bits = Math.ceil(Math.log2(Math.max(distinct, 1)));
  if (2 * (sizeBytes + (count * bits) / 8) <= plainBytes)
    return {
      page: indexPage(texts, bits),
      dictionary: { page: bytes.subarray(0, sizeBytes), count: distinct },
      bounds,
    };
  if (texts.isEachOnce && distinct === count) return { page: bytes.subarray(0, sizeBytes), bounds };
  const page = Buffer.allocUnsafeSlow(plainBytes);
  let at = 0;
  for (let index = 0; index < count; index += 1)
    at += plainAt(texts, texts.indexes[index] ?? 0).copy(page, at);
  return { page, bounds };
}

function indexPage({ indexes, count }: Texts, bits: number): Uint8Array {
  const writer = new ByteWriter();
  writer.appendUint8(bits);
  writeRleBitPackedHybrid(writer, indexes.subarray(0, count), bits);
  return writer.getBytes();
}

function boundsOf(texts: Texts): EncodedValues['bounds'] {
  if (texts.count === 0) return undefined;
  let [min, max] = [0, 0];
  for (let index = 1; index < texts.distinct; index += 1) {
    if (isBefore(texts, index, min)) min = index;
    else if (isBefore(texts, max, index)) max = index;
  }
  const bounds = { min: textAt(texts, min), max: textAt(texts, max) };
  if (bounds.min.length > LONGEST_BOUND || bounds.max.length > LONGEST_BOUND) return undefined;
  return { min: bounds.min.toString('utf8'), max: bounds.max.toString('utf8') };
}

/** True if a distinct text comes before another one, in the order of their bytes. */
function isBefore({ bytes, view, starts }: Texts, index: number, other: number): boolean {
  const [start, otherStart] = [starts[index] ?? 0, starts[other] ?? 0];
  const [length, otherLength] = [view.getInt32(start, true), view.getInt32(otherStart, true)];
  const shorter = 4 + Math.min(length, otherLength);
  for (let at = 4; at < shorter; at += 1) {
    const [byte, otherByte] = [bytes[start + at] ?? 0, bytes[otherStart + at] ?? 0];
    if (byte !== otherByte) return byte < otherByte;
  }
  return length < otherLength;
}
