import { account, region } from '../../lib/sandbox/aws/identity.ts';
import type { ServiceRequest } from '../../lib/sandbox/aws/services/gateway.ts';

/** What a request needs of whoever asks. */
export type Need = {
  readonly action: string;
  readonly resource: string;
  /** What conditions of a statement may ask for. */
  readonly context: Readonly<Record<string, string>>;
};

/** The IAM actions that AWS asks for a request, and on what. Throws for a request that it does not know. */
export function needsOf(asked: ServiceRequest): readonly Need[] {
  const needs = NEEDS[asked.service]?.(asked) ?? [];
  if (needs.length === 0) throw new Error(`${asked.service} ${asked.method} ${asked.path}: not known`);
  return needs.map((need) => ({ context: {}, ...need }));
}

type Found = Omit<Need, 'context'> & Partial<Pick<Need, 'context'>>;

const arn = (service: string, place: string) => `arn:aws:${service}:${region}:${account}:${place}`;

/** Of `X-Amz-Target`, after the dot. */
const operationOf = ({ headers }: ServiceRequest) => String(headers['x-amz-target']).replace(/^.*\./, '');

const bodyOf = ({ body }: ServiceRequest): Readonly<Record<string, unknown>> => JSON.parse(body);

const NEEDS: Readonly<Record<string, (asked: ServiceRequest) => readonly Found[]>> = {
  s3: objectNeeds,
  sqs(asked) {
    const queue = String(bodyOf(asked)['QueueUrl']).split('/').at(-1);
    return [{ action: `sqs:${operationOf(asked).replace(/Batch$/, '')}`, resource: arn('sqs', `${queue}`) }];
  },
  dynamodb: (asked) => [
    {
      action: `dynamodb:${operationOf(asked)}`,
      resource: arn('dynamodb', `table/${bodyOf(asked)['TableName']}`),
    },
  ],
  secretsmanager: (asked) => [
    { action: `secretsmanager:${operationOf(asked)}`, resource: String(bodyOf(asked)['SecretId']) },
  ],
  events(asked) {
    const entries = bodyOf(asked)['Entries'] as readonly {
      readonly EventBusName: string;
      readonly Source: string;
    }[];
    return entries.map(({ EventBusName: bus, Source }) => ({
      action: `events:${operationOf(asked)}`,
      resource: arn('events', `event-bus/${bus}`),
      context: { 'events:source': Source },
    }));
  },
  glue(asked) {
    const { DatabaseName: database, TableName, Name } = bodyOf(asked);
    // Of all three.
    return ['catalog', `database/${database}`, `table/${database}/${TableName ?? Name}`].map((place) => ({
      action: `glue:${operationOf(asked)}`,
      resource: arn('glue', place),
    }));
  },
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
  const list = { action: 's3:ListBucket', resource: `arn:aws:s3:::${bucket}` };
  const read = { action: 's3:GetObject', resource: object };
  const write = { action: 's3:PutObject', resource: object };
  switch (`${method} ${key === '' ? 'bucket' : 'object'}`) {
    case 'GET bucket':
      return [list];
    case 'GET object':
    case 'HEAD object':
      // Without the list AWS does not tell that an object is not there.
      return status === 404 ? [read, list] : [read];
    case 'PUT object':
    case 'POST object': {
      const source = headers['x-amz-copy-source'];
      const copied = { action: 's3:GetObject', resource: `arn:aws:s3:::${sourceOf(String(source))}` };
      // An ETag is compared for those alone who may read it.
      const compared = headers['if-match'] === undefined ? [] : [read];
      return [write, ...compared, ...(source === undefined ? [] : [copied])];
    }
    case 'DELETE object':
      return [
        { action: query.has('uploadId') ? 's3:AbortMultipartUpload' : 's3:DeleteObject', resource: object },
      ];
    default:
      return [];
  }
}

const sourceOf = (header: string) => decodeURIComponent(header).replace(/^\//, '').replace(/\?.*$/, '');
