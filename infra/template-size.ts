/** The properties of a resource of a template, or any other object in it. */
export type Properties = Readonly<Record<string, unknown>>;

/** The resources of a template by their logical ids. */
export type Resources = Readonly<Record<string, Properties>>;

/** What is known about referenced values. */
export type Known = {
  readonly resources: Resources;
  readonly parameters?: Resources;
  /** The maximum length of a value in the settings, by the JSON of its reference. */
  readonly longest?: ReadonlyMap<string, number>;
};

type Kind = {
  /** The maximum length of a name. */
  readonly max: number;
  /** The part of the ARN before the name. */
  readonly arn: string;
  /** The part of the value of `Ref` before the name. Default: the value is only the name. */
  readonly ref?: string;
};

const LAMBDA = 'arn:P:lambda:R:A:function:';
const SNS = 'arn:P:sns:R:A:';
const SECRET = 'arn:P:secretsmanager:R:A:secret:';
const table = { max: 255, arn: 'arn:P:dynamodb:R:A:table/' };

/**
 * The maximum length of the names of each type, and how their ARNs and references begin. P, R, A and U stand for
 * partition, region, account and the end of a domain. AWS adds six characters to a secret's name. Sources: the quotas
 * of each service, as of 2026-11-29.
 */
const KINDS: Readonly<Record<string, Kind>> = {
  'AWS::S3::Bucket': { max: 63, arn: 'arn:P:s3:::' },
  'AWS::DynamoDB::Table': table,
  'AWS::DynamoDB::GlobalTable': table,
  'AWS::SQS::Queue': { max: 80, arn: 'arn:P:sqs:R:A:', ref: 'https://sqs.R.U/A/' },
  'AWS::Lambda::Function': { max: 64, arn: LAMBDA },
  'AWS::Lambda::Alias': { max: 64 + ':live'.length, arn: LAMBDA, ref: LAMBDA },
  'AWS::Logs::LogGroup': { max: 512 + ':*'.length, arn: 'arn:P:logs:R:A:log-group:' },
  'AWS::SNS::Topic': { max: 256, arn: SNS, ref: SNS },
  'AWS::SecretsManager::Secret': { max: 512 + '-123456'.length, arn: SECRET, ref: SECRET },
  'AWS::KMS::Key': { max: 36, arn: 'arn:P:kms:R:A:key/' },
  'AWS::SSM::Parameter': { max: 900, arn: 'arn:P:ssm:R:A:parameter/' },
  // The name may follow a path.
  'AWS::IAM::Role': { max: 64 + 512, arn: 'arn:P:iam::A:role/' },
};

/**
 * Maximum lengths of pseudo parameters: `aws-us-gov`, `ap-southeast-2`, an account, `amazonaws.com.cn`.
 */
const PSEUDO: Readonly<Record<string, number>> = {
  'AWS::Partition': 10,
  'AWS::Region': 14,
  'AWS::AccountId': 12,
  'AWS::URLSuffix': 16,
};
const LETTERS = { P: 'AWS::Partition', R: 'AWS::Region', A: 'AWS::AccountId', U: 'AWS::URLSuffix' } as const;

/** Maximum length of a name, an ARN or a value of `Ref` of a type. */
export function longestOf(type: string, of: 'name' | 'arn' | 'ref', known?: Known): number {
  const { max = 0, arn = '', ref = '' } = KINDS[type] ?? {};
  const before = { name: '', arn, ref }[of];
  const letters = before.match(/\b[PRAU]\b/g) ?? [];
  const added = letters.map((letter) => lengthOf({ Ref: LETTERS[letter as keyof typeof LETTERS] }, known));
  return before.length - letters.length + added.reduce((sum, each) => sum + each, max);
}

/** The deployed length of a value in a template: of a string, or of the JSON of any other value. */
export function sizeOf(value: unknown, known?: Known): number {
  if (value === undefined) return 0;
  if (typeof value === 'string') return Buffer.byteLength(value);
  // Each reference is replaced with a string of its maximum length.
  return Buffer.byteLength(
    JSON.stringify(value, (_, each: unknown) =>
      isReference(each) ? '-'.repeat(lengthOf(each, known)) : each,
    ),
  );
}

function isReference(value: unknown): boolean {
  const [name = '', ...others] = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  return others.length === 0 && (name === 'Ref' || name.startsWith('Fn::'));
}

/**
 * The length of a name that CloudFormation generates: the stack, the logical id and 13 random characters, with dashes.
 */
const generatedOf = (id: string, known: Known) =>
  (known.longest?.get('{"Ref":"AWS::StackName"}') ?? 128) + id.length + 13 + 2;

/** Maximum length of a part of a value. A parameter without `MaxLength` counts as 0, since only AWS can check it. */
function lengthOf(part: unknown, known: Known = { resources: {} }): number {
  if (typeof part === 'string') return Buffer.byteLength(part);
  const maxLength = known.longest?.get(JSON.stringify(part));
  if (maxLength !== undefined) return maxLength;
  const parts = at(part, 'Fn::Join', '1') ?? at(part, 'Fn::Select', '1');
  if (Array.isArray(parts)) return parts.reduce((sum: number, each) => sum + lengthOf(each, known), 0);
  if (parts !== undefined) return lengthOf(at(parts, 'Fn::Split', '1'), known);
  const attribute = at(part, 'Fn::GetAtt', '1');
  const id = String(at(part, 'Ref') ?? at(part, 'Fn::GetAtt', '0'));
  const type = String(at(known.resources, id, 'Type'));
  const { max, ref } = KINDS[type] ?? {};
  if (max === undefined) return PSEUDO[id] ?? Number(at(known.parameters, id, 'MaxLength') ?? 0);
  const shorter = Math.max(0, max - generatedOf(id, known));
  const of = attribute === 'Arn' ? 'arn' : ref === undefined ? 'name' : 'ref';
  return longestOf(type, of, known) - shorter;
}

/** The value at a path of names; undefined if the path leads nowhere. */
export const at = (value: unknown, ...names: readonly string[]): unknown =>
  names.reduce<unknown>(
    (inner, name) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined),
    value,
  );

/** The number of members of a list or an object. */
export const membersOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? Object.keys(value).length : 0;

/** The largest size of an item of a list; 0 for an empty list. */
export const largestOf = (list: unknown, size: (item: unknown) => number): number =>
  Array.isArray(list) ? Math.max(0, ...list.map(size)) : 0;
