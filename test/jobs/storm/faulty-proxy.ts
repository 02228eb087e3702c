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
  /** Includes the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
};

export type ProxiedReply = {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
};

export type Treatment =
  | { readonly kind: 'pass' }
  /** The service receives the request, and the connection breaks before its response arrives. */
  | { readonly kind: 'lost' }
  /** The service receives the request, and its response is delayed. */
  | { readonly kind: 'late'; readonly byMs: number }
  /** The service receives the request; nothing arrives until the connection breaks at the end of the fault. */
  | { readonly kind: 'silent'; readonly until: AbortSignal }
  /** The client gets this response, and the service never receives the request. */
  | { readonly kind: 'instead'; readonly reply: ProxiedReply };

/** How a request ended for the client. */
export type Exchange = {
  readonly request: ProxiedRequest;
  /** The status, if the client received the whole response; otherwise undefined. */
  readonly status: number | undefined;
};

export type ProxyOptions = {
  /** The service's `http://127.0.0.1:PORT`. */
  readonly target: string;
  readonly treat: (request: ProxiedRequest) => Treatment;
  /** Called when the service has responded, even if the client does not get the response. */
  readonly onReply?: (request: ProxiedRequest, reply: ProxiedReply) => void;
  readonly onExchange?: (exchange: Exchange) => void;
};

export type FaultyProxy = AsyncDisposable & {
  readonly url: string;
  /** Breaks all connections, and rejects new ones until `accept` is called. */
  refuse(): Promise<void>;
  accept(): Promise<void>;
};

/** Starts a proxy on loopback in front of a service, in which requests and responses meet faults. */
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
      onExchange?.({ request, status: outgoing.writableFinished ? outgoing.statusCode : undefined });
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
  // Node has already handled `Expect` and joined the chunks.
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
