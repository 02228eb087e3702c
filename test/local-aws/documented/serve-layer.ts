import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { parseRequest } from './aws-request.ts';
import { type Reply, refuse } from './reply.ts';
import type { Ask } from './rule.ts';

export type ServedLayer = {
  /** `http://127.0.0.1:PORT`, for all services. */
  readonly endpoint: string;
  close(): Promise<void>;
};

/** Serves requests on a port of loopback, a free one if it is 0. Throws if the port is taken. */
export async function serveLayer(ask: Ask, port: number): Promise<ServedLayer> {
  const server = createServer((request, response) => {
    // The client has disconnected, or a stand-in is gone.
    respond(ask, request, response).catch(() => response.destroy());
  });
  // Longer than any client waits before it reuses a connection: one that breaks there is no fault that AWS announces.
  server.keepAliveTimeout = 75_000;
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

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
