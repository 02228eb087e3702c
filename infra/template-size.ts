export type Properties = Readonly<Record<string, unknown>>;

/** How long a value is taken to be that is known only when it is deployed: as long as the longest ARN that is common. */
const UNKNOWN = 120;

/** The length of a value of a template when it is deployed: of a text, or of the JSON of anything else. */
export function sizeOf(value: unknown): number {
  if (value === undefined) return 0;
  if (typeof value === 'string') return Buffer.byteLength(value);
  const known = JSON.stringify(value, (_, each: unknown) => deployed(each));
  return Buffer.byteLength(known);
}

/** What stands for a value while its length is counted. */
function deployed(value: unknown): unknown {
  const [name, ...others] = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  if (name === undefined || others.length > 0) return value;
  const parts = at(value, 'Fn::Join', '1');
  if (Array.isArray(parts)) return parts.map((part) => '-'.repeat(sizeOf(part))).join('');
  return name === 'Ref' || name.startsWith('Fn::') ? '-'.repeat(UNKNOWN) : value;
}

/** The value at these names, if there is one. */
export const at = (value: unknown, ...names: readonly string[]): unknown =>
  names.reduce<unknown>(
    (inner, name) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined),
    value,
  );

/** How many members a list or an object has. */
export const membersOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? Object.keys(value).length : 0;

/** The largest size among the items of a list; 0 if there are none. */
export const largestOf = (list: unknown, size: (item: unknown) => number): number =>
  Array.isArray(list) ? Math.max(0, ...list.map(size)) : 0;
