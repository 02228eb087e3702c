import { PAUSED } from '../pace/index.ts';

/**
 * Everything that can go wrong with a call, as data. Times are in milliseconds. The union is closed, so that a switch
 * over `kind` can handle all cases.
 */
export type PlatformFailure =
  /** The caller's input is invalid: nothing was sent. Every fault is listed. */
  | { readonly kind: 'input'; readonly faults: readonly string[] }
  /** The call would have to wait longer for its turn than it may. `isPaused`: an operator paused the budget. */
  | {
      readonly kind: 'wait';
      readonly waitMs: number;
      readonly maxWaitMs: number;
      readonly isPaused?: boolean;
    }
  /**
   * The platform responded with an error. `reference`: the platform's reference (`toe`). `detail`: its message,
   * shortened.
   */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly detail?: string;
      readonly reference?: string;
      readonly retryAfterMs?: number;
    }
  /** A redirect, which is never followed. Its cause is an allow-list, a login, or a wrong address. */
  | { readonly kind: 'redirect'; readonly status: number; readonly to: string }
  /** The response is not JSON, but most often a login page or a block page. `title`: the title of the page. */
  | {
      readonly kind: 'not-json';
      readonly status: number;
      readonly contentType: string;
      readonly title?: string;
    }
  /** The body ended early or is not valid JSON. */
  | { readonly kind: 'cut'; readonly detail: string }
  /** The decompressed body exceeds `maxResponseBytes`. */
  | { readonly kind: 'too-large'; readonly maxBytes: number }
  /** One attempt took too long. `phase` is how far it got; `proxy` is the proxy in between, if any. */
  | {
      readonly kind: 'timeout';
      readonly timeoutMs: number;
      readonly phase: ConnectionPhase;
      readonly proxy?: string;
    }
  /**
   * There was no connection, or it broke. Only in the phase `exchange` may the platform have acted.
   * `proxyStatus`: the proxy refused to connect.
   */
  | {
      readonly kind: 'connection';
      readonly phase: ConnectionPhase;
      readonly code: string;
      readonly proxy?: string;
      readonly proxyStatus?: number;
    }
  /** The response is valid JSON that lacks what the platform's API requires. Each fault mentions the record and the field. */
  | { readonly kind: 'shape'; readonly faults: readonly string[] }
  /** A list exceeded the maximum number of pages, or of `empty` pages in a row. */
  | { readonly kind: 'endless'; readonly pages: number; readonly empty?: boolean };

/** A failure with an HTTP status. */
type StatusFailure = Extract<PlatformFailure, { readonly kind: 'status' }>;

/** Whether the platform responded with this status. */
export const isStatus = (failure: PlatformFailure, status: number): failure is StatusFailure =>
  failure.kind === 'status' && failure.status === status;

/** Statuses of a server, often a gateway, that stopped waiting. The platform may still act on the request. */
const GAVE_UP: ReadonlySet<number> = new Set([408, 425, 444, 460, 499]);

/** Whether the platform read the request and rejected it, so that nothing took effect. */
export const isRefusal = (failure: PlatformFailure): failure is StatusFailure =>
  failure.kind === 'status' && failure.status >= 400 && failure.status < 500 && !GAVE_UP.has(failure.status);

/** Whether a status shows nothing about the request itself: the same request may succeed later. */
export const isTemporaryStatus = (status: number): boolean => status >= 500 || GAVE_UP.has(status);

/**
 * The phase in which a connection failed: resolving the name, TCP, TLS, or the exchange, in which the request may have
 * arrived.
 */
export type ConnectionPhase = 'resolve' | 'connect' | 'tls' | 'exchange';

/**
 * Whether the platform may have received the request and acted on it. False only if it certainly did not: nothing was
 * sent, no connection was made, or the platform refused before acting (401, 405, 429).
 */
export function wasSent(failure: PlatformFailure): boolean {
  switch (failure.kind) {
    case 'input':
    case 'wait':
      return false;
    case 'status':
      return ![401, 405, 429].includes(failure.status);
    case 'connection':
    case 'timeout':
      return failure.phase === 'exchange';
    case 'redirect':
    case 'not-json':
    case 'cut':
    case 'too-large':
    case 'shape':
    case 'endless':
      return true;
    default:
      return failure satisfies never;
  }
}

/** Whether there was no connection to the platform, and no other server responded instead. */
export const isUnreached = (failure: PlatformFailure): boolean =>
  failure.kind === 'connection'
    ? failure.phase !== 'exchange' && failure.proxyStatus === undefined
    : failure.kind === 'timeout' && failure.phase !== 'exchange';

/** Describes the failure for people: what happened, and what it usually means. */
export function describeFailure(failure: PlatformFailure): string {
  switch (failure.kind) {
    case 'input':
      return `invalid input, nothing was sent: ${failure.faults.join('; ')}`;
    case 'wait':
      if (failure.isPaused) return PAUSED;
      return `its turn is in ${seconds(failure.waitMs)}, but it may wait at most ${seconds(failure.maxWaitMs)}`;
    case 'status':
      return describeStatus(failure);
    case 'redirect':
      return failure.status === 304
        ? 'the server responded with 304 (not modified), which was not requested; check whether there is a cache in between'
        : `redirected (${failure.status}) to ${failure.to}, which is not followed; check that the address is correct, and allowed from here`;
    case 'not-json':
      return `the server responded with ${failure.status} and ${failure.contentType || 'no content type'}${titled(failure.title)} instead of JSON; check that the address is correct, and allowed from here`;
    case 'cut':
      return `the response is not complete, valid JSON: ${failure.detail}`;
    case 'too-large':
      return `the response is larger than ${failure.maxBytes} bytes`;
    case 'timeout':
      return `no complete response within ${seconds(failure.timeoutMs)}${through(failure)}`;
    case 'connection':
      return failure.proxyStatus === undefined
        ? `${PHASES[failure.phase]}${through(failure)} (${failure.code})`
        : `the proxy${failure.proxy === undefined ? '' : ` ${failure.proxy}`} responded with ${failure.proxyStatus} and did not connect${failure.proxyStatus === 407 ? HINTS[407] : ''}`;
    case 'shape':
      return `the response does not match the contract: ${failure.faults.join('; ')}`;
    case 'endless':
      return failure.empty
        ? `the list did not end: ${failure.pages} pages in a row were empty, each with a new cursor`
        : `the list did not end within ${failure.pages} pages`;
    default:
      return failure satisfies never;
  }
}

const through = ({ proxy }: { readonly proxy?: string }) =>
  proxy === undefined ? '' : ` through the proxy ${proxy}`;

const PHASES = {
  resolve: 'the name could not be resolved',
  connect: 'no connection could be made',
  tls: 'no secure connection could be made',
  exchange: 'the connection broke',
} as const satisfies Record<ConnectionPhase, string>;

function describeStatus(failure: StatusFailure): string {
  const detail = failure.detail === undefined ? '' : `: ${failure.detail}`;
  const reference = failure.reference === undefined ? '' : ` (reference ${failure.reference})`;
  return `the server responded with ${failure.status}${detail}${reference}${HINTS[failure.status] ?? ''}`;
}

const HINTS: Readonly<Record<number, string>> = {
  200: ' (an error with the status of a success)',
  206: ' (a part of a response), which was not requested',
  401: '; check that the token is correct, and neither expired nor revoked',
  403: '; check that the token’s user has the permission for this',
  407: '; check that HTTPS_PROXY has the user and password that the proxy requires',
};

const titled = (title: string | undefined) => (title === undefined ? '' : ` (“${title}”)`);
const seconds = (ms: number) => `${Number((ms / 1000).toFixed(1))} s`;
