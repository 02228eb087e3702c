import { HASH_SPACE, keyHash } from '../changes/key-hash.ts';

/** The average size of a part before compression: about 6 MB compressed. */
const PART_BYTES = 32_000_000;

/**
 * True if a part ends after a record, by its key and the size of its line: the larger the record, the more likely. So
 * records that do not change are in the same parts from run to run, whatever was added or removed elsewhere.
 */
export const endsPart = (key: string, lineBytes: number): boolean =>
  (keyHash(key) / HASH_SPACE) * PART_BYTES < lineBytes;
