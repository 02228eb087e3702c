import { freeMemory, type JsonBytes } from '../../base/bytes/index.ts';
import { memoryOf, noTexts, numberOfText, SHORT_BYTES } from '../../tables/parquet/texts.ts';

/** Texts one behind another: text `n` is from `starts[n]` up to `starts[n + 1]`, its length and its tag first. */
export type PackedTexts = {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly starts: Uint32Array<ArrayBuffer>;
};

/** The bytes of a text before its UTF-8, of which the last is its tag. */
export const HEAD_BYTES = 5;

/**
 * Numbers distinct texts from 0 in the order in which they come. Equal texts with different tags are different. Memory: 20
 * to 40 bytes each, and their own.
 */
export function createNumberedTexts() {
  const texts = noTexts();
  let scratch = memoryOf(FIRST_SCRATCH);
  return {
    /** The number of a text in UTF-8, which is a new one if it was not there. `tag`: 0 to 255. */
    numberOf(utf8: Uint8Array, tag = 0, start = 0, end = utf8.length): number {
      const length = end - start;
      if (length >= scratch.bytes.length) scratch = memoryOf(2 * length);
      const { bytes } = scratch;
      bytes[0] = tag;
      if (length > SHORT_BYTES) bytes.set(utf8.subarray(start, end), 1);
      else for (let at = 0; at < length; at += 1) bytes[at + 1] = utf8[start + at] ?? 0;
      return numberOfText(texts, scratch, 0, length + 1);
    },
    numberIn: (source: JsonBytes, start: number, end: number) => numberOfText(texts, source, start, end),
    /** All of them, in their memory. What only numbering needs is freed at once: nothing may be asked any more. */
    pack(): PackedTexts {
      freeMemory(texts.table);
      freeMemory(texts.hashes);
      const { bytes, sizeBytes, distinct } = texts;
      const starts = new Uint32Array(texts.starts.buffer.transfer(4 * (distinct + 1)));
      starts[distinct] = sizeBytes;
      return { bytes: new Uint8Array(bytes.buffer.transfer(sizeBytes)), starts };
    },
  };
}

const FIRST_SCRATCH = 1_024;

export const textAt = ({ bytes, starts }: PackedTexts, number: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset).toString(
    'utf8',
    (starts[number] ?? 0) + HEAD_BYTES,
    starts[number + 1],
  );
