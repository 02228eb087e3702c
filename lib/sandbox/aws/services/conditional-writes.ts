import type { buildApp } from 'fauxqs';

export type FauxqsApp = ReturnType<typeof buildApp>;

/**
 * Makes fauxqs honour If-None-Match: * and If-Match where S3 does: PutObject, CopyObject and
 * CompleteMultipartUpload. Responds with S3's own errors: 412 PreconditionFailed, 404 NoSuchKey for If-Match on a
 * missing object, 501 NotImplemented for other conditions. Must be added before the app is ready, and no asynchronous
 * preHandler hook may follow it.
 * test/sandbox/aws/services/conditional-writes.test.ts fails once fauxqs does this itself.
 */
export function addConditionalWrites(app: FauxqsApp): void {
  const inTurn = createTurns();
  app.addHook('preHandler', (request, reply, done) => {
    if (!changesObjects(request.method, request.url)) return done();
    // Every change waits its turn, not only the conditional ones: none may happen between another's check and write.
    void inTurn(async () => {
      const refusal = await findRefusal(app, request.url, request.headers);
      // fauxqs's handlers write synchronously: the object has changed when done() returns, within this turn.
      if (refusal === undefined) return done();
      reply.code(refusal.status).header('content-type', 'application/xml').send(toXml(refusal));
    }).catch(done);
  });
}

type Refusal = {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly condition: string;
};

type Headers = { readonly [name: string]: string | readonly string[] | undefined };

function createTurns() {
  let last: Promise<void> = Promise.resolve();
  return (work: () => Promise<void>): Promise<void> => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  };
}

// "/" is SQS; /bucket and its objects are S3.
const changesObjects = (method: string, url: string): boolean =>
  method !== 'GET' && method !== 'HEAD' && pathOf(url) !== '/';

const pathOf = (url: string): string => url.split('?', 1)[0] ?? '';

async function findRefusal(app: FauxqsApp, url: string, headers: Headers): Promise<Refusal | undefined> {
  const ifNoneMatch = headers['if-none-match'];
  const ifMatch = headers['if-match'];
  if (ifNoneMatch === undefined && ifMatch === undefined) return undefined;
  if (ifNoneMatch !== undefined && (ifNoneMatch !== '*' || ifMatch !== undefined)) return notImplemented;
  const etag = await currentEtag(app, url);
  if (ifNoneMatch !== undefined) return etag === undefined ? undefined : preconditionFailed('If-None-Match');
  if (etag === undefined) return noSuchKey;
  return unquote(String(ifMatch)) === unquote(etag) ? undefined : preconditionFailed('If-Match');
}

async function currentEtag(app: FauxqsApp, url: string): Promise<string | undefined> {
  const { statusCode, headers } = await app.inject({ method: 'HEAD', url: pathOf(url) });
  return statusCode === 200 ? headers.etag : undefined;
}

const unquote = (etag: string): string => etag.replace(/^"(.*)"$/, '$1');

const preconditionFailed = (condition: string): Refusal => ({
  status: 412,
  code: 'PreconditionFailed',
  message: 'At least one of the pre-conditions you specified did not hold',
  condition,
});

const noSuchKey: Refusal = {
  status: 404,
  code: 'NoSuchKey',
  message: 'The specified key does not exist.',
  condition: 'If-Match',
};

const notImplemented: Refusal = {
  status: 501,
  code: 'NotImplemented',
  message: 'A header you provided implies functionality that is not implemented',
  condition: 'If-None-Match',
};

const toXml = ({ code, message, condition }: Refusal): string =>
  `<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>${code}</Code><Message>${message}</Message><Condition>${condition}</Condition><RequestId>sandbox</RequestId><HostId>sandbox</HostId></Error>`;
