import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { type LoopbackServer, startLoopbackServer } from './loopback-server.ts';

export type JsonRequest = {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  /** The part of `X-Amz-Target` after its dot; empty without that header. */
  readonly operation: string;
  readonly body: Readonly<Record<string, unknown>>;
};

/** `error` is the type of an error response. */
export type JsonResponse =
  | { readonly status: 200 | 202; readonly body: object }
  | { readonly status: number; readonly error: string; readonly message: string };

/** Starts a stand-in for a service that receives and returns JSON, on a free loopback port. */
export const startJsonServer = (respond: (request: JsonRequest) => JsonResponse): Promise<LoopbackServer> =>
  startLoopbackServer(async (request, response) => {
    const sent = await text(request).catch(() => '');
    const { method = '', url = '/', headers } = request;
    const result = respond({
      method,
      url: new URL(url, 'http://localhost'),
      headers,
      operation: String(headers['x-amz-target'] ?? '').replace(/^[^.]*\./, ''),
      body: JSON.parse(sent || '{}'),
    });
    const failed = 'error' in result;
    response.writeHead(result.status, {
      'content-type': 'application/x-amz-json-1.1',
      ...(failed ? { 'x-amzn-errortype': result.error } : {}),
    });
    response.end(JSON.stringify(failed ? { __type: result.error, message: result.message } : result.body));
  });

export const refusal = (error: string, message: string, status = 400): JsonResponse => ({
  status,
  error,
  message,
});

export const unknownOperation = ({ method, url, operation }: JsonRequest): JsonResponse =>
  refusal('UnknownOperationException', operation || `${method} ${url.pathname}`);
