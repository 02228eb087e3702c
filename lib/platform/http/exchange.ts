import type { IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { createHttpsAgent, MAX_IDLE_MS, type NetworkEnvironment } from '../../base/aws/index.ts';
import type { ConnectionPhase } from '../failure.ts';

// Imported as an ES module it loads all of undici, whose classes are among its exports: 20 ms of a cold start.
const { Agent: HttpAgent, request: httpRequest } = process.getBuiltinModule('node:http');

/** The head of a response, and its body as the bytes arrive (still encoded). */
export type ExchangeResponse = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: AsyncIterable<Uint8Array> & { destroy(): unknown };
};

/** Sends one request and returns the response's head. Throws errors of the connection; the phases show how far it got. */
type Exchange = (
  request: {
    readonly url: URL;
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string | undefined;
    /** The limit to connect through a proxy, which no signal can abort; the signal aborts everything else. */
    readonly timeoutMs: number;
    /** True for a new connection: a reused one may be closing at the other end, which leaves an unknown outcome. */
    readonly fresh: boolean;
  },
  signal: AbortSignal,
  onPhase: (phase: ConnectionPhase) => void,
) => Promise<ExchangeResponse>;

/**
 * Uses `node:http` rather than `fetch`, which does not show how far a connection got before it broke (the evidence for
 * `sent`). `fetch` also gives up after 300 s, as long as a code function may run, and takes no proxy as an argument.
 * A connection that was idle for `maxIdleMs` is not reused.
 */
export function createExchange(proxyEnv?: NetworkEnvironment, maxIdleMs = MAX_IDLE_MS): Exchange {
  const agents = createAgents(proxyEnv, maxIdleMs);
  return async (request, signal, onPhase) => {
    const { promise, resolve, reject } = Promise.withResolvers<ExchangeResponse>();
    // Node reports an abort only once there is a socket, never while it waits for a proxy to open one.
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
      });
      onPhase('connect');
      outgoing.on('socket', (socket) => watchPhases(socket, onPhase));
      outgoing.on('response', (response) =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: response }),
      );
      outgoing.on('error', reject);
      // Some endings cause no other event, such as an upgrade (101) that was not requested.
      outgoing.on('close', () => reject(closedWithoutResponse()));
      outgoing.end(request.body);
      return await promise;
    } finally {
      // Node holds a combined signal, and with it the whole response, as long as the signal has a listener.
      signal.removeEventListener('abort', abort);
    }
  };
}

const closedWithoutResponse = () =>
  Object.assign(new Error('the connection was closed without a response'), { code: 'ECONNRESET' });

function createAgents(proxyEnv: NetworkEnvironment = {}, maxIdleMs: number) {
  const of = (keepAlive: boolean) => ({
    http: new HttpAgent({ keepAlive, timeout: maxIdleMs }),
    https: createHttpsAgent(proxyEnv, { keepAlive, maxIdleMs }),
  });
  return { reused: of(true), fresh: of(false) };
}

/** Reports the phases of a socket up to the point where the platform may act; when in doubt, the later phase. */
function watchPhases(socket: Socket, onPhase: (phase: ConnectionPhase) => void): void {
  const isSecuring = () => 'secureConnecting' in socket && socket.secureConnecting === true;
  const report = () => {
    onPhase(isSecuring() ? 'tls' : 'exchange');
    if (isSecuring()) socket.once('secureConnect', () => onPhase('exchange'));
  };
  if (socket.connecting) socket.once('connect', report);
  else report();
}
