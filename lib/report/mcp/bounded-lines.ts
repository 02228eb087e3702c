/** The most bytes of a message from the client: far more than any call needs. */
export const MOST_LINE_BYTES = 4_000_000;

const LINE_FEED = 0x0a;
/** Enough for what a message begins or ends with. */
const EDGE_BYTES = 300;

/**
 * The lines of a stream as they arrive, without those that are too long: they are not held in memory. `onTooLong` gets the
 * first and the last bytes of each, as text.
 */
export async function* boundedLines(
  input: AsyncIterable<Buffer | string>,
  onTooLong: (first: string, last: string) => void,
): AsyncGenerator<Buffer> {
  let begun: Buffer[] = [];
  let begunBytes = 0;
  let skipped: { readonly first: string; last: Buffer } | undefined;
  for await (const given of input) {
    let chunk = Buffer.from(given);
    for (;;) {
      const end = chunk.indexOf(LINE_FEED) + 1;
      const piece = end === 0 ? chunk : chunk.subarray(0, end);
      if (skipped !== undefined) {
        skipped.last = Buffer.concat([skipped.last, piece]).subarray(-EDGE_BYTES);
      } else {
        begun.push(piece);
        begunBytes += piece.byteLength;
        if (begunBytes > MOST_LINE_BYTES) {
          const whole = Buffer.concat(begun);
          skipped = { first: whole.toString('utf8', 0, EDGE_BYTES), last: whole.subarray(-EDGE_BYTES) };
          begun = [];
        }
      }
      if (end === 0) break;
      if (skipped !== undefined) onTooLong(skipped.first, skipped.last.toString());
      else yield Buffer.concat(begun);
      [begun, begunBytes, skipped] = [[], 0, undefined];
      chunk = chunk.subarray(end);
    }
  }
}

/** The id of a request by how its message begins or ends: the SDK's clients write it last. */
export function requestIdIn(first: string, last: string): string | number | undefined {
  const found =
    /^\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d{1,15}|"[\w.:-]{1,100}")\s*,/.exec(first) ??
    /"jsonrpc":"2\.0","id":(\d{1,15}|"[\w.:-]{1,100}")\}\s*$/.exec(last);
  return found?.[1] === undefined ? undefined : JSON.parse(found[1]);
}
