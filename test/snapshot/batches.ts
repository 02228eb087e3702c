import type { FieldTypes, RecordBatch } from '../../lib/snapshot/page/record-batch.ts';

/** A batch of these records, in one piece. */
export function batchOfLines(
  records: readonly { readonly key: string; readonly line: string }[],
  fields: FieldTypes = {},
): RecordBatch {
  const lines = Buffer.from(records.map(({ line }) => `${line}\n`).join(''));
  return {
    records: records.length,
    pieces: () => [{ keys: records.map(({ key }) => key), lines }],
    fields,
    heldBytes: lines.byteLength,
  };
}

/** The keys and the lines of a batch. */
export function recordsIn({ pieces }: RecordBatch): {
  readonly keys: readonly string[];
  readonly lines: readonly string[];
} {
  const keys: string[] = [];
  const texts: string[] = [];
  for (const piece of pieces()) {
    keys.push(...piece.keys);
    texts.push(Buffer.from(piece.lines).toString());
  }
  return { keys, lines: texts.join('').split('\n').slice(0, -1) };
}
