import { once } from 'node:events';
import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as openRequest,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

export type ProxiedRequest = {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
};

export type ProxiedReply = {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
};

/** What happens to a request. */
export type Treatment =
  | { readonly kind: 'pass' }
  /** The service acts, and the connection breaks before its response. */
  | { readonly kind: 'lost' }
  /** The service acts, and its response comes so much later. */
  | { readonly kind: 'late'; readonly byMs: number }
  /** The service acts, and nothing comes until the connection breaks at the end of the spell. */
  | { readonly kind: 'silent'; readonly until: AbortSignal }
  /** This comes instead, and the service never hears of the request. */
  | { readonly kind: 'instead'; readonly reply: ProxiedReply };

/** How a request ended for the client. */
export type Exchange = {
  readonly request: ProxiedRequest;
  /** The status that the client received with a whole response; undefined if there was none. */
  readonly heard: number | undefined;
};

export type ProxyOptions = {
  /** `http://127.0.0.1:PORT` of the service. */
  readonly target: string;
  readonly treat: (request: ProxiedRequest) => Treatment;
  /** Called when the service has responded, whatever happens to its response. */
  readonly onReply?: (request: ProxiedRequest, reply: ProxiedReply) => void;
  readonly onExchange?: (exchange: Exchange) => void;
};

export type FaultyProxy = AsyncDisposable & {
  readonly url: string;
  /** Breaks all connections, and refuses new ones until `accept`. */
  refuse(): Promise<void>;
  accept(): Promise<void>;
};

/** A service behind an address of its own on loopback, where its requests and responses meet faults. */
export async function startFaultyProxy(options: ProxyOptions): Promise<FaultyProxy> {
  const { target, treat, onReply, onExchange } = options;
  const agent = new Agent({ keepAlive: true });
  const server = createServer(async (incoming, outgoing) => {
    const { method = '', url: path = '/', headers } = incoming;
    let request: ProxiedRequest | undefined;
    const sendReply = ({ status, headers: own, body }: ProxiedReply) => {
      outgoing.writeHead(status, own);
      outgoing.end(method === 'HEAD' ? undefined : body);
    };
    outgoing.once('close', () => {
      if (request === undefined) return;
      onExchange?.({ request, heard: outgoing.writableFinished ? outgoing.statusCode : undefined });
    });
    try {
      request = { method, path, headers, body: await buffer(incoming) };
      const treatment = treat(request);
      if (treatment.kind === 'instead') return sendReply(treatment.reply);
      const reply = await forward(target, request, agent);
      onReply?.(request, reply);
      if (treatment.kind === 'silent' && !treatment.until.aborted) await once(treatment.until, 'abort');
      if (treatment.kind === 'lost' || treatment.kind === 'silent') return void outgoing.destroy();
      if (treatment.kind === 'late') await delay(treatment.byMs);
      sendReply(reply);
    } catch {
      outgoing.destroy();
    }
  });
  server.keepAliveTimeout = 75_000;
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const port = await listen(0);
  const refuse = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    refuse,
    async accept() {
      if (!server.listening) await listen(port);
    },
    async [Symbol.asyncDispose]() {
      await refuse();
      agent.destroy();
    },
  };
}

async function forward(
  target: string,
  { method, path, headers, body }: ProxiedRequest,
  agent: Agent,
): Promise<ProxiedReply> {
  // Node has already responded to the `Expect`, and assembled the chunks.
  const { expect: _, 'transfer-encoding': __, connection: ___, ...others } = headers;
  const request = openRequest(new URL(path, target), {
    agent,
    method,
    headers: { ...others, 'content-length': String(body.length) },
  });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const { connection: ____, 'keep-alive': _____, 'transfer-encoding': ______, ...replied } = response.headers;
  return { status: response.statusCode ?? 500, headers: replied, body: await buffer(response) };
}
