type Pattern = Readonly<Record<string, unknown>>;

/**
 * The fields of an event that a `run-function` job causes, each with its possible values; `*` ends a prefix.
 * An empty list means that the event lacks the field.
 */
type OwnEvent = Readonly<Record<string, readonly string[]>>;

/** Where an instance stores objects and rows, as far as that is known before deployment. */
export type OwnPlace = { readonly bucket?: string | undefined; readonly prefix?: string | undefined };

/**
 * Stands for names that are known only at deployment: no exact text equals it, and any other match type is
 * assumed to match.
 */
const UNNAMED = '';

/** Events of S3 for objects that a job stores, from the bucket and from CloudTrail. */
function ofStore({ bucket = UNNAMED, prefix }: OwnPlace): readonly OwnEvent[] {
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

const ownEvents = (place: OwnPlace): readonly OwnEvent[] => [
  { source: ['platform-sync'], 'detail-type': ['JobFinished'], 'detail.type': ['run-function'] },
  ...ofStore(place),
  ...Object.entries(CALLS).map(([source, calls]) => ({
    source: [source],
    'detail-type': [BY_CLOUDTRAIL],
    'detail.eventName': calls,
  })),
];

/**
 * Finds an event of a job that a rule with this pattern may match, so that its function would run again each time that it
 * ends, forever. A field counts only if the pattern has it outside `$or`, with exact values, `prefix` or `anything-but`;
 * other match types are assumed to match. Undefined if there is no such event.
 */
export function feedsItself(
  pattern: Pattern,
  place: OwnPlace,
): { source: string; detailType: string } | undefined {
  const found = ownEvents(place).find((event) =>
    Object.entries(event).every(([path, own]) => admits(valuesAt(pattern, path), own)),
  );
  return found && { source: String(found['source']), detailType: String(found['detail-type']) };
}

/** The list of a field. Names may be joined by dots, or be those of nested objects. */
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
  if (own === UNNAMED || typeof value !== 'object' || value === null) return own === UNNAMED;
  const { prefix, 'anything-but': others } = value as Pattern;
  if (typeof prefix === 'string') return start.startsWith(prefix) || (isPrefix && prefix.startsWith(start));
  return !(isPrefix ? [] : [others].flat()).includes(own);
}
