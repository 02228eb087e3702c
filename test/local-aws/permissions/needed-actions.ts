import { ACCOUNT, REGION } from '../identity.ts';
import type { Need } from './statement.ts';

/** A request as it was signed and sent. */
export type SignedRequest = {
  /** The service's name in the signature. */
  readonly service: string;
  readonly method: string;
  /** The path with the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Empty for S3. */
  readonly body: string;
};

/** The permissions that a request requires. Throws for an unknown request. */
export function needsOf(request: SignedRequest): readonly Need[] {
  const needs = NEEDS[request.service]?.(request) ?? [];
  if (needs.length === 0)
    throw new Error(`${request.service} ${request.method} ${request.path}: an unknown request`);
  return needs.map(withContext);
}

/**
 * The permission needed to learn that an object does not exist. Without the permission to list, S3 only says that
 * access is denied. AWS treats the key as the prefix of that list.
 */
export function needOfMissing(request: SignedRequest): Need | undefined {
  const { bucket, key } = placeOf(request);
  if (request.service !== 's3' || key === '' || !['GET', 'HEAD'].includes(request.method)) return undefined;
  return withContext({
    action: 's3:ListBucket',
    resource: arnOfBucket(bucket),
    context: { 's3:prefix': key },
  });
}

/** The actions needed to copy an object with its tags; empty for any other request. */
export function needsOfCopiedTags(request: SignedRequest): readonly Need[] {
  const from = sourceOf(request);
  if (from === undefined || request.headers['x-amz-tagging-directive'] === 'REPLACE') return [];
  const { bucket, key } = placeOf(request);
  return [
    { action: 's3:GetObjectTagging', resource: arnOfObject(from.bucket, from.key) },
    { action: 's3:PutObjectTagging', resource: arnOfObject(bucket, key) },
  ].map(withContext);
}

type Found = Omit<Need, 'context'> & Partial<Pick<Need, 'context'>>;

/** Adds the context of every request. Loopback counts as TLS. */
export const withContext = ({ context, ...need }: Found): Need => ({
  ...need,
  context: {
    'aws:SecureTransport': 'true',
    'aws:PrincipalAccount': ACCOUNT,
    'aws:RequestedRegion': REGION,
    ...(need.action.startsWith('s3:') ? { 's3:TlsVersion': '1.3' } : {}),
    ...context,
  },
});

const arn = (service: string, place: string) => `arn:aws:${service}:${REGION}:${ACCOUNT}:${place}`;

/** The part of `X-Amz-Target` after the dot. */
const operationOf = ({ headers }: SignedRequest) => String(headers['x-amz-target']).replace(/^.*\./, '');

const bodyOf = ({ body }: SignedRequest): Readonly<Record<string, unknown>> => JSON.parse(body);

const NEEDS: Readonly<Record<string, (request: SignedRequest) => readonly Found[]>> = {
  s3: objectNeeds,
  sqs(request) {
    const queue = String(bodyOf(request)['QueueUrl']).split('/').at(-1);
    return [
      { action: `sqs:${operationOf(request).replace(/Batch$/, '')}`, resource: arn('sqs', `${queue}`) },
    ];
  },
  dynamodb(request) {
    const { TableName, RequestItems } = bodyOf(request);
    const tables = RequestItems === undefined ? [TableName] : Object.keys(RequestItems as object);
    return tables.map((table) => ({
      action: `dynamodb:${operationOf(request)}`,
      resource: arn('dynamodb', `table/${table}`),
    }));
  },
  secretsmanager(request) {
    const id = String(bodyOf(request)['SecretId']);
    // AWS appends six characters to a secret's name.
    const resource = id.startsWith('arn:') ? id : arn('secretsmanager', `secret:${id}-AbCdEf`);
    return [{ action: `secretsmanager:${operationOf(request)}`, resource }];
  },
  ssm(request) {
    const name = String(bodyOf(request)['Name']);
    const resource = name.startsWith('arn:') ? name : arn('ssm', `parameter/${name.replace(/^\//, '')}`);
    return [{ action: `ssm:${operationOf(request)}`, resource }];
  },
  events(request) {
    const entries = bodyOf(request)['Entries'] as readonly {
      readonly EventBusName?: string;
      readonly Source: string;
      readonly DetailType: string;
    }[];
    return entries.map(({ EventBusName: bus = 'default', Source, DetailType }) => ({
      action: `events:${operationOf(request)}`,
      resource: bus.startsWith('arn:') ? bus : arn('events', `event-bus/${bus}`),
      context: { 'events:source': Source, 'events:detail-type': DetailType },
    }));
  },
  glue(request) {
    const { DatabaseName: database, TableName, Name } = bodyOf(request);
    // These actions need permission on all three resources.
    return ['catalog', `database/${database}`, `table/${database}/${TableName ?? Name}`].map((place) => ({
      action: `glue:${operationOf(request)}`,
      resource: arn('glue', place),
    }));
  },
  cloudformation({ body }) {
    const { Action, StackName } = Object.fromEntries(new URLSearchParams(body));
    return [{ action: `cloudformation:${Action}`, resource: arn('cloudformation', `stack/${StackName}/*`) }];
  },
  sns: ({ body }) => [{ action: 'sns:Publish', resource: new URLSearchParams(body).get('TopicArn') ?? '' }],
  lambda({ path }) {
    if (path.startsWith('/2016-08-19/account-settings'))
      return [{ action: 'lambda:GetAccountSettings', resource: '*' }];
    const { pathname, searchParams } = new URL(path, 'http://localhost');
    const [, invoked] = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/.exec(pathname) ?? [];
    if (invoked !== undefined) {
      const qualifier = searchParams.get('Qualifier');
      const resource = decodeURIComponent(invoked) + (qualifier === null ? '' : `:${qualifier}`);
      return [{ action: 'lambda:InvokeFunction', resource }];
    }
    const [, execution = '', kind] = /\/durable-executions\/([^/]+)\/(checkpoint|state)/.exec(path) ?? [];
    const action = { checkpoint: 'CheckpointDurableExecution', state: 'GetDurableExecutionState' }[`${kind}`];
    return action === undefined
      ? []
      : [{ action: `lambda:${action}`, resource: decodeURIComponent(execution) }];
  },
};

function objectNeeds(request: SignedRequest): readonly Found[] {
  const { bucket, key, query } = placeOf(request);
  return key === ''
    ? bucketNeeds(request.method, arnOfBucket(bucket), query)
    : oneObjectNeeds(request, arnOfObject(bucket, key), query);
}

function bucketNeeds(method: string, resource: string, query: URLSearchParams): readonly Found[] {
  const prefix = { 's3:prefix': query.get('prefix') ?? '' };
  const delimiter = query.get('delimiter');
  const context = delimiter === null ? prefix : { ...prefix, 's3:delimiter': delimiter };
  if (method === 'HEAD') return [{ action: 's3:ListBucket', resource }];
  if (method !== 'GET') return [];
  const [sub] = [...query.keys()].flatMap((name) => OF_BUCKETS[name] ?? []);
  if (sub !== undefined) return [{ action: sub, resource }];
  return [{ action: query.has('versions') ? 's3:ListBucketVersions' : 's3:ListBucket', resource, context }];
}

/** Bucket actions, by their name in the query. */
const OF_BUCKETS: Readonly<Record<string, string>> = {
  location: 's3:GetBucketLocation',
  versioning: 's3:GetBucketVersioning',
  lifecycle: 's3:GetLifecycleConfiguration',
};

function oneObjectNeeds(request: SignedRequest, resource: string, query: URLSearchParams): readonly Found[] {
  const { method, headers } = request;
  const ofVersion = query.has('versionId') ? 'Version' : '';
  const read = { action: `s3:GetObject${ofVersion}`, resource };
  const tag = { action: `s3:PutObject${ofVersion}Tagging`, resource };
  switch (method) {
    case 'GET':
    case 'HEAD':
      if (query.has('uploadId')) return [{ action: 's3:ListMultipartUploadParts', resource }];
      return query.has('tagging') ? [{ action: `s3:GetObject${ofVersion}Tagging`, resource }] : [read];
    case 'PUT':
    case 'POST': {
      if (query.has('tagging')) return [tag];
      const from = sourceOf(request);
      return [
        { action: 's3:PutObject', resource },
        // AWS compares an ETag only for callers who may read the object.
        ...(headers['if-match'] === undefined ? [] : [read]),
        ...(headers['x-amz-tagging'] === undefined ? [] : [tag]),
        ...(from === undefined
          ? []
          : [{ action: 's3:GetObject', resource: arnOfObject(from.bucket, from.key) }]),
      ];
    }
    case 'DELETE': {
      const action = query.has('uploadId') ? 's3:AbortMultipartUpload' : `s3:DeleteObject${ofVersion}`;
      return [{ action, resource }];
    }
    default:
      return [];
  }
}

const arnOfBucket = (bucket: string) => `arn:aws:s3:::${bucket}`;
const arnOfObject = (bucket: string, key: string) => `arn:aws:s3:::${bucket}/${key}`;

function placeOf({ path }: Pick<SignedRequest, 'path'>) {
  const { pathname, searchParams: query } = new URL(path, 'http://localhost');
  const [, bucket = '', key = ''] = /^\/([^/]+)\/?(.*)$/s.exec(decodeURIComponent(pathname)) ?? [];
  return { bucket, key, query };
}

/** The object that a request copies; undefined if it copies none. */
export function sourceOf({ headers, service }: SignedRequest) {
  const source = headers['x-amz-copy-source'];
  if (service !== 's3' || source === undefined) return undefined;
  const [, bucket = '', key = ''] = /^\/?([^/]+)\/([^?]*)/.exec(decodeURIComponent(String(source))) ?? [];
  return { bucket, key };
}
