type Pattern = Readonly<Record<string, unknown>>;

/**
 * The fields of an event that a `run-function` job causes, each with its possible values. A value that ends in `*` is a
 * prefix. An empty list: the event does not have the field.
 */
type OwnEvent = Readonly<Record<string, readonly string[]>>;

/** The store of an instance, if it is known before deployment. */
export type OwnStore = { readonly bucket?: string | undefined; readonly prefix?: string | undefined };

/**
 * The value for names that are known only at deployment. No exact value of a pattern equals it; match types other than
 * exact values are assumed to match it.
 */
const UNKNOWN_NAME = '';

/** Events of S3 for objects that a job stores, from the bucket and from CloudTrail. */
function storeEvents({ bucket = UNKNOWN_NAME, prefix }: OwnStore): readonly OwnEvent[] {
  const root = prefix === undefined ? '' : `${prefix.replaceAll(/^\/+|\/+$/g, '')}/`;
  const keys = ['results/*', 'work/*', 'refused/*'].map((folder) => `${root}${folder}`);
  return [
    {
      source: ['aws.s3'],
      'detail-type': ['Object Created', 'Object Deleted'],
      'detail.bucket.name': [bucket],
      'detail.object.key': keys,
    },
    {
      source: ['aws.s3'],
      'detail-type': [BY_CLOUDTRAIL],
      'detail.bucket.name': [],
      'detail.requestParameters.bucketName': [bucket],
      'detail.requestParameters.key': keys,
      'detail.eventName': [
        ...['Get', 'Put', 'Copy', 'Head', 'List', 'Delete'].map((verb) => `${verb}Object*`),
        ...['Create', 'Complete'].map((verb) => `${verb}MultipartUpload`),
        'UploadPart*',
      ],
    },
  ];
}

const BY_CLOUDTRAIL = 'AWS API Call via CloudTrail';

/** Other calls of a running job that a trail may record. */
const CALLS = {
  'aws.dynamodb': ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query', 'Batch*', 'Transact*'],
  'aws.sqs': ['SendMessage*', 'ReceiveMessage', 'DeleteMessage*', 'ChangeMessage*'],
  'aws.lambda': ['Invoke*'],
  'aws.events': ['PutEvents'],
  'aws.secretsmanager': ['GetSecretValue'],
  'aws.ssm': ['GetParameter'],
  'aws.kms': ['Decrypt', 'GenerateDataKey'],
  'aws.sts': ['AssumeRole'],
  'aws.logs': ['CreateLogStream', 'PutLogEvents'],
};

const ownEvents = (store: OwnStore): readonly OwnEvent[] => [
  { source: ['platform-sync'], 'detail-type': ['JobFinished'], 'detail.type': ['run-function'] },
  ...storeEvents(store),
  ...Object.entries(CALLS).map(([source, calls]) => ({
    source: [source],
    'detail-type': [BY_CLOUDTRAIL],
    'detail.eventName': calls,
  })),
];

/**
 * Finds an event of a job that this pattern may match, so that the function of the rule would start itself again and
 * again. A field of the pattern excludes an event only if it is outside `$or` and has exact values, `prefix` or
 * `anything-but`; other match types are assumed to match. Undefined if there is no such event.
 */
export function feedsItself(
  pattern: Pattern,
  store: OwnStore,
): { source: string; detailType: string } | undefined {
  const match = ownEvents(store).find((event) =>
    Object.entries(event).every(([path, own]) => admits(valuesAt(pattern, path), own)),
  );
  return match && { source: String(match['source']), detailType: String(match['detail-type']) };
}

/** The values of a field of the pattern. Nested fields may be nested objects, or names that are joined by dots. */
function valuesAt(pattern: Pattern, path: string): readonly unknown[] | undefined {
  return Object.entries(pattern)
    .map(([name, each]) => {
      if (name === path) return Array.isArray(each) ? each : undefined;
      const isWithin = path.startsWith(`${name}.`) && typeof each === 'object' && each !== null;
      return isWithin ? valuesAt(each as Pattern, path.slice(name.length + 1)) : undefined;
    })
    .find((values) => values !== undefined);
}

function admits(values: readonly unknown[] | undefined, own: readonly string[]): boolean {
  if (values === undefined) return true;
  if (own.length === 0) return values.some((value) => typeof value === 'object');
  return values.some((value) => own.some((each) => mayMatch(value, each)));
}

function mayMatch(value: unknown, own: string): boolean {
  const isPrefix = own.endsWith('*');
  const start = isPrefix ? own.slice(0, -1) : own;
  if (typeof value === 'string') return isPrefix ? value.startsWith(start) : value === own;
  if (own === UNKNOWN_NAME || typeof value !== 'object' || value === null) return own === UNKNOWN_NAME;
  const { prefix, 'anything-but': others } = value as Pattern;
  if (typeof prefix === 'string') return start.startsWith(prefix) || (isPrefix && prefix.startsWith(start));
  return !(isPrefix ? [] : [others].flat()).includes(own);
}
