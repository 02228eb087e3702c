import { holdsLineEnd, type ScannedPageBytes } from './page-scanner.ts';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;

/**
 * The records of a page from index `from` on as NDJSON, each as received and followed by a line feed. `bytes` are those
 * that were scanned. If possible the lines are made in place, and the bytes are then no longer JSON. A line end between
 * the tokens of a record becomes a space.
 */
export function linesOf(page: ScannedPageBytes, bytes: Buffer, from: number): Buffer {
  if (from >= page.records) return Buffer.alloc(0);
  return linesInPlace(page, bytes, from) ?? copyOneByOne(page, bytes, from);
}

/** The bytes with commas turned into line feeds; undefined if anything but a comma is between two records. */
function linesInPlace({ records, starts, ends }: ScannedPageBytes, bytes: Buffer, from: number) {
  const first = starts[from] ?? 0;
  const end = ends[records - 1] ?? 0;
  for (let record = from + 1; record < records; record += 1) {
    if (starts[record] !== (ends[record - 1] ?? 0) + 1) return undefined;
  }
  if (holdsLineEnd(bytes.subarray(first, end))) return undefined;
  for (let record = from; record < records; record += 1) bytes[ends[record] ?? 0] = LINE_FEED;
  return bytes.subarray(first, end + 1);
}

function copyOneByOne(page: ScannedPageBytes, bytes: Buffer, from: number): Buffer {
  const lineEnd = Buffer.of(LINE_FEED);
  const pieces: Buffer[] = [];
  for (let record = from; record < page.records; record += 1) {
    const piece = bytes.subarray(page.starts[record], page.ends[record]);
    const isOneLine = !page.hasLineEnd(record);
    pieces.push(isOneLine ? piece : withoutLineEnds(piece), lineEnd);
  }
  return Buffer.concat(pieces);
}

/** Valid strings contain no raw line ends, so all of them are between tokens. */
function withoutLineEnds(record: Buffer): Buffer {
  return record.map((byte) => (byte === LINE_FEED || byte === CARRIAGE_RETURN ? SPACE : byte)) as Buffer;
}
