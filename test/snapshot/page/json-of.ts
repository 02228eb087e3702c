import type { JsonBytes } from '../../../lib/base/json/json-bytes.ts';

/** The bytes of a text in the middle of a larger buffer. */
export function jsonOf(text: string): JsonBytes {
  const bytes = Buffer.from(`##${text}######`).subarray(2, -6);
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) };
}
