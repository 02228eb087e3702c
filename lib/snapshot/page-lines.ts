import { parseJson, printJson } from '../platform/json.ts';
import { holdsLineEnd, type ScannedPageBytes } from './page-scanner.ts';

const LINE_FEED = 0x0a;

/**
 * The records of a page from index `from` on as NDJSON, each as it came and ended by a line feed. `bytes` are those
 * that were scanned. A record with line ends between its tokens is printed anew: on one line, same values.
 */
export function linesOf(page: ScannedPageBytes, bytes: Buffer, from: number): Buffer {
  if (from >= page.records) return Buffer.alloc(0);
  return copyAtOnce(page, bytes, from) ?? copyOneByOne(page, bytes, from);
}

/** One copy with the commas turned into line feeds, where nothing else is between the records; else undefined. */
function copyAtOnce({ records, starts, ends }: ScannedPageBytes, bytes: Buffer, from: number) {
  const first = starts[from] ?? 0;
  const end = ends[records - 1] ?? 0;
  for (let record = from + 1; record < records; record += 1) {
    if (starts[record] !== (ends[record - 1] ?? 0) + 1) return undefined;
  }
  if (holdsLineEnd(bytes.subarray(first, end))) return undefined;
  const lines = Buffer.allocUnsafe(end - first + 1);
  bytes.copy(lines, 0, first, end);
  for (let record = from; record < records; record += 1) lines[(ends[record] ?? 0) - first] = LINE_FEED;
  return lines;
}

function copyOneByOne(page: ScannedPageBytes, bytes: Buffer, from: number): Buffer {
  const lineEnd = Buffer.of(LINE_FEED);
  const pieces: Buffer[] = [];
  for (let record = from; record < page.records; record += 1) {
    const piece = bytes.subarray(page.starts[record], page.ends[record]);
    const isOneLine = !page.hasLineEnd(record);
    pieces.push(isOneLine ? piece : Buffer.from(printJson(parseJson(piece.toString()))), lineEnd);
  }
  return Buffer.concat(pieces);
}
