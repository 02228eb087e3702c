import { createHmac, hash } from 'node:crypto';
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  type DynamoDBClient,
} from '@aws-sdk/client-dynamodb';
import { parseOwnJson } from '../base/index.ts';

/**
 * Makes the requests of a client without the SDK's middleware, which takes over half of their CPU time. Where they go is
 * seen from the last one that the SDK made. One that fails is made again by the SDK, which knows how often to repeat it,
 * and so are all others until it has succeeded once more: so a repeat of any of them must do no harm.
 */
export function direct(client: DynamoDBClient): DynamoDBClient {
  const { middlewareStack, config } = client;
  const sign = createSigner();
  let place: Place | undefined;
  const send = async (place: Place, operation: string, input: object): Promise<Done> => {
    const body = JSON.stringify(input);
    const credentials = await config.credentials();
    const nowMs = Date.now() + config.systemClockOffset;
    const headers = sign({ place, operation, body, credentials, nowMs });
    const { response } = await config.requestHandler.handle({ ...place, method: 'POST', headers, body });
    const { statusCode, body: received } = response as Received;
    const output = parseOwnJson(Buffer.concat(await Array.fromAsync(received)).toString()) as Output;
    return { response, output, isRefused: statusCode !== 200 };
  };
  middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        if (place === undefined) return next(args);
        const operation = commandName.replace(/Command$/, '');
        const done = await send(place, operation, args.input).catch(() => undefined);
        if (done?.isRefused === false) return done;
        refuse(done?.output);
        place = undefined;
        return next(args).catch(withOneMore);
      },
    { step: 'initialize', priority: 'low' },
  );
  middlewareStack.add(
    (next) => async (args) => {
      const done = await next(args);
      if ((done.response as Received).statusCode === 200) place = placeOf(args.request as Sent);
      return done;
    },
    { step: 'deserialize', priority: 'low' },
  );
  return client;
}

type Received = { readonly statusCode: number; readonly body: AsyncIterable<Uint8Array> };

type Done = { readonly response: unknown; readonly output: Output; readonly isRefused: boolean };

type Output = {
  readonly __type?: string;
  readonly message?: string;
  readonly Item?: Record<string, AttributeValue>;
  readonly $metadata: object;
};

/** Throws what the SDK would throw for a condition that failed, and would not repeat. */
function refuse({ __type = '', message = '', Item }: Partial<Output> = {}): void {
  if (!__type.endsWith('#ConditionalCheckFailedException')) return;
  const $metadata = { httpStatusCode: 400, attempts: 1 };
  throw new ConditionalCheckFailedException({ $metadata, message, ...(Item && { Item }) });
}

/** The request before the SDK's own ones may have been executed: that is what the number of attempts shows. */
function withOneMore(error: unknown): never {
  const { $metadata } = error as { readonly $metadata?: { attempts?: number } };
  if ($metadata?.attempts !== undefined) $metadata.attempts += 1;
  throw error;
}

/** A request as the SDK sent it. */
type Sent = {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number | undefined;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
};

type Place = Omit<Sent, 'headers'> & {
  readonly host: string;
  readonly protocolVersion: string;
  readonly regionAndService: string;
};

/** Undefined if it is not sent to the root, or not signed by version 4 of AWS's signature. */
function placeOf({ protocol, hostname, port, path, headers }: Sent): Place | undefined {
  const { host = '', authorization = '', 'x-amz-target': target = '' } = headers;
  const [, regionAndService] =
    /Credential=[^/]+\/\d{8}\/([^/]+\/[^/]+)\/aws4_request,/.exec(authorization) ?? [];
  if (regionAndService === undefined || path !== '/') return undefined;
  return {
    protocol,
    hostname,
    port,
    path,
    host,
    protocolVersion: target.replace(/\..*/, ''),
    regionAndService,
  };
}

type Credentials = Awaited<ReturnType<DynamoDBClient['config']['credentials']>>;

type ToSign = {
  readonly place: Place;
  readonly operation: string;
  readonly body: string;
  readonly credentials: Credentials;
  readonly nowMs: number;
};

const ALGORITHM = 'AWS4-HMAC-SHA256';

/** Signs requests. Source: "Create a signed AWS API request", IAM user guide. */
function createSigner() {
  let [keyOf, key]: [string?, Buffer?] = [];
  return ({ place, operation, body, credentials, nowMs }: ToSign): Record<string, string> => {
    const { accessKeyId, secretAccessKey, sessionToken } = credentials;
    const time = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, '');
    const scope = `${time.slice(0, 8)}/${place.regionAndService}/aws4_request`;
    if (key === undefined || keyOf !== `${secretAccessKey} ${scope}`) {
      keyOf = `${secretAccessKey} ${scope}`;
      key = scope.split('/').reduce<Buffer>(hmac, Buffer.from(`AWS4${secretAccessKey}`));
    }
    // In the order of their names.
    const signed = {
      'content-type': 'application/x-amz-json-1.0',
      host: place.host,
      'x-amz-date': time,
      ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
      'x-amz-target': `${place.protocolVersion}.${operation}`,
    };
    const names = Object.keys(signed).join(';');
    const lines = Object.entries(signed).map(([name, value]) => `${name}:${value}\n`);
    const request = `POST\n/\n\n${lines.join('')}\n${names}\n${hash('sha256', body)}`;
    const signature = hmac(key, `${ALGORITHM}\n${time}\n${scope}\n${hash('sha256', request)}`).toString(
      'hex',
    );
    const authorization = `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
    return { ...signed, authorization, 'content-length': String(Buffer.byteLength(body)) };
  };
}

const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
