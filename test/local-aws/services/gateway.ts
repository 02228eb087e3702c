import { once } from 'node:events';
import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as openRequest,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { signerOf } from '../signer.ts';

/** A request, and the status of its response. */
export type ServiceRequest = {
  /** The access key id that signed it. */
  readonly by: string;
  /** The service's name in the signature: `s3`, `sqs`, `dynamodb`, `secretsmanager`, `ssm`, `events`, `sns`, `glue` or `lambda`. */
  readonly service: string;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Empty for S3. */
  readonly body: string;
  readonly status: number;
};

export type GatewayOptions = {
  /** `http://HOST:PORT` of the server for a service and path; undefined if there is none. */
  readonly endpointOf: (service: string, path: string) => string | undefined;
};

export type Gateway = {
  /** `http://127.0.0.1:PORT`: what `AWS_ENDPOINT_URL` is set to. */
  readonly endpoint: string;
  /** All requests so far that got a response. */
  readonly requests: readonly ServiceRequest[];
  close(): Promise<void>;
} & AsyncDisposable;

/**
 * All services behind one address, for processes that have one endpoint for all of them: a request goes to the service
 * that its signature names. Signatures are read, not checked. A request without one gets 403, a request for a service
 * that does not exist gets 501.
 */
export async function startGateway({ endpointOf }: GatewayOptions): Promise<Gateway> {
  const requests: ServiceRequest[] = [];
  const agent = new Agent({ keepAlive: true });
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '/', headers } = request;
    const signer = signerOf(headers, path);
    if (signer === undefined) return refuse(response, 403, 'The request is not signed.');
    const { by, service } = signer;
    const endpoint = endpointOf(service, path);
    if (endpoint === undefined) return refuse(response, 501, `There is no ${service} here.`);
    try {
      const body = await buffer(request);
      const forwarded = await forward(new URL(endpoint), { method, path, headers, body, agent });
      const status = forwarded.statusCode ?? 500;
      const text = service === 's3' ? '' : body.toString('utf8');
      requests.push({ by, service, method, path, headers, body: text, status });
      response.writeHead(status, forwarded.rawHeaders);
      forwarded.pipe(response).on('error', () => forwarded.destroy());
    } catch {
      // The client has disconnected, or the service is gone.
      response.destroy();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    agent.destroy();
    await closed;
  };
  const { port } = server.address() as AddressInfo;
  return { endpoint: `http://127.0.0.1:${port}`, requests, close, [Symbol.asyncDispose]: close };
}

type Forwarded = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly agent: Agent;
};

async function forward({ hostname, port }: URL, { headers, body, ...rest }: Forwarded) {
  // Node has already responded to the `Expect`, and assembled the chunks.
  const { expect: _, 'transfer-encoding': __, connection: ___, ...others } = headers;
  const request = openRequest({
    ...rest,
    hostname,
    port,
    headers: { ...others, 'content-length': String(body.length) },
  });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-amzn-errortype': 'SandboxException' });
  response.end(JSON.stringify({ __type: 'SandboxException', message }));
}
