import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { startMute } from '../../../platform/mute-server.ts';

/** The response to the next requests: its pieces, and whether the connection then stays open, ends or is reset. */
type Script = { readonly pieces: readonly Buffer[]; readonly ending: 'keep' | 'end' | 'reset' };

export type RawServer = {
  readonly url: string;
  /**
   * Sets the script. First waits until no earlier response is being written or its connection is closing, since
   * that would hit the next request.
   */
  play(script: Script): Promise<void>;
  close(): Promise<void>;
};

/** A server that responds to each complete request with raw bytes, whether they are valid HTTP or not. */
export async function startRawServer(): Promise<RawServer> {
  let script: Script = { pieces: [], ending: 'end' };
  const written = new Set<Promise<void>>();
  const server = await startMute((socket) => {
    socket.setNoDelay();
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
  return {
    url: `http://127.0.0.1:${server.port}`,
    async play(next) {
      await Promise.all(written);
      // Wait until the client has seen the end of a connection that it might otherwise reuse.
      for (let left = TURNS; left > 0; left -= 1) await turn();
      script = next;
    },
    close: () => server[Symbol.asyncDispose](),
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
    // Yield, so that each piece arrives on its own.
    if (index < pieces.length - 1) await turn();
  }
  if (ending === 'end') socket.end();
  if (ending === 'reset') socket.resetAndDestroy();
}
