import { createServer } from 'node:http';
import { connect } from 'node:net';
import { listening } from '../listening.ts';

/** How a proxy responds to CONNECT: it rejects with a status line, hangs up, or connects to a local port. */
export type Tunnel = { readonly refuse: string } | 'hang-up' | { readonly port: number };

/** Starts a proxy on a free port of 127.0.0.1. `connects`: the hosts in requests to it. */
export async function startProxy(tunnel: Tunnel) {
  const connects: string[] = [];
  const server = createServer();
  server.on('connect', (request, socket) => {
    connects.push(`CONNECT ${request.url}`);
    socket.on('error', () => {});
    if (tunnel === 'hang-up') socket.end();
    else if ('refuse' in tunnel) socket.end(`HTTP/1.1 ${tunnel.refuse}\r\n\r\n`);
    else {
      const target = connect(tunnel.port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        socket.pipe(target).pipe(socket);
      });
      target.on('error', () => socket.destroy());
    }
  });
  const { port, ...served } = await listening(server);
  return { url: `http://127.0.0.1:${port}`, connects, ...served };
}
