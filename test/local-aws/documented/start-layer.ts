import { buildApp } from 'fauxqs';
import { credentials } from '../identity.ts';
import { createQueue } from '../services/create-queue.ts';
import { startDynamoDb } from '../services/start-dynamo-db.ts';
import { isMembers, type Members, parseMembers, parseRequest, type ServiceName } from './aws-request.ts';
import { createLayer, type OffRules } from './layer.ts';
import type { Reply } from './reply.ts';
import type { Ask } from './rule.ts';
import { type RuleName, rules } from './rules.ts';
import { askFauxqs, askServer } from './stand-ins.ts';

export type LayerOptions = {
  /** The rules that are on. */
  readonly only: readonly RuleName[];
  readonly seed?: number;
  readonly now?: () => number;
  /** Called for every request to fauxqs, before it is sent. */
  readonly onAsk?: (path: string) => Promise<void>;
};

type S3Options = { readonly headers?: Readonly<Record<string, string>>; readonly body?: string | Buffer };

const everyRuleBut = (only: readonly RuleName[]): OffRules =>
  Object.fromEntries(
    Object.keys(rules)
      .filter((name) => !only.some((each) => each === name))
      .map((name) => [name, 'only some rules are under test']),
  );

/** Starts the layer in this process, with a bucket `bucket`, a queue `jobs` and, if a rule needs it, a table `table`. */
export async function startLayer({ only, seed = 1, now = Date.now, onAsk }: LayerOptions) {
  await using started = new AsyncDisposableStack();
  const app = buildApp({ logger: false });
  started.defer(async () => void (await app.close()));
  await app.inject({ method: 'PUT', url: '/bucket' });
  await createQueue(app, { name: 'jobs' });
  const fauxqs = askFauxqs(app);
  const watched: Ask = async (request) => {
    await onAsk?.(request.path);
    return fauxqs(request);
  };
  const noTables: Ask = () => Promise.reject(new Error('expected no request to DynamoDB'));
  const dynamodb = only.some((name) => rules[name].service === 'dynamodb')
    ? await startTable(started)
    : noTables;
  const ask = createLayer({
    standIns: { s3: watched, sqs: watched, dynamodb },
    seed,
    now,
    off: everyRuleBut(only),
  });
  const running = started.move();
  return {
    s3: (method: string, url: string, { headers = {}, body = '' }: S3Options = {}): Promise<Reply> =>
      ask(signed('s3', { method, url, headers, body: Buffer.from(body) })),
    sqs: async (operation: string, members: Members = {}) =>
      answer(
        await ask(
          signed('sqs', {
            method: 'POST',
            url: '/',
            headers: {
              'content-type': 'application/x-amz-json-1.0',
              'x-amz-target': `AmazonSQS.${operation}`,
            },
            body: Buffer.from(JSON.stringify({ QueueUrl: 'http://localhost/000000000000/jobs', ...members })),
          }),
        ),
      ),
    dynamodb: async (operation: string, members: Members) =>
      answer(
        await ask(
          signed('dynamodb', {
            method: 'POST',
            url: '/',
            headers: {
              'content-type': 'application/x-amz-json-1.0',
              'x-amz-target': `DynamoDB_20120810.${operation}`,
            },
            body: Buffer.from(JSON.stringify(members)),
          }),
        ),
      ),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function startTable(started: AsyncDisposableStack): Promise<Ask> {
  const server = await startDynamoDb(['table']);
  started.defer(server.close);
  const { ask, close } = askServer(server.endpoint, credentials.accessKeyId);
  started.defer(close);
  return ask;
}

type Unsigned = {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

function signed(service: ServiceName, { headers, ...request }: Unsigned) {
  const authorization = `AWS4-HMAC-SHA256 Credential=key/20260101/us-east-1/${service}/aws4_request, SignedHeaders=host, Signature=0`;
  const parsed = parseRequest({
    ...request,
    headers: { ...headers, authorization, 'x-amz-date': '20260101T000000Z' },
  });
  if (parsed === undefined) throw new Error(`expected a request to ${service}`);
  return parsed;
}

/** The members of a JSON reply, and the name of its error. */
function answer(reply: Reply) {
  const members = parseMembers(reply.body);
  const error = String(members['__type'] ?? '').replace(/^.*#/, '');
  return { status: reply.status, error, isLost: reply.isLost === true, ...members };
}

/** An object within a reply. */
export const inside = (value: unknown): Members => (isMembers(value) ? value : {});
