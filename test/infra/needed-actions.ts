import { ACCOUNT, REGION } from '../local-aws/identity.ts';
import type { ServiceRequest } from '../local-aws/services/gateway.ts';

/** What a request requires of its caller. */
export type Need = {
  readonly action: string;
  readonly resource: string;
  /** What the conditions of a statement may require. */
  readonly context: Readonly<Record<string, string>>;
};

/** The IAM actions that AWS requires for a request, and on what. Throws for an unknown request. */
export function needsOf(request: ServiceRequest): readonly Need[] {
  const needs = NEEDS[request.service]?.(request) ?? [];
  if (needs.length === 0)
    throw new Error(`${request.service} ${request.method} ${request.path}: an unknown request`);
  return needs.map((need) => ({ context: {}, ...need }));
}

type Found = Omit<Need, 'context'> & Partial<Pick<Need, 'context'>>;

const arn = (service: string, place: string) => `arn:aws:${service}:${REGION}:${ACCOUNT}:${place}`;

/** Of `X-Amz-Target`, after the dot. */
const operationOf = ({ headers }: ServiceRequest) => String(headers['x-amz-target']).replace(/^.*\./, '');

const bodyOf = ({ body }: ServiceRequest): Readonly<Record<string, unknown>> => JSON.parse(body);

const NEEDS: Readonly<Record<string, (request: ServiceRequest) => readonly Found[]>> = {
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
  secretsmanager: (request) => [
    { action: `secretsmanager:${operationOf(request)}`, resource: String(bodyOf(request)['SecretId']) },
  ],
  ssm: (request) => [{ action: `ssm:${operationOf(request)}`, resource: String(bodyOf(request)['Name']) }],
  events(request) {
    const entries = bodyOf(request)['Entries'] as readonly {
      readonly EventBusName: string;
      readonly Source: string;
    }[];
    return entries.map(({ EventBusName: bus, Source }) => ({
      action: `events:${operationOf(request)}`,
      resource: arn('events', `event-bus/${bus}`),
      context: { 'events:source': Source },
    }));
  },
  glue(request) {
    const { DatabaseName: database, TableName, Name } = bodyOf(request);
    // On all three.
    return ['catalog', `database/${database}`, `table/${database}/${TableName ?? Name}`].map((place) => ({
      action: `glue:${operationOf(request)}`,
      resource: arn('glue', place),
    }));
  },
  sns: ({ body }) => [{ action: 'sns:Publish', resource: new URLSearchParams(body).get('TopicArn') ?? '' }],
  lambda({ path }) {
    const [, invoked] = /^\/2015-03-31\/functions\/([^/]+)\/invocations/.exec(path) ?? [];
    if (invoked !== undefined)
      return [{ action: 'lambda:InvokeFunction', resource: decodeURIComponent(invoked) }];
    const [, execution = '', kind] = /\/durable-executions\/([^/]+)\/(checkpoint|state)/.exec(path) ?? [];
    const action = { checkpoint: 'CheckpointDurableExecution', state: 'GetDurableExecutionState' }[`${kind}`];
    return action === undefined
      ? []
      : [{ action: `lambda:${action}`, resource: decodeURIComponent(execution) }];
  },
};

function objectNeeds({ method, path, headers, status }: ServiceRequest): readonly Found[] {
  const { pathname, searchParams: query } = new URL(path, 'http://localhost');
  const [, bucket = '', key = ''] = /^\/([^/]+)\/?(.*)$/.exec(decodeURIComponent(pathname)) ?? [];
  const object = `arn:aws:s3:::${bucket}/${key}`;
  const ofBucket = `arn:aws:s3:::${bucket}`;
  const listed = { resource: ofBucket, context: { 's3:prefix': query.get('prefix') ?? '' } };
  // For an object that does not exist, AWS takes its key for the prefix.
  const list = { action: 's3:ListBucket', resource: ofBucket, context: { 's3:prefix': key } };
  const ofVersion = query.has('versionId') ? 'Version' : '';
  const read = { action: `s3:GetObject${ofVersion}`, resource: object };
  const write = { action: 's3:PutObject', resource: object };
  switch (`${method} ${key === '' ? 'bucket' : 'object'}`) {
    case 'GET bucket':
      return [{ action: query.has('versions') ? 's3:ListBucketVersions' : 's3:ListBucket', ...listed }];
    case 'GET object':
    case 'HEAD object':
      if (query.has('tagging')) return [{ action: 's3:GetObjectTagging', resource: object }];
      // Without the right to list, AWS does not say that an object does not exist.
      return status === 404 ? [read, list] : [read];
    case 'PUT object':
    case 'POST object': {
      if (query.has('tagging')) return [{ action: 's3:PutObjectTagging', resource: object }];
      const source = headers['x-amz-copy-source'];
      const copied = { action: 's3:GetObject', resource: `arn:aws:s3:::${sourceOf(String(source))}` };
      // AWS compares an ETag only for callers who may read the object.
      const compared = headers['if-match'] === undefined ? [] : [read];
      const tagged =
        headers['x-amz-tagging'] === undefined ? [] : [{ action: 's3:PutObjectTagging', resource: object }];
      return [write, ...compared, ...tagged, ...(source === undefined ? [] : [copied])];
    }
    case 'DELETE object':
      return [
        {
          action: query.has('uploadId') ? 's3:AbortMultipartUpload' : `s3:DeleteObject${ofVersion}`,
          resource: object,
        },
      ];
    default:
      return [];
  }
}

const sourceOf = (header: string) => decodeURIComponent(header).replace(/^\//, '').replace(/\?.*$/, '');
