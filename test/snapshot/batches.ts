import type { RecordBatch, RecordPiece, typesSeen } from '../../lib/snapshot/page/record-fields.ts';

type FieldTypes = ReturnType<typeof typesSeen>;

/** A batch of these records in a single piece. */
export function batchOfLines(
  records: readonly { readonly key: string; readonly line: string }[],
  fields: FieldTypes = {},
): RecordBatch {
  const lines = Buffer.from(records.map(({ line }) => `${line}\n`).join(''));
  const keys = records.map(({ key }) => key);
  return {
    records: records.length,
    pieces: () => [pieceOfLines(keys, lines)],
    fields,
    heldBytes: lines.byteLength,
  };
}

/** A piece of these lines, each of which ends in a line feed. */
export function pieceOfLines(keys: readonly string[], lines: Buffer): RecordPiece {
  const ends: number[] = [];
  for (let at = lines.indexOf(0x0a); at !== -1; at = lines.indexOf(0x0a, at + 1)) ends.push(at + 1);
  return { keys, lines, ends: Uint32Array.from(ends) };
}

/** The keys and the lines of a batch. */
export function recordsIn({ pieces }: RecordBatch): {
  readonly keys: readonly string[];
  readonly lines: readonly string[];
} {
  const keys: string[] = [];
  const lines: string[] = [];
  for (const piece of pieces()) {
    keys.push(...piece.keys);
    let start = 0;
    for (const end of piece.ends) {
      lines.push(Buffer.from(piece.lines.subarray(start, end - 1)).toString());
      start = end;
    }
  }
  return { keys, lines };
}
