import { text } from 'node:stream/consumers';
import { type LoopbackServer, startLoopbackServer } from './loopback-server.ts';

export type JsonRequest = {
  readonly method: string;
  readonly url: URL;
  /** Of `X-Amz-Target`, after its dot; empty without one. */
  readonly operation: string;
  readonly body: Readonly<Record<string, unknown>>;
};

/** `error` is the type of an error answer. */
export type JsonAnswer =
  | { readonly status: 200; readonly body: object }
  | { readonly status: number; readonly error: string; readonly message: string };

/** A stand-in for a service that takes and answers JSON, on a free port of loopback. */
export async function startJsonServer(answer: (request: JsonRequest) => JsonAnswer): Promise<LoopbackServer> {
  return startLoopbackServer(async (request, response) => {
    const sent = await text(request).catch(() => '');
    const given = answer({
      method: request.method ?? '',
      url: new URL(request.url ?? '/', 'http://localhost'),
      operation: String(request.headers['x-amz-target'] ?? '').replace(/^[^.]*\./, ''),
      body: JSON.parse(sent || '{}'),
    });
    const failed = 'error' in given;
    response.writeHead(given.status, {
      'content-type': 'application/x-amz-json-1.1',
      ...(failed ? { 'x-amzn-errortype': given.error } : {}),
    });
    response.end(JSON.stringify(failed ? { __type: given.error, message: given.message } : given.body));
  });
}

export const unknownOperation = ({ method, url, operation }: JsonRequest): JsonAnswer => ({
  status: 400,
  error: 'UnknownOperationException',
  message: operation || `${method} ${url.pathname}`,
});
