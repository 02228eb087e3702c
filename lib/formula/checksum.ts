import { createHash } from 'node:crypto';

/** The platform's `checkSum` of a formula: SHA-1 of its UTF-8 bytes, in lower-case hex. */
export function checkSum(expression: string): string {
  return createHash('sha1').update(expression, 'utf8').digest('hex');
}
