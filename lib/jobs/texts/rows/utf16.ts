/** What rows are made of: line ends, separators, quotes, spaces, and the braces of JSON. */
const STRUCTURE = /[\n\r,;|\t "{}:]/g;

/** As much of a sample as an unmarked encoding is found by. */
const SAMPLE_BYTES = 64 * 1_024;

/**
 * UTF-16 without a byte order mark: the byte order in which the sample reads as text. Undefined if it does in neither.
 * Letters alone do not show it: many are letters in both orders.
 */
export function unmarkedUtf16(sample: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const [le, be] = [structureOf(sample, false), structureOf(sample, true)];
  if (le === 0 && be === 0) return undefined;
  return be > le ? 'utf-16be' : 'utf-16le';
}

/** How many characters of the structure there are in this byte order; 0 if the sample is not text in it. */
function structureOf(sample: Uint8Array, isBigEndian: boolean): number {
  const units = Buffer.from(sample.subarray(0, Math.min(sample.length, SAMPLE_BYTES) & ~1));
  const text = (isBigEndian ? units.swap16() : units).toString('utf16le');
  // The sample may end within a character.
  const whole = /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
  if (whole.includes('\0') || !whole.isWellFormed()) return 0;
  return whole.match(STRUCTURE)?.length ?? 0;
}
