import { createFieldTypes, type FieldTypes } from './field-types.ts';
import type { ScannedRecord } from './scanned-record.ts';

/** Records on their way to a part, in order. There are as many lines as keys. */
export type RecordBatch = {
  readonly keys: readonly string[];
  /** The records as NDJSON in UTF-8; every line ends in a line feed. */
  readonly lines: Uint8Array;
  /** The JSON types of their fields. */
  readonly fields: FieldTypes;
  /** Frees the memory of `lines`. Optional to call, and only once they are written. */
  readonly release?: () => void;
};

/** A batch of records that were parsed one by one. */
export function batchOf(records: readonly ScannedRecord[]): RecordBatch {
  const fieldTypes = createFieldTypes();
  for (const record of records) fieldTypes.add(record.value);
  return {
    keys: records.map((record) => record.key),
    lines: linesOf(records),
    fields: fieldTypes.seen(),
  };
}

export const emptyBatch: RecordBatch = { keys: [], lines: new Uint8Array(), fields: {} };

/** Not by joining the lines: that would take up to twice their bytes, and twice that again as bytes. */
function linesOf(records: readonly ScannedRecord[]): Buffer {
  const sizeBytes = records.reduce((sum, { line }) => sum + Buffer.byteLength(line) + 1, 0);
  const lines = Buffer.alloc(sizeBytes);
  let at = 0;
  for (const { line } of records) {
    at += lines.write(line, at);
    at = lines.writeUInt8(LINE_FEED, at);
  }
  return lines;
}

const LINE_FEED = 0x0a;
