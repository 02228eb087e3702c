import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';

/** What the next requests are answered with: these pieces, one after another, and then an end or nothing. */
type Script = {
  readonly pieces: readonly Buffer[];
  readonly ending: 'keep' | 'end' | 'reset';
};

export type RawServer = {
  readonly url: string;
  /** Waits until no earlier response is being written, or its connection ended: that would hit the next request. */
  play(script: Script): Promise<void>;
  close(): Promise<void>;
};

/** A server that writes bytes as they are, whatever HTTP says about them, to each complete request. */
export async function startRawServer(): Promise<RawServer> {
  let script: Script = { pieces: [], ending: 'end' };
  const sockets = new Set<Socket>();
  const written = new Set<Promise<void>>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    let received = '';
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
      if (!isComplete(received)) return;
      received = '';
      const response = respond(socket, script);
      written.add(response);
      void response.then(() => written.delete(response));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async play(next) {
      await Promise.all(written);
      // Until the client has seen the end of a connection that it might use again.
      for (let left = TURNS; left > 0; left -= 1) await turn();
      script = next;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

const TURNS = 3;

function isComplete(request: string): boolean {
  const head = request.indexOf('\r\n\r\n');
  const [, length = '0'] = /\r\ncontent-length: (\d+)\r\n/i.exec(request) ?? [];
  return head !== -1 && request.length >= head + 4 + Number(length);
}

async function respond(socket: Socket, { pieces, ending }: Script): Promise<void> {
  for (const [index, piece] of pieces.entries()) {
    if (socket.destroyed) return;
    socket.write(piece);
    // Each piece should arrive alone.
    if (index < pieces.length - 1) await turn();
  }
  if (ending === 'end') socket.end();
  if (ending === 'reset') socket.resetAndDestroy();
}
