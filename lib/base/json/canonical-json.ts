/**
 * JSON in which equal values print alike: names sorted, no white space, numbers by their value (`1.0` as `1`,
 * `1e20` as its digits), bigints by their digits. For values of `parseJson`.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  // A whole number prints like a bigint, since the same value may have been read as one elsewhere.
  if (typeof value === 'number') return Number.isInteger(value) ? String(BigInt(value)) : String(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, part]) => `${JSON.stringify(name)}:${canonicalJson(part)}`).join(',')}}`;
}
