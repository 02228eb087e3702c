import { once } from 'node:events';
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request as openRequest } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { signerOf } from '../signer.ts';
import { type LoopbackServer, startLoopbackServer } from './loopback-server.ts';

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

/** `http://HOST:PORT` of the server for a service and path; undefined if there is none. */
type EndpointOf = (service: string, path: string) => string | undefined;

/** Its endpoint is what `AWS_ENDPOINT_URL` is set to. `requests`: all so far that got a response. */
export type Gateway = LoopbackServer & { readonly requests: readonly ServiceRequest[] };

/**
 * All services behind one address, for processes that have one endpoint for all of them: a request goes to the service
 * that its signature names. Signatures are read, not checked. A request without one gets 403, a request for a service
 * that does not exist gets 501.
 */
export async function startGateway(endpointOf: EndpointOf): Promise<Gateway> {
  const requests: ServiceRequest[] = [];
  const agent = new Agent({ keepAlive: true });
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
  const close = () => {
    agent.destroy();
    return server.close();
  };
  return { ...server, requests, close, [Symbol.asyncDispose]: close };
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
