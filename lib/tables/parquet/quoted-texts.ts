import type { JsonBytes } from '../../snapshot/page/json-bytes.ts';
import { addCopied, addText, mixed, roomFor, type Texts } from './texts.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Longer strings are not stored while they are read: they need room first. */
const MOST_COPIED = 1_024;

/**
 * Adds the string that begins at `start`, behind its quote, if it has no escapes. Returns where its other quote is; -1 if it
 * has an escape or a control character, and is not added.
 */
export function addQuoted(texts: Texts, source: JsonBytes, start: number): number {
  if (texts.isShared) return addRead(texts, source, start);
  const end = addAsRead(texts, source, start);
  return end === -1 ? addRead(texts, source, start) : end;
}

/** Reads a string, and then adds it: four bytes at a time are hashed, and looked through for the end as `skipText` does. */
function addRead(texts: Texts, source: JsonBytes, start: number): number {
  const { bytes, view } = source;
  const last = bytes.length - 4;
  let hash = 0;
  let at = start;
  for (; at <= last; at += 4) {
    const word = view.getInt32(at, true);
    const marks = marksIn(word);
    if (marks !== 0) {
      const length = firstOf(marks);
      const end = at + length;
      if (bytes[end] !== QUOTE) return -1;
      addText(texts, source, start, end, mixed(hash, word & ((1 << (8 * length)) - 1)));
      return end;
    }
    hash = mixed(hash, word);
  }
  let rest = 0;
  for (let shift = 0; bytes[at] !== QUOTE; at += 1, shift += 8) {
    const byte = bytes[at] ?? 0;
    if (byte === BACKSLASH || byte < 0x20) return -1;
    rest |= byte << shift;
  }
  addText(texts, source, start, at, mixed(hash, rest));
  return at;
}

/** Stores each four bytes as they are read, where no text is looked for. Also -1 for a long string, or one at the end. */
function addAsRead(texts: Texts, { bytes, view }: JsonBytes, start: number): number {
  const first = roomFor(texts, MOST_COPIED);
  const stored = texts.view;
  const last = Math.min(bytes.length - 4, start + MOST_COPIED - 4);
  for (let at = start; at <= last; at += 4) {
    const word = view.getInt32(at, true);
    const marks = marksIn(word);
    stored.setInt32(first + at - start, word, true);
    if (marks !== 0) {
      const end = at + firstOf(marks);
      if (bytes[end] !== QUOTE) return -1;
      addCopied(texts, end - start);
      return end;
    }
  }
  return -1;
}

/** See `skipText`: the lowest mark is at a quote, a backslash or a control character. */
const marksIn = (word: number): number =>
  (((word ^ 0x02020202) - 0x21212121) | ((word ^ 0x5c5c5c5c) - 0x01010101)) & ~word & 0x80808080;

/** The byte, of four, that has the lowest mark. */
const firstOf = (marks: number): number => (31 - Math.clz32(marks & -marks)) >> 3;
