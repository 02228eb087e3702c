import type { ByteWriter } from 'hyparquet-writer';
import { type JsonBytes, jsonBytesOf } from '../../base/bytes/index.ts';
import {
  addLevels,
  bitsOf,
  dropPlaces,
  type EncodedValues,
  type Leaf,
  type LeafPlace,
  type Levels,
  noLevels,
} from './leaf.ts';
import { writeNumbers } from './pages.ts';
import {
  addQuoted,
  addText,
  addWaiting,
  clearTexts,
  dropTexts,
  hashOf,
  noTexts,
  plainAt,
  type Texts,
} from './texts.ts';

export type TextColumn = {
  readonly levels: Levels;
  readonly definition: number;
  readonly texts: Texts;
};

export type TextLeaf = Leaf & { readonly column: TextColumn };

export function createTextLeaf(place: LeafPlace): TextLeaf {
  const levels = noLevels();
  const texts = noTexts();
  return {
    ...place,
    type: 'BYTE_ARRAY',
    levels,
    column: { levels, definition: place.definition, texts },
    clear() {
      levels.count = 0;
      clearTexts(texts);
    },
    dropRow() {
      addWaiting(texts);
      dropTexts(texts, dropPlaces(levels, place.definition));
    },
    encoded: (memory) => encodedTexts(texts, memory),
  };
}

export function addSpan(
  { levels, definition, texts }: TextColumn,
  repetition: number,
  source: JsonBytes,
  start: number,
  end: number,
  hash = hashOf(source, start, end),
): void {
  addLevels(levels, repetition, definition);
  addWaiting(texts);
  addText(texts, source, start, end, hash);
}

export const addUtf8 = (column: TextColumn, repetition: number, text: Buffer): void =>
  addSpan(column, repetition, jsonBytesOf(text), 0, text.length);

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

/** As a dictionary where that takes fewer bytes. */
function encodedTexts(texts: Texts, memory: ByteWriter): EncodedValues {
  const { bytes, sizeBytes, distinct, count, plainBytes, hasDropped } = texts;
  const bits = bitsOf(Math.max(distinct, 1) - 1);
  if (sizeBytes + (count * bits) / 8 <= plainBytes)
    return {
      count,
      page: indexPage(texts, bits, memory),
      dictionary: { page: bytes.subarray(0, sizeBytes), count: distinct },
    };
  if (distinct === count && !hasDropped) return { count, page: bytes.subarray(0, sizeBytes) };
  memory.ensure(plainBytes);
  for (let index = 0; index < count; index += 1)
    memory.appendBytes(plainAt(texts, texts.indexes[index] ?? 0));
  return { count, page: memory.getBytes() };
}

function indexPage({ indexes, count }: Texts, bits: number, memory: ByteWriter): Uint8Array {
  memory.appendUint8(bits);
  writeNumbers(memory, indexes.subarray(0, count), bits);
  return memory.getBytes();
}
