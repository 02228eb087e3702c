import { once } from 'node:events';
import {
  Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as openRequest,
} from 'node:http';
import { buffer, text } from 'node:stream/consumers';
import type { Access } from '../permissions/access.ts';
import { sourceOf } from '../permissions/needed-actions.ts';
import { refusedBy } from '../permissions/refused.ts';
import { signerOf } from '../signer.ts';
import { type LoopbackServer, startLoopbackServer } from './loopback-server.ts';

/** A request, and the status of its response. */
export type ServiceRequest = {
  /** The access key id that signed it. */
  readonly by: string;
  /** The service's name in the signature: `s3`, `sqs`, `dynamodb`, `secretsmanager`, `ssm`, `events`, `sns`, `glue` or `lambda`. */
  readonly service: string;
  readonly method: string;
  /** The path with the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Empty for S3. */
  readonly body: string;
  readonly status: number;
};

/** `http://HOST:PORT` of the server for a service and path; undefined if no server handles it. */
type EndpointOf = (service: string, path: string) => string | undefined;

/** The gateway; `AWS_ENDPOINT_URL` is its endpoint. `requests`: all requests so far with a response. */
export type Gateway = LoopbackServer & { readonly requests: readonly ServiceRequest[] };

/** The services behind a gateway: their endpoints and permissions. */
export type Services = {
  readonly endpointOf: EndpointOf;
  /** Default: every signer may do everything. */
  readonly access?: Access;
};

/**
 * Starts a gateway in front of all services, for processes that have one endpoint for all of them. A request goes to
 * the service that its signature names. Signatures are read, not checked. A request without one gets 403, a request for
 * an unknown service gets 501. A request that its signer may not make is denied before it is executed, in the service's
 * format.
 */
export async function startGateway({ endpointOf, access }: Services): Promise<Gateway> {
  const requests: ServiceRequest[] = [];
  const agent = new Agent({ keepAlive: true });
  async function respond(request: Received): Promise<Responded> {
    const { endpoint, service, by, method } = request;
    const send = (of: Sent) => forward(new URL(endpoint), { ...of, agent });
    const refused = (message: string) => refusedBy(service, method, message);
    const before = await access?.refusal(request, by, () => hasTags(request, send));
    if (before !== undefined) return refused(before);
    const forwarded = await send(request);
    const { statusCode: status = 500, rawHeaders: headers } = forwarded;
    const missing = status === 404 ? access?.refusalOfMissing(request, by) : undefined;
    if (missing === undefined) return { status, headers, body: forwarded };
    forwarded.resume();
    return refused(missing);
  }
  const server = await startLoopbackServer(async (request, response) => {
    const { method = '', url: path = '/', headers } = request;
    const signer = signerOf(headers, path);
    const { by = '', service = '' } = signer ?? {};
    const endpoint = endpointOf(service, path);
    if (signer === undefined || endpoint === undefined)
      return response
        .writeHead(signer === undefined ? 403 : 501, { 'x-amzn-errortype': 'SandboxException' })
        .end(`{"message":"There is no service '${service}' here."}`);
    try {
      const bytes = await buffer(request);
      const sent = {
        by,
        service,
        method,
        path,
        headers,
        body: service === 's3' ? '' : bytes.toString('utf8'),
      };
      const responded = await respond({ ...sent, bytes, endpoint });
      requests.push({ ...sent, status: responded.status });
      response.writeHead(responded.status, responded.headers as OutgoingHttpHeaders);
      if (typeof responded.body === 'string') return response.end(responded.body);
      const { body } = responded;
      body.pipe(response).on('error', () => body.destroy());
    } catch (error) {
      // The client has disconnected, or the service has ended.
      if (isDisconnected(error) || response.headersSent) return response.destroy();
      response.writeHead(501, { 'x-amzn-errortype': 'SandboxException' }).end(`{"message":"${error}"}`);
    }
  });
  const close = () => {
    agent.destroy();
    return server.close();
  };
  return { ...server, requests, close, [Symbol.asyncDispose]: close };
}

type Sent = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
};
type Received = Sent & { readonly by: string; readonly service: string; readonly body: string } & {
  readonly endpoint: string;
};
type Responded = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>> | readonly string[];
  readonly body: string | IncomingMessage;
};

/** Whether the object that a request copies has tags. */
async function hasTags(request: Received, send: (of: Sent) => Promise<IncomingMessage>): Promise<boolean> {
  const { bucket = '', key = '' } = sourceOf(request) ?? {};
  const path = `/${bucket}/${key.split('/').map(encodeURIComponent).join('/')}?tagging`;
  const { authorization, host, 'x-amz-date': date } = request.headers;
  const headers = { authorization, host, 'x-amz-date': date };
  return /<Tag>/.test(await text(await send({ method: 'GET', path, headers, bytes: Buffer.alloc(0) })));
}

async function forward(
  { hostname, port }: URL,
  { method, path, headers, bytes, agent }: Sent & { readonly agent: Agent },
): Promise<IncomingMessage> {
  // These headers are dropped: Node has already responded to `Expect` and joined the chunks.
  const { expect: _, 'transfer-encoding': __, connection: ___, ...others } = headers;
  const request = openRequest({
    ...{ method, path, agent, hostname, port },
    headers: { ...others, 'content-length': String(bytes.length) },
  });
  request.end(bytes);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

/** Any other error is about a request or a policy that is not supported here. */
const isDisconnected = (error: unknown) => error instanceof Error && 'code' in error;
