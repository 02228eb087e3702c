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
  let min = textAt(texts, 0);
  let max = min;
  for (let index = 1; index < texts.distinct; index += 1) {
    const text = textAt(texts, index);
    if (text.compare(min) < 0) min = text;
    else if (text.compare(max) > 0) max = text;
  }
  if (min.length > LONGEST_BOUND || max.length > LONGEST_BOUND) return undefined;
  return { min: min.toString('utf8'), max: max.toString('utf8') };
}
