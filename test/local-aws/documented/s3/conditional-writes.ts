import type { AwsRequest } from '../aws-request.ts';
import { type Refusal, type Reply, refuse } from '../reply.ts';
import type { Ask, Rule } from '../rule.ts';
import { createTurns } from '../turns.ts';
import { placeOf, WRITES } from './s3-operation.ts';

/**
 * Supports If-None-Match: * and If-Match on PutObject, CopyObject, CompleteMultipartUpload and DeleteObject.
 * test/local-aws/documented/s3/conditional-writes.test.ts fails once fauxqs does this itself.
 */
export const conditionalWrites = {
  service: 's3',
  kind: 'strict',
  says: 'A write under If-None-Match: * or If-Match is refused with 412 if the condition does not hold, and with 404 if there is no object to match.',
  page: 'https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html',
  create: ({ ask }) => {
    const inTurn = createTurns();
    return async (request, next) => {
      if (!changesObjects(request)) return next(request);
      // All changes of an object run one after another, even unconditional ones: none may happen between another's
      // check and write.
      return inTurn(
        placeOf(request).bucket,
        async () => (await findRefusal(request, ask)) ?? (await next(request)),
      );
    };
  },
} as const satisfies Rule;

/** Occasionally, a conditional write that fails because of a simultaneous write of the object is rejected as a conflict. */
export const writesConflict = {
  service: 's3',
  kind: 'weak',
  says: 'A conditional write during another write of the same object may be refused with 409 ConditionalRequestConflict.',
  page: 'https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html',
  create: ({ random }) => {
    const underWay = new Map<string, number>();
    const count = (path: string, change: number) => underWay.set(path, (underWay.get(path) ?? 0) + change);
    return async (request, next) => {
      if (!WRITES.has(request.operation)) return next(request);
      const isBeside = (underWay.get(request.path) ?? 0) > 0;
      count(request.path, 1);
      const reply = await next(request).finally(() => count(request.path, -1));
      return isBeside && reply.status === 412 && random.chance(0.5) ? refuse('s3', conflict) : reply;
    };
  },
} as const satisfies Rule;

const changesObjects = ({ operation }: AwsRequest): boolean =>
  WRITES.has(operation) || operation === 'DeleteObject';

async function findRefusal(request: AwsRequest, ask: Ask): Promise<Reply | undefined> {
  const { 'if-none-match': ifNoneMatch, 'if-match': ifMatch } = request.headers;
  if (ifNoneMatch === undefined && ifMatch === undefined) return undefined;
  if (ifNoneMatch !== undefined && (ifNoneMatch !== '*' || ifMatch !== undefined))
    return refuse('s3', notImplemented);
  const etag = await currentEtag(request, ask);
  if (ifNoneMatch !== undefined)
    return etag === undefined ? undefined : refuse('s3', preconditionFailed('If-None-Match'));
  if (etag === undefined) return refuse('s3', noSuchKey);
  return unquote(String(ifMatch)) === unquote(etag)
    ? undefined
    : refuse('s3', preconditionFailed('If-Match'));
}

async function currentEtag(request: AwsRequest, ask: Ask): Promise<string | undefined> {
  const { status, headers } = await ask(headOf(request));
  return status === 200 ? String(headers['etag']) : undefined;
}

/** A HeadObject request for the object that another request names. */
export const headOf = (request: AwsRequest): AwsRequest => ({
  ...request,
  operation: 'HeadObject',
  method: 'HEAD',
  query: new URLSearchParams(),
  headers: {},
  body: Buffer.alloc(0),
});

const unquote = (etag: string): string => etag.replace(/^"(.*)"$/, '$1');

const preconditionFailed = (condition: string): Refusal => ({
  status: 412,
  code: 'PreconditionFailed',
  message: 'At least one of the pre-conditions you specified did not hold',
  more: { Condition: condition },
});

const noSuchKey: Refusal = { status: 404, code: 'NoSuchKey', message: 'The specified key does not exist.' };

const notImplemented: Refusal = {
  status: 501,
  code: 'NotImplemented',
  message: 'A header you provided implies functionality that is not implemented',
};

const conflict: Refusal = {
  status: 409,
  code: 'ConditionalRequestConflict',
  message: 'The conditional request cannot succeed due to a conflicting operation against this resource.',
};
