import { hash } from 'node:crypto';

/** The digest of no texts. */
export const EMPTY_DIGEST = '0'.repeat(32);

/** A digest and more texts: 128 bits in hex that are the same for the same texts in whatever order, each added once. */
export function withTexts(digest: string, texts: Iterable<string>): string {
  let sum = BigInt(`0x${digest}`);
  for (const text of texts) sum ^= BigInt(`0x${hash('sha256', text).slice(0, 32)}`);
  return sum.toString(16).padStart(32, '0');
}
