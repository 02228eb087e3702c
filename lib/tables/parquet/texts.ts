import { freeMemory, type JsonBytes, QUOTE } from '../../base/json/index.ts';

/** The strings of a column in UTF-8, called texts here: each distinct text once, and for each text its index. */
export type Texts = {
  /** The distinct texts one after another, each after its length in four bytes, which is the form of a Parquet page. */
  bytes: Buffer<ArrayBuffer>;
  view: DataView;
  sizeBytes: number;
  /** Where each distinct text begins, with its length. */
  starts: Int32Array<ArrayBuffer>;
  hashes: Int32Array<ArrayBuffer>;
  distinct: number;
  /** The hash table of the distinct texts, with open addressing. An entry is a text's index plus 1; 0 is empty. */
  table: Int32Array<ArrayBuffer>;
  /** For each text, the index of its distinct text. */
  indexes: Int32Array<ArrayBuffer>;
  count: number;
  /** The total bytes of all texts, each with its length. */
  plainBytes: number;
  /** The last texts, which were not looked up yet: for each of them its start and end in `source`, and its hash. */
  readonly waiting: Int32Array<ArrayBuffer>;
  waitingSize: number;
  source: JsonBytes;
  /** Whether texts were removed, so that some distinct texts may be unused. */
  hasDropped: boolean;
  /** Receives the result of the loop that reads memory early, so that the loop is not optimized away. */
  touched: number;
};

/** The initial length of the arrays of leaves. */
export const FIRST_COUNT = 1_024;

/**
 * Returns the same numbers in an array that is one and a half times as long; its length is even. The argument is empty
 * afterwards.
 */
export const withRoom = ({ buffer, length }: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> =>
  new Int32Array(buffer.transfer(8 * Math.ceil(0.75 * length)));

const FIRST_BYTES = 16 * 1024;
/** The number of bytes of the length before each text. */
export const LENGTH_BYTES = 4;

/** Up to this many bytes, a loop copies faster than a call of `copy`. */
export const SHORT_BYTES = 64;

/** Allocates memory that nothing else shares. */
export function memoryOf(sizeBytes: number): Pick<Texts, 'bytes' | 'view'> {
  const bytes = Buffer.allocUnsafeSlow(sizeBytes);
  return { bytes, view: new DataView(bytes.buffer) };
}

/** Creates an empty `Texts`. */
export const createTexts = (): Texts => ({
  ...memoryOf(FIRST_BYTES),
  sizeBytes: 0,
  starts: new Int32Array(FIRST_COUNT),
  hashes: new Int32Array(FIRST_COUNT),
  distinct: 0,
  table: new Int32Array(2 * FIRST_COUNT),
  indexes: new Int32Array(FIRST_COUNT),
  count: 0,
  plainBytes: 0,
  waiting: new Int32Array(WAITING_SIZE),
  waitingSize: 0,
  source: memoryOf(0),
  hasDropped: false,
  touched: 0,
});

/** Adds the text from `start` up to, but not including, `end`. `hash`: its `hashOf`. */
export function addText(texts: Texts, source: JsonBytes, start: number, end: number, hash: number): void {
  const index = find(texts, source, start, end, hash);
  const { count } = texts;
  if (count === texts.indexes.length) texts.indexes = withRoom(texts.indexes);
  texts.indexes[count] = index;
  texts.count = count + 1;
  texts.plainBytes += end - start + LENGTH_BYTES;
}

/** Up to this many distinct texts, the hash table fits into the CPU's cache, so a lookup does not wait for memory. */
const MAX_CACHED_TEXTS = 4_096;
/** The length of `waiting`: three numbers for each of 32 texts. */
const WAITING_SIZE = 96;

/**
 * Works like `addText`, but if there are many distinct texts, the text waits for `addWaiting`, and its bytes must
 * not change until then.
 */
function addLater(texts: Texts, source: JsonBytes, start: number, end: number, hash: number): void {
  if (texts.distinct < MAX_CACHED_TEXTS) {
    addText(texts, source, start, end, hash);
    return;
  }
  const { waiting, waitingSize: at } = texts;
  waiting[at] = start;
  waiting[at + 1] = end;
  waiting[at + 2] = hash;
  texts.waitingSize = at + 3;
  texts.source = source;
  if (texts.waitingSize === WAITING_SIZE) addWaiting(texts);
}

/**
 * Adds the waiting texts. Their entries of the hash table are read first, together: these reads overlap, so that all of
 * them take the time of one.
 */
export function addWaiting(texts: Texts): void {
  const { waiting, waitingSize, source, table } = texts;
  if (waitingSize === 0) return;
  const mask = table.length - 1;
  let touched = 0;
  for (let at = 2; at < waitingSize; at += 3) touched ^= table[(waiting[at] ?? 0) & mask] ?? 0;
  texts.touched = touched;
  texts.waitingSize = 0;
  for (let at = 0; at < waitingSize; at += 3)
    addText(texts, source, waiting[at] ?? 0, waiting[at + 1] ?? 0, waiting[at + 2] ?? 0);
}

/** A 32-bit hash of the bytes from `start` up to `end`, computed four bytes at a time. */
export function hashOf({ bytes, view }: JsonBytes, start: number, end: number): number {
  let hash = 0;
  let at = start;
  for (; at + 4 <= end; at += 4) hash = mixed(hash, view.getInt32(at, true));
  let rest = 0;
  for (let shift = 0; at < end; at += 1, shift += 8) rest |= (bytes[at] ?? 0) << shift;
  return mixed(hash, rest);
}

/** Adds four bytes to a hash. */
function mixed(hash: number, bytes: number): number {
  const next = Math.imul(hash ^ bytes, 0x9e3779b1);
  return next ^ (next >>> 15);
}

/** A distinct text as it is in a page: its length, then its bytes. */
export function plainAt({ bytes, starts }: Texts, index: number): Buffer {
  const start = starts[index] ?? 0;
  return bytes.subarray(start, start + LENGTH_BYTES + bytes.readInt32LE(start));
}

/** If the texts have more memory than this, in bytes, clearing them releases it. */
const MAX_HELD_BYTES = 16_000_000;

/** Removes all texts, so that new texts can be added. */
export function clearTexts(texts: Texts): void {
  if (texts.bytes.length > MAX_HELD_BYTES) Object.assign(texts, memoryOf(FIRST_BYTES));
  texts.table.fill(0);
  texts.sizeBytes = 0;
  texts.distinct = 0;
  texts.count = 0;
  texts.plainBytes = 0;
  texts.waitingSize = 0;
  texts.hasDropped = false;
}

/** The index of the text from `start` up to, but not including, `end` among the distinct ones; a new text is stored. */
export const numberOfText = (texts: Texts, source: JsonBytes, start: number, end: number): number =>
  find(texts, source, start, end, hashOf(source, start, end));

/** The index of a text with this hash among the distinct ones; a new text is stored. */
function find(texts: Texts, source: JsonBytes, start: number, end: number, hash: number): number {
  const { table, hashes } = texts;
  const mask = table.length - 1;
  for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
    const index = (table[slot] ?? 0) - 1;
    if (index === -1) {
      table[slot] = texts.distinct + 1;
      const stored = store(texts, source, start, end, hash);
      if (2 * texts.distinct > table.length) rehash(texts);
      return stored;
    }
    if (hashes[index] === hash && isSame(texts, index, source, start, end)) return index;
  }
}

function isSame(texts: Texts, index: number, source: JsonBytes, start: number, end: number): boolean {
  const from = texts.starts[index] ?? 0;
  const { bytes, view } = texts;
  if (view.getInt32(from, true) !== end - start) return false;
  let at = start;
  let other = from + LENGTH_BYTES;
  for (; at + 4 <= end; at += 4, other += 4)
    if (source.view.getInt32(at, true) !== view.getInt32(other, true)) return false;
  for (; at < end; at += 1, other += 1) if (source.bytes[at] !== bytes[other]) return false;
  return true;
}

function store(texts: Texts, source: JsonBytes, start: number, end: number, hash: number): number {
  const length = end - start;
  makeRoom(texts, length + LENGTH_BYTES);
  let to = texts.sizeBytes + LENGTH_BYTES;
  const { bytes, view } = texts;
  if (length > SHORT_BYTES) source.bytes.copy(bytes, to, start, end);
  else {
    let at = start;
    for (; at + 4 <= end; at += 4, to += 4) view.setInt32(to, source.view.getInt32(at, true), true);
    for (; at < end; at += 1, to += 1) bytes[to] = source.bytes[at] ?? 0;
  }
  return addDistinct(texts, length, hash);
}

function addDistinct(texts: Texts, length: number, hash: number): number {
  const { view, sizeBytes, distinct } = texts;
  if (distinct === texts.starts.length) {
    texts.starts = withRoom(texts.starts);
    texts.hashes = withRoom(texts.hashes);
  }
  texts.starts[distinct] = sizeBytes;
  texts.hashes[distinct] = hash;
  view.setInt32(sizeBytes, length, true);
  texts.sizeBytes = sizeBytes + LENGTH_BYTES + length;
  texts.distinct = distinct + 1;
  return distinct;
}

function makeRoom(texts: Texts, moreBytes: number): void {
  const needed = texts.sizeBytes + moreBytes;
  if (needed <= texts.bytes.length) return;
  // Frees the old memory immediately, since the garbage collector does not count it.
  const buffer = texts.bytes.buffer.transfer(Math.max(needed, Math.ceil(1.5 * texts.bytes.length)));
  texts.bytes = Buffer.from(buffer);
  texts.view = new DataView(buffer);
}

function rehash(texts: Texts): void {
  const table = new Int32Array(2 * texts.table.length);
  const mask = table.length - 1;
  for (let index = 0; index < texts.distinct; index += 1) {
    let slot = (texts.hashes[index] ?? 0) & mask;
    while (table[slot] !== 0) slot = (slot + 1) & mask;
    table[slot] = index + 1;
  }
  freeMemory(texts.table);
  texts.table = table;
}

const BACKSLASH = 0x5c;

/**
 * Adds the JSON string that begins at `start`, and returns the index of its closing quote. If it has an escape or a
 * control character, it is not added, and -1 is returned. Hashes four bytes at a time, and searches them for the end,
 * like `skipText`. The string may then wait for `addWaiting`.
 */
export function addQuoted(texts: Texts, source: JsonBytes, start: number): number {
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
      addLater(texts, source, start, end, mixed(hash, word & ((1 << (8 * length)) - 1)));
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
  addLater(texts, source, start, at, mixed(hash, rest));
  return at;
}

/**
 * Marks bytes of a word by their high bits, like `skipText`. The lowest mark is at a quote, a backslash or a control
 * character.
 */
const marksIn = (word: number): number =>
  (((word ^ 0x02020202) - 0x21212121) | ((word ^ 0x5c5c5c5c) - 0x01010101)) & ~word & 0x80808080;

/** The index (0 to 3) of the first marked byte of a word. */
const firstOf = (marks: number): number => (31 - Math.clz32(marks & -marks)) >> 3;
