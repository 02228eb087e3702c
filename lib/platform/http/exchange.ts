import type { IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { createHttpsAgent, MAX_IDLE_MS, type NetworkEnvironment } from '../../base/aws/index.ts';
import type { ConnectionPhase } from '../failure.ts';

// Not a static import: the ES module `node:http` loads all of undici, whose classes it exports, which takes 20 ms of a
// cold start.
const { Agent: HttpAgent, request: httpRequest } = process.getBuiltinModule('node:http');

/** The head of a response, and its body as the bytes arrive, still encoded. */
export type ExchangeResponse = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: AsyncIterable<Uint8Array> & { destroy(): unknown };
};

/**
 * Sends one request and returns the response's head. Throws errors of the connection; the reported phases
 * show how far it got.
 */
type Exchange = (
  request: {
    readonly url: URL;
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string | undefined;
    /**
     * The time limit for connecting through a proxy, which a signal cannot abort. The signal aborts everything
     * else.
     */
    readonly timeoutMs: number;
    /**
     * Whether to open a new connection. A reused connection may be closing at the other end, and the outcome would
     * then be unknown.
     */
    readonly fresh: boolean;
  },
  signal: AbortSignal,
  onPhase: (phase: ConnectionPhase) => void,
) => Promise<ExchangeResponse>;

/**
 * Creates the exchange. It uses `node:http`, because `fetch` does not show in which phase a connection broke, and
 * `sent` is derived from that phase. `fetch` also gives up after 300 s, while a code function may take longer, and it
 * takes no proxy as an argument. A connection that was idle for `maxIdleMs` is not reused.
 */
export function createExchange(proxyEnv?: NetworkEnvironment, maxIdleMs = MAX_IDLE_MS): Exchange {
  const agents = createAgents(proxyEnv, maxIdleMs);
  return async (request, signal, onPhase) => {
    const { promise, resolve, reject } = Promise.withResolvers<ExchangeResponse>();
    // Node reports an abort only if there is a socket, so not while a proxy is opening one.
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    try {
      const secure = request.url.protocol === 'https:';
      const send = secure ? httpsRequest : httpRequest;
      const outgoing = send(request.url, {
        method: request.method,
        headers: request.headers,
        agent: agents[request.fresh ? 'fresh' : 'reused'][secure ? 'https' : 'http'],
        signal,
        timeout: request.timeoutMs,
        maxHeaderSize: MAX_HEAD_BYTES,
      });
      onPhase('connect');
      outgoing.on('socket', (socket) => watchPhases(socket, onPhase));
      outgoing.on('response', (response) =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: response }),
      );
      outgoing.on('error', reject);
      // Some endings cause no other event, such as an unrequested upgrade (101).
      outgoing.on('close', () => reject(closedWithoutResponse()));
      outgoing.end(request.body);
      return await promise;
    } finally {
      // As long as a combined signal has a listener, Node holds it in memory, and with it the whole response.
      signal.removeEventListener('abort', abort);
    }
  };
}

/**
 * Maximum bytes of a head. Gateways add policies and cookies, so heads may exceed the 16 KB that Node reads by
 * default.
 */
const MAX_HEAD_BYTES = 65_536;

const closedWithoutResponse = () =>
  Object.assign(new Error('the connection was closed without a response'), { code: 'ECONNRESET' });

function createAgents(proxyEnv: NetworkEnvironment = {}, maxIdleMs: number) {
  const of = (keepAlive: boolean) => ({
    http: new HttpAgent({ keepAlive, timeout: maxIdleMs }),
    https: createHttpsAgent(proxyEnv, { keepAlive, maxIdleMs }),
  });
  return { reused: of(true), fresh: of(false) };
}

/** Reports the phases of a socket until the platform may act. If the phase is unclear, reports the later one. */
function watchPhases(socket: Socket, onPhase: (phase: ConnectionPhase) => void): void {
  const isSecuring = () => 'secureConnecting' in socket && socket.secureConnecting === true;
  const report = () => {
    onPhase(isSecuring() ? 'tls' : 'exchange');
    if (isSecuring()) socket.once('secureConnect', () => onPhase('exchange'));
  };
  if (socket.connecting) socket.once('connect', report);
  else report();
}
