import { freeMemory } from '../../base/json/index.ts';
import { type Id, MAX_ID_DIGITS } from '../../platform/index.ts';
import { type RecordBatch, type RecordPiece, typesSeen } from './record-fields.ts';
import type { FoundRecords } from './record-finder.ts';
import { freeIndex, indexBytes, rowsBetween } from './record-index.ts';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;

/** The size in bytes at which a piece ends, after the record that reaches it. */
const PIECE_BYTES = 1024 * 1024;

/** A string member to add at the start of a record, with the owner that the record itself does not contain. */
type FirstMember = {
  readonly name: string;
  readonly text: string;
  /** Whether a record gets the member. Default: every record does. */
  readonly isFor?: (record: number) => boolean;
};

/**
 * Turns records into a batch. The lines are as received, except that a raw line end becomes a space. The field types
 * describe the whole response.
 */
export function foundBatch(
  found: FoundRecords,
  options: {
    readonly keyOf: (record: number) => string;
    /** The indexes of the records to take, in order. Default: all, in the order received. */
    readonly order?: Uint32Array | undefined;
    readonly first?: FirstMember | undefined;
    /** A member with the digits of the key, to add at the end of a record whose key field does not have them. */
    readonly last?:
      | { readonly name: string; readonly digitsOf: (record: number) => Id | undefined }
      | undefined;
  },
): RecordBatch {
  const { keyOf, order = rowsBetween(0, found.records), first, last } = options;
  const { json, fields } = found;
  const isFirst = first?.isFor ?? (() => first !== undefined);
  const types = order.length === 0 ? {} : typesSeen(fields);
  if (first !== undefined && order.some((record) => isFirst(record))) types[first.name] = ['string'];
  const endOf = (record: number) => {
    const digits = last?.digitsOf(record);
    return last === undefined || digits === undefined ? '' : `,${JSON.stringify(last.name)}:${digits}}`;
  };
  const source = {
    found,
    start: startOf(first),
    isFirst,
    endOf,
    endBytes: last === undefined ? 1 : 1 + MAX_LAST_BYTES,
    mayContainLineEnds: containsLineEnd(json.bytes),
  };
  return {
    records: order.length,
    pieces: () => piecesOf(source, order, keyOf),
    fields: types,
    ...unnamedOf(found, first),
    heldBytes: heldBytes(found),
    release: () => release(found),
  };
}

/** Describes the records without a key, for users: by the owner, if any, and the label of the record. */
function unnamedOf({ keyless }: FoundRecords, first?: FirstMember): Pick<RecordBatch, 'unnamed'> {
  const prefix = first === undefined ? '' : `${first.text}/`;
  return keyless.length === 0 ? {} : { unnamed: keyless.map((label) => `${prefix}(no id) ${label}`.trim()) };
}

const heldBytes = ({ json, index }: FoundRecords): number => json.bytes.byteLength + indexBytes(index);

function release({ json, index }: FoundRecords): void {
  freeMemory(json.bytes);
  freeIndex(index);
}

type Source = {
  readonly found: FoundRecords;
  /** The start of a line that gets a first member. It ends in a comma, since the record has at least its key. */
  readonly start: Buffer;
  readonly isFirst: (record: number) => boolean;
  /** Maximum bytes that a line has in addition to its record. */
  readonly endBytes: number;
  /** The end of a line that gets a last member, instead of the record's closing brace; empty if it gets none. */
  readonly endOf: (record: number) => string;
  readonly mayContainLineEnds: boolean;
};

const startOf = (first: FirstMember | undefined): Buffer =>
  Buffer.from(first === undefined ? '' : `{${JSON.stringify(first.name)}:${JSON.stringify(first.text)},`);

function* piecesOf(
  source: Source,
  order: Uint32Array,
  keyOf: (record: number) => string,
): Generator<RecordPiece> {
  for (let from = 0; from < order.length; ) {
    const { end, maxBytes } = pieceFrom(source, order, from);
    const rows = order.subarray(from, end);
    const memory = Buffer.allocUnsafeSlow(maxBytes);
    const keys: string[] = [];
    const ends = new Uint32Array(rows.length);
    let size = 0;
    for (const record of rows) {
      size = writeLine(source, record, memory, size);
      ends[keys.length] = size;
      keys.push(keyOf(record));
    }
    const lines = memory.subarray(0, size);
    yield { keys, lines, ends, release: () => freeMemory(memory) };
    from = end;
  }
}

/** Where the piece that starts at `from` ends (it has at least one record), and the maximum bytes of its lines. */
function pieceFrom({ found, start, endBytes }: Source, order: Uint32Array, from: number) {
  const { starts, ends } = found.index;
  let [end, maxBytes] = [from, 0];
  while (end < order.length && maxBytes < PIECE_BYTES) {
    const record = order[end] ?? 0;
    maxBytes += (ends[record] ?? 0) - (starts[record] ?? 0) + start.length + endBytes;
    end += 1;
  }
  return { end, maxBytes };
}

/** Maximum bytes of a last member: its name and the digits of an id. */
const MAX_LAST_BYTES = MAX_ID_DIGITS + 32;

function writeLine(source: Source, record: number, lines: Buffer, at: number): number {
  const { found, start, isFirst, endOf, mayContainLineEnds } = source;
  const { json, index } = found;
  let [from, to] = [index.starts[record] ?? 0, at];
  if (isFirst(record)) {
    lines.set(start, to);
    to += start.length;
    from += 1;
  }
  to += json.bytes.copy(lines, to, from, index.ends[record]);
  const end = endOf(record);
  if (end !== '') {
    // No comma comes before the first member of an object.
    const isEmpty = lines.toString('latin1', at, to - 1).trim() === '{';
    to += lines.write(isEmpty ? end.slice(1) : end, to - 1, 'latin1') - 1;
  }
  if (mayContainLineEnds) replaceLineEnds(lines, at, to);
  lines[to] = LINE_FEED;
  return to + 1;
}

function replaceLineEnds(lines: Buffer, start: number, end: number): void {
  for (let at = start; at < end; at += 1) {
    if (lines[at] === LINE_FEED || lines[at] === CARRIAGE_RETURN) lines[at] = SPACE;
  }
}

/**
 * Whether the bytes contain a line feed or a carriage return. They can only be between JSON strings, since a
 * valid string contains neither.
 */
const containsLineEnd = (bytes: Buffer): boolean =>
  bytes.includes(LINE_FEED) || bytes.includes(CARRIAGE_RETURN);
