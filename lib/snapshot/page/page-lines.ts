import type { FoundRecords } from './record-finder.ts';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * The records from row `from` on as NDJSON, each as received and followed by a line feed: the bytes of the response,
 * with the commas between the records turned into line feeds, so that they are no longer JSON. Undefined if there is
 * anything but a comma between two records, or a line end in one of them.
 */
export function linesInPlace({ json, records, index }: FoundRecords, from: number): Buffer | undefined {
  const { bytes } = json;
  const { starts, ends } = index;
  if (from >= records) return bytes.subarray(0, 0);
  const first = starts[from] ?? 0;
  const end = ends[records - 1] ?? 0;
  for (let record = from + 1; record < records; record += 1) {
    if (starts[record] !== (ends[record - 1] ?? 0) + 1) return undefined;
  }
  if (holdsLineEnd(bytes.subarray(first, end))) return undefined;
  for (let record = from; record < records; record += 1) bytes[ends[record] ?? 0] = LINE_FEED;
  return bytes.subarray(first, end + 1);
}

/** True if the bytes contain a line feed or a carriage return. Valid strings contain none. */
export const holdsLineEnd = (bytes: Buffer): boolean =>
  bytes.includes(LINE_FEED) || bytes.includes(CARRIAGE_RETURN);
