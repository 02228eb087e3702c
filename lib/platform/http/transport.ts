import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { errorText, type Hide, shortened } from '../../base/index.ts';
import { freeMemory, JsonLimitError, parseJson, repairBytes } from '../../base/json/index.ts';
import type { ConnectionPhase, PlatformFailure } from '../failure.ts';
import { redact } from '../redact.ts';
import { type createBodyBudget, inUtf8, readBody, unknownEncoding } from './body.ts';
import { pageTitle, parseRetryAfter, readErrorBody } from './error-body.ts';
import type { createExchange, ExchangeResponse } from './exchange.ts';

/** One request to the platform, without its token. */
type PlatformRequest = {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly target: string;
  /** The body as a string of JSON. */
  readonly body?: string | undefined;
  readonly timeoutMs: number;
  /** The time limit for connecting, in milliseconds. Absent: only `timeoutMs` applies. */
  readonly connectMs?: number | undefined;
  /** Whether a repeat does no harm. If so, a connection may be reused, which at worst costs a retry. */
  readonly mayRepeat: boolean;
  /** Whether the request is private. If so, no failure quotes the response, which may quote the request. */
  readonly isPrivate: boolean;
  /** Reads the decoded body. Must throw `SyntaxError` unless it is complete, valid JSON. */
  readonly read: ReadResponse<unknown>;
  /** The kind of body that is valid even though it is not JSON, as in `Endpoint`. */
  readonly otherBody?: 'empty' | 'any' | undefined;
  /**
   * Receives the function that frees the memory of the body, if the body stays in use. Default: it is freed
   * immediately.
   */
  readonly hold?: ((release: () => void) => void) | undefined;
};

type ReadResponse<T> = (body: Buffer<ArrayBuffer>) => T | Promise<T>;

/** A response as a string of JSON and as a parsed value. */
export type JsonResponse = { readonly text: string; readonly json: unknown };

/** Parses a body. Throws `SyntaxError` unless it is complete JSON that is valid, if need be after `repairBytes`. */
export const readAsJson = (body: Buffer, onOdd?: (odd: readonly string[]) => void): JsonResponse => {
  const isValid = isUtf8(body);
  const text = new TextDecoder().decode(body);
  // Freed now, since the parsed value also needs much memory.
  freeMemory(body);
  if (!isValid) onOdd?.([INVALID_JSON]);
  try {
    return { text, json: parseJson(text) };
  } catch (error) {
    const repaired = error instanceof SyntaxError ? repairBytes(Buffer.from(text))?.toString() : undefined;
    if (repaired === undefined) throw error;
    onOdd?.([INVALID_JSON]);
    return { text: repaired, json: parseJson(repaired) };
  }
};

/** The name under which a response that had to be repaired is counted as odd. */
export const INVALID_JSON = 'the response: invalid JSON';

/** Thrown if a response is an error even though it has the status of a success. */
export class ErrorAnswerError extends Error {
  override readonly name = 'ErrorAnswerError';
  readonly body: string;

  constructor(body: string) {
    super('an error with the status of a success');
    this.body = body;
  }
}

/** How one attempt ended. `status` and `sizeBytes` are set even after a failure, for the counters. */
type AttemptResult = {
  readonly status: number | undefined;
  readonly sizeBytes: number;
} /** `response` is what the request's `read` returned. */ & (
  | { readonly kind: 'response'; readonly response: unknown }
  | { readonly kind: 'failure'; readonly failure: PlatformFailure; readonly cause?: unknown }
);

/** Makes one attempt. Throws only the caller's own abort. */
export type Send = (request: PlatformRequest, token: string, signal?: AbortSignal) => Promise<AttemptResult>;

/** What a transport needs: the address, its limits, and the function that sends. */
type TransportOptions = {
  readonly baseUrl: URL;
  readonly tokenHeader: string;
  readonly maxResponseBytes: number;
  readonly bodies: ReturnType<typeof createBodyBudget>;
  readonly exchange: ReturnType<typeof createExchange>;
  /** The proxy in between (see `proxyOf`); undefined without a proxy. */
  readonly proxy?: string | undefined;
  /** Epoch milliseconds, used for `Retry-After` dates in responses without a `Date`. */
  readonly now: () => number;
};

/** Maximum bytes of an error body, which is read only for its message. */
const MAX_ERROR_BYTES = 65_536;

/** Creates the function that makes attempts. One time limit covers the whole exchange, up to the body's last byte. */
export function createTransport(options: TransportOptions): Send {
  return async (request, token, signal) => {
    signal?.throwIfAborted();
    const limit = createLimit();
    const stop = signal === undefined ? limit.signal : AbortSignal.any([limit.signal, signal]);
    const whole = limit.startMs(request.timeoutMs);
    const connecting = limit.startMs(request.connectMs);
    const share = options.bodies.open();
    let release: (() => void) | undefined = share.close;
    const reached: { phase: ConnectionPhase; status?: number } = { phase: 'connect' };
    try {
      const onPhase = (phase: ConnectionPhase) => {
        reached.phase = phase;
        if (phase === 'exchange') clearTimeout(connecting);
      };
      const head = await options.exchange(toExchange(request, token, options), stop, onPhase);
      reached.status = head.status;
      const result = await readResponse(head, {
        ...options,
        makeRoom: (bytes) => share.take(bytes, stop),
        read: request.read,
        otherBody: request.otherBody,
        hide: request.isPrivate ? () => '(not shown)' : (text) => redact(text, token),
        hideToken: (text) => redact(text, token),
      });
      if (result.kind === 'failure') signal?.throwIfAborted();
      else if (request.hold !== undefined) {
        request.hold(share.close);
        release = undefined;
      }
      return result;
    } catch (error) {
      signal?.throwIfAborted();
      const timeoutMs = limit.reachedMs();
      const through = options.proxy === undefined ? {} : { proxy: options.proxy };
      const failure: PlatformFailure =
        timeoutMs === undefined
          ? brokenConnection(error, reached.phase, through)
          : { kind: 'timeout', timeoutMs, phase: reached.phase, ...through };
      return { kind: 'failure', status: reached.status, sizeBytes: 0, failure, cause: withoutPacket(error) };
    } finally {
      clearTimeout(whole);
      clearTimeout(connecting);
      release?.();
    }
  };
}

/** Combines several time limits: the first one that is exceeded aborts the signal. */
function createLimit() {
  const over = new AbortController();
  let reachedMs: number | undefined;
  return {
    signal: over.signal,
    startMs(limitMs: number | undefined): NodeJS.Timeout | undefined {
      if (limitMs === undefined) return undefined;
      return setTimeout(() => {
        reachedMs ??= limitMs;
        over.abort();
      }, limitMs);
    },
    reachedMs: () => reachedMs,
  };
}

function toExchange(request: PlatformRequest, token: string, { baseUrl, tokenHeader }: TransportOptions) {
  return {
    url: new URL(request.target, baseUrl),
    method: request.method,
    headers: {
      accept: 'application/json',
      'accept-encoding': 'gzip',
      [tokenHeader]: token,
      ...(request.body === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(request.body)) }),
    },
    body: request.body,
    timeoutMs: request.connectMs ?? request.timeoutMs,
    fresh: !request.mayRepeat,
  };
}

type ReadOptions = TransportOptions & {
  readonly makeRoom: (bytes: number) => Promise<void>;
  readonly read: ReadResponse<unknown>;
  readonly otherBody: PlatformRequest['otherBody'];
  readonly hide: Hide;
  /** Hides the token in strings other than content: headers, and the reference of an error. */
  readonly hideToken: Hide;
};

async function readResponse(head: ExchangeResponse, options: ReadOptions): Promise<AttemptResult> {
  const { hide, hideToken } = options;
  const { status } = head;
  const failed = (failure: PlatformFailure, sizeBytes = 0): AttemptResult => ({
    kind: 'failure',
    status,
    sizeBytes,
    failure,
  });
  if (status >= 300 && status < 400) {
    head.body.destroy();
    return failed({ kind: 'redirect', status, to: redirectTarget(head.headers, options.baseUrl, hideToken) });
  }
  if (status === PARTIAL_CONTENT) {
    head.body.destroy();
    return failed({ kind: 'status', status });
  }
  if (status < 200 || status >= 400) {
    const body = await readErrorBytes(head);
    const words = readErrorBody(body.toString('utf8'), { hide, hideToken });
    const retryAfterMs = parseRetryAfter(head.headers, options.now());
    const asked = retryAfterMs === undefined ? {} : { retryAfterMs };
    return failed({ kind: 'status', status, ...words, ...asked }, body.byteLength);
  }
  const maxBytes = options.maxResponseBytes;
  const read = await readBody(head, maxBytes, options.makeRoom);
  if (read.kind === 'whole') return await readJson(head, read.body, options);
  return failed({ kind: 'too-large', maxBytes }, read.readBytes);
}

/** No range is ever requested, so a partial response is a failure, even if its body is valid JSON. */
const PARTIAL_CONTENT = 206;

/** The body of an error; empty if it cannot be read, since the status is known anyway. */
async function readErrorBytes(head: ExchangeResponse): Promise<Buffer> {
  const read = await readBody(head, MAX_ERROR_BYTES).catch(() => undefined);
  return read?.kind === 'whole' ? read.body : Buffer.alloc(0);
}

/**
 * Decides what a body is by its bytes and not by its content type, since servers and gateways send JSON under many
 * types, and pages under the type of JSON. The type decides only about a body that is neither JSON nor a page.
 */
async function readJson(
  head: ExchangeResponse,
  sent: Buffer<ArrayBuffer>,
  { read, otherBody, hide, hideToken }: ReadOptions,
): Promise<AttemptResult> {
  const { status } = head;
  const seen = { status, sizeBytes: sent.byteLength };
  const responded = async (body: Buffer<ArrayBuffer>): Promise<AttemptResult> => ({
    kind: 'response',
    ...seen,
    response: await read(body),
  });
  const isEmpty = EMPTY.has(status) || (otherBody !== undefined && sent.byteLength === 0);
  const given = isEmpty ? 'application/json' : String(head.headers['content-type'] ?? '');
  const body = isEmpty ? Buffer.from('null') : inUtf8(sent, given);
  const isMarkup = /^(\xef\xbb\xbf)?\s*</.test(body.toString('latin1', 0, 100));
  // `read` may free the body, so its beginning is copied first.
  const start = isMarkup || otherBody === 'any' ? startOf(body) : '';
  const title = pageTitle(start, hide);
  const words = [given, unknownEncoding(head)].filter((word) => word !== '');
  const failed = (failure: PlatformFailure): AttemptResult => ({ kind: 'failure', ...seen, failure });
  const notJson = failed({
    kind: 'not-json',
    status,
    contentType: shortened(hideToken(words.join(', ')), MAX_HEADER_LENGTH),
    ...(title === undefined ? {} : { title }),
  });
  const isPage = title !== undefined || PAGE_TYPE.test(given);
  if (isMarkup && (isPage || otherBody !== 'any')) return notJson;
  try {
    return await responded(body);
  } catch (error) {
    const isUnread = error instanceof JsonLimitError || error instanceof SyntaxError;
    if (otherBody === 'any' && isUnread && !isPage)
      return await responded(Buffer.from(JSON.stringify(start)));
    if (otherBody === 'empty' && error instanceof JsonLimitError) return await responded(Buffer.from('null'));
    const isMeant = JSON_TYPE.test(given) && unknownEncoding(head) === '';
    if (error instanceof SyntaxError && !isMeant) return notJson;
    return failed(unreadFailure(error, { ...seen, isPaid: otherBody === 'empty', hide, hideToken }));
  }
}

/**
 * Why a complete response is not a result. If each response costs money, the failure is `shape`, which is not
 * retried.
 */
function unreadFailure(
  error: unknown,
  options: Pick<ReadOptions, 'hide' | 'hideToken'> & {
    readonly status: number;
    readonly sizeBytes: number;
    readonly isPaid: boolean;
  },
): PlatformFailure {
  const { status, sizeBytes, isPaid, hide } = options;
  const shape = (fault: string): PlatformFailure => ({ kind: 'shape', faults: [fault] });
  if (error instanceof ErrorAnswerError) {
    const found = readErrorBody(error.body, options);
    return isPaid
      ? shape(`an error: ${found.detail ?? found.reference}`)
      : { kind: 'status', status, ...found };
  }
  // The parser's own message is not used, because it quotes the response, and the response may be private.
  if (error instanceof SyntaxError)
    return isPaid
      ? shape(`${INVALID_JSON}, ${sizeBytes} bytes`)
      : { kind: 'cut', detail: `${sizeBytes} bytes received` };
  const words = errorText(error);
  // The message about a limit does not quote the body, so it is shown unchanged.
  return shape(error instanceof JsonLimitError ? words : hide(words));
}

/** Statuses without a body. */
const EMPTY: ReadonlySet<number> = new Set([204, 205]);

const JSON_TYPE = /^application\/([\w.-]+\+)?json\b/i;
/** Content types of login and block pages. */
const PAGE_TYPE = /^\w+\/([\w.-]+\+)?(html|xml)\b/i;

/** The beginning of a body that is not JSON, decoded as text. */
const startOf = (body: Buffer): string => body.toString('utf8', 0, MAX_ERROR_BYTES);

/** The target of a redirect, without its query, which may contain a session. */
function redirectTarget(headers: IncomingHttpHeaders, baseUrl: URL, hide: Hide): string {
  if (headers.location === undefined) return 'nowhere';
  const location = hide(headers.location);
  if (!URL.canParse(location, baseUrl.href)) return 'an address that cannot be read';
  const url = new URL(location, baseUrl);
  if (url.origin === 'null') return `an address of ${url.protocol}`;
  return shortened(`${url.origin}${url.pathname}`, MAX_HEADER_LENGTH);
}

const MAX_HEADER_LENGTH = 300;

/** Removes the packet from an error of Node's parser, since it may contain anything that the server sent. */
function withoutPacket(error: unknown): unknown {
  if (error instanceof Error) Reflect.deleteProperty(error, 'rawPacket');
  return error;
}

const DECODING = /^(Z_|ERR_PADDING|ERR_BROTLI|ERR__|ZSTD)/;
/** Codes of TLS handshake errors, which Node reports without a socket if the connection goes through a proxy. */
const HANDSHAKE = /^(EPROTO$|ERR_SSL_|ERR_TLS_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

function brokenConnection(
  error: unknown,
  reached: ConnectionPhase,
  through: { readonly proxy?: string },
): PlatformFailure {
  const code = errorCode(error);
  if (DECODING.test(code)) return { kind: 'cut', detail: `its compression is broken (${code})` };
  const failed = { kind: 'connection', code, phase: reached, ...through } as const;
  if (reached !== 'connect') return failed;
  if (code === 'ERR_PROXY_TUNNEL' && error instanceof Error && 'statusCode' in error)
    return { ...failed, proxyStatus: Number(error.statusCode) };
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return { ...failed, phase: 'resolve' };
  return HANDSHAKE.test(code) ? { ...failed, phase: 'tls' } : failed;
}

/** The code of an error. If several addresses were tried, the code for the first one. */
function errorCode(error: unknown): string {
  if (error instanceof AggregateError && !('code' in error)) return errorCode(error.errors[0]);
  if (typeof error === 'object' && error !== null && 'code' in error) return String(error.code);
  return error instanceof Error ? error.name : 'unknown';
}
