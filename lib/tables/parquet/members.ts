import { COMMA, skipSpace, unexpected } from '../../snapshot/page/json-bytes.ts';

/** The index of the first item of the array or object that begins at `open`; if it has none, as `nextItem` says it. */
export function firstItem(bytes: Buffer, open: number, close: number): number {
  const at = skipSpace(bytes, open + 1);
  return bytes[at] === close ? ~(at + 1) : at;
}

/**
 * The index of what comes next in an array or object, from behind an item; below 0 if that was the last: the complement
 * (`~`) of the index behind the end.
 */
export function nextItem(bytes: Buffer, behind: number, close: number): number {
  let at = behind;
  let byte = bytes[at];
  if (byte !== COMMA && byte !== close) {
    at = skipSpace(bytes, at);
    byte = bytes[at];
    if (byte !== COMMA && byte !== close) throw unexpected(bytes, at);
  }
  at += 1;
  if (byte === close) return ~at;
  return (bytes[at] ?? 0) <= 0x20 ? skipSpace(bytes, at) : at;
}
