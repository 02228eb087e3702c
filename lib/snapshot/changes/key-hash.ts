import { hash } from 'node:crypto';

/** The number of hashes: 48 bits, which a number holds exactly and where collisions are practically impossible. */
export const HASH_SPACE = 2 ** 48;

/** A key's hash, from 0 up to `HASH_SPACE`: evenly distributed, whatever the keys look like. */
export const keyHash = (key: string): number => hash('sha256', key, 'buffer').readUIntBE(0, 6);
