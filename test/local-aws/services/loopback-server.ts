import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

export type LoopbackServer = {
  /** `http://127.0.0.1:PORT`. */
  readonly endpoint: string;
  /** Ends every connection, including those that are waiting for a response. */
  close(): Promise<void>;
} & AsyncDisposable;

/** Serves requests on a free port of loopback. */
export async function startLoopbackServer(listener: RequestListener): Promise<LoopbackServer> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return { endpoint: `http://127.0.0.1:${port}`, close, [Symbol.asyncDispose]: close };
}
