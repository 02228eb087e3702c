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
    lines: Buffer.from(records.map((record) => `${record.line}\n`).join('')),
    fields: fieldTypes.seen(),
  };
}

export const emptyBatch: RecordBatch = { keys: [], lines: new Uint8Array(), fields: {} };
