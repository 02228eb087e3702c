import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { type ProxyEnvironment, proxyEnvironment } from '../../aws/proxy-environment.ts';
import type { ConnectionPhase } from '../failure.ts';

/** One HTTP request, ready to leave. */
export type ExchangeRequest = {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** For the way through a proxy, which no signal ends; everything else is ended by the signal. */
  readonly timeoutMs: number;
  /** True for a connection of its own: a kept one may be closing at the other end, which leaves an unknown outcome. */
  readonly fresh: boolean;
};

/** The head of an answer, and its body as the bytes arrive (still encoded). */
export type ExchangeAnswer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: AsyncIterable<Uint8Array> & { destroy(): unknown };
};

/** Sends one request and answers its head. Throws what the connection throws; the phases told so far say how far it came. */
export type Exchange = (
  request: ExchangeRequest,
  signal: AbortSignal,
  onPhase: (phase: ConnectionPhase) => void,
) => Promise<ExchangeAnswer>;

/**
 * HTTP by `node:http` and `node:https` rather than `fetch`, for three things that fetch cannot do: it tells how far a
 * connection had come when it broke, which is the evidence for `sent`; it has no time limit of its own, where fetch
 * gives up after 300 s, as long as a code function may run; and an agent takes its proxy as an argument.
 */
export function createExchange(options: { readonly proxyEnv?: ProxyEnvironment } = {}): Exchange {
  const agents = createAgents(options.proxyEnv);
  return async (request, signal, onPhase) => {
    const { promise, resolve, reject } = Promise.withResolvers<ExchangeAnswer>();
    // Node tells an abort only once there is a socket, and never while a proxy is asked for one.
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    try {
      const secure = request.url.protocol === 'https:';
      const send = secure ? httpsRequest : httpRequest;
      const outgoing = send(request.url, {
        method: request.method,
        headers: request.headers,
        agent: agents[secure ? 'https' : 'http'][request.fresh ? 'fresh' : 'kept'],
        signal,
        timeout: request.timeoutMs,
      });
      onPhase('connect');
      outgoing.on('socket', (socket) => watchPhases(socket, onPhase));
      outgoing.on('response', (answer) =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: answer }),
      );
      outgoing.on('error', reject);
      // Some ends are told by nothing else, such as an upgrade (101) that nobody asked for.
      outgoing.on('close', () => reject(closedUnanswered()));
      outgoing.end(request.body);
      return await promise;
    } finally {
      // Node keeps a combined signal for as long as it has a listener, and with it the whole answer.
      signal.removeEventListener('abort', abort);
    }
  };
}

const closedUnanswered = () =>
  Object.assign(new Error('the connection was closed without an answer'), { code: 'ECONNRESET' });

function createAgents(proxyEnv: ProxyEnvironment | undefined) {
  const kept = {
    keepAlive: true,
    ...(proxyEnv === undefined ? {} : { proxyEnv: proxyEnvironment(proxyEnv) }),
  };
  const fresh = { ...kept, keepAlive: false };
  return {
    http: { kept: new HttpAgent(kept), fresh: new HttpAgent(fresh) },
    https: { kept: new HttpsAgent(kept), fresh: new HttpsAgent(fresh) },
  };
}

/** Follows a socket to the point from which the platform may act: only what is known not to be there yet is earlier. */
function watchPhases(socket: Socket, onPhase: (phase: ConnectionPhase) => void): void {
  const isSecuring = () => 'secureConnecting' in socket && socket.secureConnecting === true;
  const tell = () => {
    onPhase(isSecuring() ? 'tls' : 'exchange');
    if (isSecuring()) socket.once('secureConnect', () => onPhase('exchange'));
  };
  if (socket.connecting) socket.once('connect', tell);
  else tell();
}
