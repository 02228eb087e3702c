/** The number of different hashes. A JavaScript number holds 48 bits exactly, and keys rarely collide in them. */
export const HASH_SPACE = 2 ** 48;

/**
 * The hash of a key: an integer from 0 up to, but not including, `HASH_SPACE`, evenly distributed (like cyrb53). The
 * function must never change, since it decides where published parts end.
 */
export function keyHash(key: string): number {
  let [left, right] = [0x5eadbeef, 0x41c6ce57];
  for (let at = 0; at < key.length; at += 1) {
    const unit = key.charCodeAt(at);
    left = Math.imul(left ^ unit, 0x9e3779b1);
    right = Math.imul(right ^ unit, 0x5f356495);
  }
  left = Math.imul(left ^ (left >>> 16), 0x85ebca6b) ^ Math.imul(right ^ (right >>> 13), 0xc2b2ae35);
  right = Math.imul(right ^ (right >>> 16), 0x85ebca6b) ^ Math.imul(left ^ (left >>> 13), 0xc2b2ae35);
  return (right >>> 0) * 2 ** 16 + (left >>> 16);
}

/** The average size of a part before compression: about 6 MB compressed. */
const PART_BYTES = 32_000_000;

/**
 * Whether a part ends after this record; the larger the record, the more likely. That depends only on the record, so
 * unchanged records form the same parts in the next run.
 */
export const endsPart = (key: string, lineBytes: number): boolean =>
  (keyHash(key) / HASH_SPACE) * PART_BYTES < lineBytes;
