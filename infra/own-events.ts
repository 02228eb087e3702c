type Pattern = Readonly<Record<string, unknown>>;

/** What an event that a `run-function` job causes says, by field: one of these values, of which `*` ends a prefix; without any, the event lacks the field. */
type OwnEvent = Readonly<Record<string, readonly string[]>>;

/** Where an instance stores things, as far as it is known before deployment. */
export type OwnPlace = { readonly bucket?: string | undefined; readonly prefix?: string | undefined };

/** Stands for what is named only at deployment: no exact text is this one, and any other match type may find it. */
const UNNAMED = '';

/** Events of S3 that follow from what a job stores, as the bucket sends them and as CloudTrail does. */
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

/** Other calls of a running job, which a trail may record. */
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
 * The event of a job that a rule with this pattern may match, so that the function which it runs would run again each time
 * that it ends, for ever. A field counts only where the pattern names it outside `$or`, by exact values, `prefix` or
 * `anything-but`: what any other match type means is for EventBridge to say. Undefined if there is no such event.
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

/** The list for a field, whose names are joined by dots or are those of objects within each other. */
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
