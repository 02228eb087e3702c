import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { prices } from '../infra/cost/prices.ts';
import { type LoopbackServer, startLoopbackServer } from '../local-aws/services/loopback-server.ts';
import { createDynamoInMemory } from './dynamo-in-memory.ts';

export type AwsInMemory = LoopbackServer & {
  /** The objects of all buckets, by `BUCKET/KEY`. */
  readonly objects: ReadonlyMap<string, Buffer>;
  /** The cost of the requests so far, at on-demand list prices. */
  readonly dollars: () => number;
  /** Delays each further response by this number of milliseconds. */
  readonly setLatency: (ms: number) => void;
  /** The SDK's environment variables for it. */
  readonly settings: Readonly<Record<string, string>>;
};

/**
 * Starts the part of DynamoDB, S3 and SQS that workers use, in this process's memory. It takes a fifth of the CPU of
 * the local AWS (docs/local-aws.md), without its checks: for measurements that the local AWS would dominate. Only
 * conditions can fail, and SQS accepts messages without delivering them.
 */
export async function startAwsInMemory(): Promise<AwsInMemory> {
  const [objects, uploads] = [new Map<string, Buffer>(), new Map<string, Buffer[]>()];
  const dynamo = createDynamoInMemory();
  let [dollars, latencyMs] = [0, 0];
  const server = await startLoopbackServer(async (request, response) => {
    const body = await buffer(request).catch(() => undefined);
    // The sender of the request has died.
    if (body === undefined) return;
    if (latencyMs > 0) await delay(latencyMs);
    const [service = '', operation = ''] = String(request.headers['x-amz-target'] ?? '').split('.');
    if (service.startsWith('DynamoDB')) {
      const reply = dynamo(operation, JSON.parse(body.toString()));
      const isRead = /Get|Query|Scan/.test(operation);
      dollars += (reply.units ?? 0) * (isRead ? prices.dynamoRead : prices.dynamoWrite);
      respondJson(response, reply.status, reply.body);
    } else if (service === 'AmazonSQS') {
      dollars += prices.sqsRequest;
      respondJson(response, 200, {});
    } else {
      dollars += priceOfS3(request);
      const complete = takePart(uploads, { request, body }, response);
      if (complete !== undefined) respondS3(objects, { request, body: complete }, response);
    }
  });
  const settings = {
    AWS_ENDPOINT_URL: server.endpoint,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
    AWS_SECRET_ACCESS_KEY: 'any',
  };
  return {
    ...server,
    ...{ objects, settings, dollars: () => dollars },
    setLatency(ms) {
      latencyMs = ms;
    },
  };
}

/** The price of a request to S3. A list costs as much as a write, and a deletion is free. */
function priceOfS3({ method, url = '' }: IncomingMessage): number {
  if (method === 'DELETE') return 0;
  return method === 'PUT' || method === 'POST' || url.includes('list-type') ? prices.s3Write : prices.s3Read;
}

const respondJson = (response: ServerResponse, status: number, value: object) =>
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(value));

type Asked = { readonly request: IncomingMessage; readonly body: Buffer };

/** Responds to requests that begin an upload or contain a part. For the one that ends the upload, returns the body. */
function takePart(uploads: Map<string, Buffer[]>, { request, body }: Asked, response: ServerResponse) {
  const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
  if (searchParams.has('uploads')) {
    const id = String(uploads.size + 1);
    uploads.set(id, []);
    const begun = `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`;
    return void response.writeHead(200, { 'content-type': 'application/xml' }).end(begun);
  }
  const parts = uploads.get(searchParams.get('uploadId') ?? '');
  if (parts === undefined) return body;
  if (request.method === 'POST') return Buffer.concat(parts.splice(0));
  parts[Number(searchParams.get('partNumber')) - 1] = body;
  return void response.writeHead(200, { etag: etagOf(body) }).end();
}

const etagOf = (body: Buffer): string => `"${createHash('md5').update(body).digest('hex')}"`;

function respondS3(objects: Map<string, Buffer>, { request, body }: Asked, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const key = decodeURIComponent(url.pathname).slice(1);
  const old = objects.get(key);
  const refuse = (status: number, code: string) =>
    response
      .writeHead(status, { 'content-type': 'application/xml' })
      .end(request.method === 'HEAD' ? undefined : `<Error><Code>${code}</Code></Error>`);
  if (url.searchParams.has('list-type')) {
    response
      .writeHead(200, { 'content-type': 'application/xml' })
      .end(listed(objects, key, url.searchParams));
  } else if (request.method === 'PUT' || request.method === 'POST') {
    const { 'if-none-match': onlyIfAbsent, 'if-match': onlyOver } = request.headers;
    const isRefused =
      (onlyIfAbsent !== undefined && old !== undefined) ||
      (onlyOver !== undefined && (old === undefined || etagOf(old) !== onlyOver));
    if (isRefused) return void refuse(412, 'PreconditionFailed');
    objects.set(key, body);
    const etag = etagOf(body);
    const uploaded = `<CompleteMultipartUploadResult><ETag>${etag}</ETag></CompleteMultipartUploadResult>`;
    response.writeHead(200, { etag }).end(request.method === 'POST' ? uploaded : undefined);
  } else if (request.method === 'DELETE') {
    objects.delete(key);
    response.writeHead(204).end();
  } else if (old === undefined) refuse(404, 'NoSuchKey');
  else {
    const headers = { etag: etagOf(old), 'content-length': old.byteLength };
    response.writeHead(200, headers).end(request.method === 'HEAD' ? undefined : old);
  }
}

/** All keys of a bucket with a prefix, on one page. */
function listed(objects: ReadonlyMap<string, Buffer>, path: string, query: URLSearchParams): string {
  const bucket = `${path.replace(/\/$/, '')}/`;
  const found = [...objects.keys()]
    .filter((key) => key.startsWith(`${bucket}${query.get('prefix') ?? ''}`))
    .toSorted()
    .map((key) => `<Contents><Key>${key.slice(bucket.length)}</Key></Contents>`);
  return `<ListBucketResult><IsTruncated>false</IsTruncated>${found.join('')}</ListBucketResult>`;
}
