import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';

/** Lets a server listen on a free port of 127.0.0.1, or of another host. Disposing of it also breaks its connections. */
export async function listening(server: Server, host = '127.0.0.1') {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket.on('close', () => sockets.delete(socket))));
  server.listen(0, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
