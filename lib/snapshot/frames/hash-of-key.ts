/**
 * A key's hash, a 32-bit whole number: evenly distributed, whatever the keys look like (MurmurHash3 over UTF-16 units).
 * The borders of published parts depend on it: another function would cut all of them anew.
 */
export function hashOfKey(key: string): number {
  let hash = 0;
  for (let at = 0; at < key.length; at += 1) {
    let unit = Math.imul(key.charCodeAt(at), 0xcc9e2d51);
    unit = (unit << 15) | (unit >>> 17);
    hash ^= Math.imul(unit, 0x1b873593);
    hash = (hash << 13) | (hash >>> 19);
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  }
  hash ^= key.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
