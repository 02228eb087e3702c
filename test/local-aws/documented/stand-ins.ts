import { once } from 'node:events';
import { Agent, type IncomingMessage, request as openRequest } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { buildApp } from 'fauxqs';
import { type AwsRequest, urlOf } from './aws-request.ts';
import type { Ask } from './rule.ts';

export type FauxqsApp = ReturnType<typeof buildApp>;

const METHODS = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'PATCH'] as const;

/** Sends requests to fauxqs in this process. */
export const askFauxqs =
  (app: Pick<FauxqsApp, 'inject'>): Ask =>
  async (request) => {
    const response = await app.inject({
      method: METHODS.find((each) => each === request.method) ?? 'OPTIONS',
      url: urlOf(request),
      headers: forwardedHeaders(request),
      ...(request.body.length === 0 ? {} : { payload: request.body }),
    });
    return { status: response.statusCode, headers: response.headers, body: response.rawPayload };
  };

/** Sends requests to a server on this machine, signed with this access key. `close` ends idle connections. */
export function askServer(endpoint: string, accessKeyId: string): { readonly ask: Ask; close(): void } {
  const { hostname, port } = new URL(endpoint);
  const agent = new Agent({ keepAlive: true });
  const ask: Ask = async (given) => {
    const { method, body } = given;
    const { authorization = '', ...others } = forwardedHeaders(given);
    const signature = authorization.replace(SIGNER, `Credential=${accessKeyId}/`);
    const headers = { ...others, authorization: signature };
    const request = openRequest({ hostname, port, agent, method, path: urlOf(given), headers });
    request.end(body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return { status: response.statusCode ?? 500, headers: response.headers, body: await buffer(response) };
  };
  return { ask, close: () => agent.destroy() };
}

const SIGNER = /Credential=[^/]+\//;

// `Expect` and `Transfer-Encoding` are dropped: Node has already responded to the former and joined the chunks.
function forwardedHeaders({ headers, body }: AwsRequest) {
  const { expect: _, 'transfer-encoding': __, connection: ___, ...others } = headers;
  return { ...others, 'content-length': String(body.length) };
}
