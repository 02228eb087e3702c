import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type LoopbackServer, startLoopbackServer } from '../services/loopback-server.ts';
import { parseRequest } from './aws-request.ts';
import { type Reply, refuse } from './reply.ts';
import type { Ask } from './rule.ts';

/** Serves requests on a loopback port, a free one if `port` is 0. Throws if the port is taken. */
export const serveLayer = (ask: Ask, port: number): Promise<LoopbackServer> =>
  startLoopbackServer((request, response) => {
    // The client has disconnected, or a stand-in has ended.
    respond(ask, request, response).catch(() => response.destroy());
  }, port);

async function respond(ask: Ask, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', url = '/', headers } = request;
  const parsed = parseRequest({ method, url, headers, body: await buffer(request) });
  const reply = parsed === undefined ? unsigned : await ask(parsed);
  if (reply.isLost) return void response.destroy();
  response.writeHead(reply.status, headersOf(reply, method));
  response.end(method === 'HEAD' ? undefined : reply.body);
}

const unsigned = refuse('s3', {
  status: 403,
  code: 'AccessDenied',
  message: 'The request is not signed for S3, SQS or DynamoDB.',
});

function headersOf({ headers, body }: Reply, method: string) {
  const { connection: _, 'transfer-encoding': __, 'keep-alive': ___, ...others } = headers;
  return method === 'HEAD' || body.length === 0 ? others : { ...others, 'content-length': body.length };
}
