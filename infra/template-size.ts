export type Properties = Readonly<Record<string, unknown>>;

/** The resources of a template by their logical ids: what is known of what others refer to. */
export type Resources = Readonly<Record<string, Properties>>;

/** How long a value is taken to be that is known only when it is deployed: as long as the longest ARN that is common. */
const UNKNOWN = 120;

/** The longest that a value of a kind can be. An ARN of a bucket has no region and no account. */
const LONGEST: Readonly<Record<string, number>> = {
  'AWS::Partition': 'aws-us-gov'.length,
  'AWS::Region': 'ap-southeast-2'.length,
  'AWS::AccountId': 12,
  'AWS::S3::Bucket': 63,
  'AWS::S3::Bucket.Arn': 'arn:aws:s3:::'.length + 63,
};

/** The length of a value of a template when it is deployed: of a text, or of the JSON of anything else. */
export function sizeOf(value: unknown, resources: Resources = {}): number {
  if (value === undefined) return 0;
  if (typeof value === 'string') return Buffer.byteLength(value);
  const known = JSON.stringify(value, (_, each: unknown) => deployed(each, resources));
  return Buffer.byteLength(known);
}

/** What stands for a value while its length is counted. */
function deployed(value: unknown, resources: Resources): unknown {
  const [name, ...others] = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  if (name === undefined || others.length > 0) return value;
  const parts = at(value, 'Fn::Join', '1');
  // Without the quotes that the JSON of a part that is no text would have.
  if (Array.isArray(parts)) return parts.map((part) => '-'.repeat(lengthOf(part, resources))).join('');
  return name === 'Ref' || name.startsWith('Fn::') ? '-'.repeat(lengthOf(value, resources)) : value;
}

function lengthOf(part: unknown, resources: Resources): number {
  if (typeof part === 'string') return Buffer.byteLength(part);
  const [id, attribute] = [at(part, 'Ref') ?? at(part, 'Fn::GetAtt', '0'), at(part, 'Fn::GetAtt', '1')];
  const type = at(resources, String(id), 'Type') ?? id;
  return LONGEST[attribute === undefined ? String(type) : `${type}.${attribute}`] ?? UNKNOWN;
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
