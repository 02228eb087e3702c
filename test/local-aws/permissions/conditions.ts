/** The condition of a statement: the values by operator and key. One matching value is enough. */
export type Condition = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The properties of a request, by condition key; a missing property has no key. */
export type Context = Readonly<Record<string, string>>;

/**
 * Whether a request satisfies a condition: every key of every operator, each with one of its values. Throws for an
 * operator or a key that is not listed here, since ignoring it would give a wrong result. Source:
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html
 */
export const satisfies = (context: Context, condition: Condition): boolean =>
  Object.entries(condition).every(([operator, keys]) =>
    Object.entries(keys).every(([key, values]) => holds(operator, context[known(key)], [values].flat())),
  );

function holds(operator: string, got: string | undefined, values: readonly unknown[]): boolean {
  const [, name = '', ifExists] = /^(.*?)(IfExists)?$/.exec(operator) ?? [];
  const isAbsent = got === undefined;
  if (name === 'Null') return values.some((value) => String(value) === String(isAbsent));
  const positive = name.replace('Not', '');
  const isNegated = positive !== name;
  const compare = OPERATORS[positive];
  if (compare === undefined) throw new Error(`expected a known operator of conditions, got ${operator}`);
  // If the key is missing, a condition of equality fails, and one of inequality holds.
  if (isAbsent) return ifExists !== undefined || isNegated;
  return values.some((value) => compare(got, String(value))) !== isNegated;
}

type Compare = (got: string, value: string) => boolean;

const number =
  (compare: (got: number, value: number) => boolean): Compare =>
  (got, value) =>
    compare(Number(got), Number(value));

const OPERATORS: Readonly<Record<string, Compare>> = {
  StringEquals: (got, value) => got === value,
  StringEqualsIgnoreCase: (got, value) => got.toLowerCase() === value.toLowerCase(),
  StringLike: matchesPattern,
  ArnEquals: matchesArn,
  ArnLike: matchesArn,
  Bool: (got, value) => got.toLowerCase() === value.toLowerCase(),
  NumericEquals: number((got, value) => got === value),
  NumericLessThan: number((got, value) => got < value),
  NumericLessThanEquals: number((got, value) => got <= value),
  NumericGreaterThan: number((got, value) => got > value),
  NumericGreaterThanEquals: number((got, value) => got >= value),
};

/** Whether a string matches an IAM pattern, in which `*` is any string and `?` any character. */
export function matchesPattern(text: string, pattern: string): boolean {
  const expression =
    patterns.get(pattern) ??
    new RegExp(`^${RegExp.escape(pattern).replaceAll('\\*', '.*').replaceAll('\\?', '.')}$`, 's');
  patterns.set(pattern, expression);
  return expression.test(text);
}

const patterns = new Map<string, RegExp>();

/** Matches an ARN part by part: a `*` matches no colon before the sixth part. */
function matchesArn(got: string, pattern: string): boolean {
  const partsOf = (arn: string) => {
    const parts = arn.split(':');
    return [...parts.slice(0, 5), parts.slice(5).join(':')];
  };
  const parts = partsOf(got);
  return partsOf(pattern).every((part, index) => matchesPattern(parts[index] ?? '', part));
}

/** Returns a condition key that requests here have wherever AWS sets it; throws for any other key. */
function known(key: string): string {
  if (!KEYS.some((pattern) => matchesPattern(key, pattern)))
    throw new Error(`expected a known key of conditions, got ${key}`);
  return key;
}

const KEYS = [
  'aws:PrincipalArn',
  'aws:PrincipalAccount',
  'aws:ResourceAccount',
  'aws:SecureTransport',
  'aws:SourceAccount',
  'aws:SourceArn',
  'aws:RequestedRegion',
  'events:source',
  'events:detail-type',
  'kms:CallerAccount',
  'kms:EncryptionContext:*',
  'kms:ViaService',
  's3:RequestObjectTag/*',
  's3:TlsVersion',
  's3:delimiter',
  's3:prefix',
];
