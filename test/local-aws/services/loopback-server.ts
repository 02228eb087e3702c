import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

export type LoopbackServer = {
  /** `http://127.0.0.1:PORT`. */
  readonly endpoint: string;
  /** Ends every connection, including those that are waiting for a response. */
  close(): Promise<void>;
} & AsyncDisposable;

/** Serves requests on a loopback port, a free one if `port` is 0. Throws if the port is taken. */
export async function startLoopbackServer(listener: RequestListener, port = 0): Promise<LoopbackServer> {
  const server = createServer(listener);
  // Longer than any client keeps an idle connection: a connection that breaks on reuse is not a documented fault of AWS.
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
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { endpoint, close, [Symbol.asyncDispose]: close };
}
