import { hash } from 'node:crypto';

/** How many hashes there are: 48 bits, exact as a number and in effect without collisions. */
export const HASH_SPACE = 2 ** 48;

/** A key's place among all keys, from 0 up to `HASH_SPACE`: even, whatever the keys look like. */
export const keyHash = (key: string): number => hash('sha256', key, 'buffer').readUIntBE(0, 6);
