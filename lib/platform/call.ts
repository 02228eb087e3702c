import type * as z from 'zod/mini';
import { type InHand, traced } from '../base/aws/index.ts';
import { checkedBy, faultsOf, preview, shortened } from '../base/index.ts';
import { parseJson, printJson, refuseManyValues, repairBytes } from '../base/json/index.ts';
import { type Pace, PaceWaitError, type Priority, type Slot } from '../pace/index.ts';
import type { Endpoint, EndpointInput } from './endpoint.ts';
import { notifyAll, type Observe } from './events.ts';
import { isStatus, isUnreached, type PlatformFailure, wasSent } from './failure.ts';
import {
  ErrorAnswerError,
  INVALID_JSON,
  type JsonResponse,
  readAsJson,
  type Send,
} from './http/transport.ts';
import { PlatformError } from './platform-error.ts';
import { isErrorAnswer, oddIn } from './records.ts';
import { redact } from './redact.ts';
import { decideRetry, type RetryLimits } from './retry.ts';
import { type TokenSource, tokenFault } from './token.ts';

type AttemptResult = Awaited<ReturnType<Send>>;

type PlatformRequest = Parameters<Send>[0];

type CallContext = ConstructorParameters<typeof PlatformError>[1];

/** Options for one call; all are optional. */
export type CallOptions = AttemptOptions & {
  /** Whether to make a single attempt, for callers that decide about retries themselves. Default: false. */
  readonly once?: boolean | undefined;
  /**
   * Receives the function that frees the memory of the body, for callers whose result still uses the body. Default: the
   * memory is freed immediately.
   */
  readonly hold?: PlatformRequest['hold'];
};

/** Calls an endpoint: checks the input, waits for its turn, sends, and retries as `decideRetry` decides. */
export type Call = {
  /** Returns the response, validated by the endpoint's schema. Throws `PlatformError`, or the caller's abort. */
  <Input extends EndpointInput, Output>(
    endpoint: Endpoint<Input, Output>,
    input: EndpointInput,
    options?: CallOptions,
  ): Promise<Output>;
  /** Returns the response as received: complete, valid JSON of any shape. For callers that store records unchanged. */
  raw<Input extends EndpointInput>(
    endpoint: Endpoint<Input, unknown>,
    input: EndpointInput,
    options?: CallOptions,
  ): Promise<JsonResponse>;
  /**
   * Returns the result of `read` for the response's bytes. `read` must throw `SyntaxError` unless they are
   * complete, valid JSON; the call is then repeated if a repeat does no harm. Any other error of `read` becomes a
   * `shape` failure.
   */
  read<Input extends EndpointInput, T>(
    endpoint: Endpoint<Input, unknown>,
    input: EndpointInput,
    read: ReadAnswer<T>,
    options?: CallOptions,
  ): Promise<T>;
};

/** Reads a response's bytes. Reports members that differ from the platform's API, in the form of `oddMembers`. */
export type ReadAnswer<T> = (body: Buffer<ArrayBuffer>, onOdd?: OnOdd) => T | Promise<T>;

/** Receives the members of records that differ from the platform's API: `startedBy: number`. */
export type OnOdd = (members: readonly string[]) => void;

type CallParts = AttemptParts & {
  readonly token: TokenSource;
  readonly limits: RetryLimits;
  /** The platform's host, for errors. Absent: errors do not mention the host. */
  readonly host?: string | undefined;
  /** The time limit of endpoints that have none, in milliseconds. */
  readonly timeoutMs: number;
  /** By operation: the HTTP method that the platform accepts, if it has refused the operation's usual method. */
  readonly methods?: Map<string, PlatformRequest['method']>;
  readonly inHand?: InHand | undefined;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
};

/** Creates the function with which all operations call the platform. */
export function createCall(given: CallParts): Call {
  const client = { methods: new Map(), ...given, observe: notifyAll([given.observe]), wasReached: false };
  const reportOdd = ({ operation, attempts: attempt }: CallContext, members: readonly string[]) => {
    if (members.length > 0) client.observe({ kind: 'odd', operation, attempt, members });
  };
  const send = async <Input extends EndpointInput, T>(
    endpoint: Endpoint<Input, unknown>,
    input: EndpointInput,
    read: ReadAnswer<T>,
    options: CallOptions = {},
  ): Promise<Done<T>> => {
    let odd: readonly string[] = [];
    const own = {
      timeoutMs: client.timeoutMs,
      hold: options.hold,
      read: readerOf(endpoint, read, (members) => (odd = members)),
    };
    const prepared = prepareCall(endpoint, input, own);
    using _ = client.inHand?.hold(prepared.context);
    // The cast below is safe, since the result of `read` is returned unchanged.
    const { operation } = prepared.context;
    const done = await traced('call', { operation }, () => sendUntilDone(prepared, client, options));
    reportOdd(done.context, odd);
    return done as Done<T>;
  };
  const sendForJson = async <Input extends EndpointInput>(
    endpoint: Endpoint<Input, unknown>,
    input: EndpointInput,
    options?: CallOptions,
  ): Promise<Done<JsonResponse>> => {
    const done = await send(endpoint, input, jsonReader(endpoint), options);
    reportOdd(done.context, oddIn(endpoint.records, done.response.json));
    return done;
  };
  const call = async <Input extends EndpointInput, Output>(
    endpoint: Endpoint<Input, Output>,
    input: EndpointInput,
    options?: CallOptions,
  ): Promise<Output> => {
    const { response, token, context } = await sendForJson(endpoint, input, options);
    const parsed = checkedBy(endpoint.output(checkedInput(endpoint, input)), response.json);
    if (parsed.success) return parsed.data;
    throw shapeErrorOf(parsed.error, { json: response.json, token, context, ...endpoint });
  };
  return Object.assign(call, {
    raw: async (endpoint, input, options) => (await sendForJson(endpoint, input, options)).response,
    read: async (endpoint, input, read, options) => (await send(endpoint, input, read, options)).response,
  } satisfies Pick<Call, 'raw' | 'read'>);
}

type PreparedCall = {
  readonly request: PlatformRequest;
  readonly otherMethod: PlatformRequest['method'] | undefined;
  readonly context: Omit<CallContext, 'attempts'>;
};

/** Checks the input, and builds the request. Throws `PlatformError` with every fault of the input. */
function prepareCall<Input extends EndpointInput>(
  endpoint: Endpoint<Input, unknown>,
  input: EndpointInput,
  { timeoutMs, ...own }: Pick<PlatformRequest, 'timeoutMs' | 'read' | 'hold'>,
): PreparedCall {
  const data = checkedInput(endpoint, input);
  return {
    context: { operation: endpoint.name, about: endpoint.about(data) },
    otherMethod: endpoint.otherMethod,
    request: {
      method: endpoint.method,
      otherBody: endpoint.otherBody,
      target: targetOf(endpoint, data),
      body: data.body === undefined ? undefined : printJson(data.body),
      timeoutMs: endpoint.timeoutMs ?? timeoutMs,
      mayRepeat: endpoint.mayRepeat,
      isPrivate: endpoint.isPrivate ?? false,
      ...own,
    },
  };
}

/** The path and query of a call, percent-encoded, without absent query values. A lone surrogate becomes U+FFFD. */
function targetOf(endpoint: Pick<Endpoint, 'path'>, input: EndpointInput): string {
  const path = endpoint.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(input.path?.[name]).toWellFormed()),
  );
  const query = new URLSearchParams(
    Object.entries(input.query ?? {}).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as [string, string]],
    ),
  ).toString();
  return query === '' ? path : `${path}?${query}`;
}

/** The input, parsed by the endpoint's schema. Throws `PlatformError` with every fault. */
function checkedInput<Input extends EndpointInput>(
  { name: operation, input: schema }: Endpoint<Input, unknown>,
  input: EndpointInput,
): Input {
  const checked = checkedBy(schema, input);
  if (checked.success) return checked.data;
  const describePath = (path: readonly PropertyKey[]) => path.slice(1).join('.') || String(path[0]);
  const faults = faultsOf(checked.error, input, { describePath });
  throw new PlatformError({ kind: 'input', faults }, { operation, about: 'not sent', attempts: 0 });
}

/** Reads a body; if that fails, reads the repaired body (see `repairBytes`). Throws `ErrorAnswerError` for an error. */
const readerOf =
  <T>(endpoint: Pick<Endpoint, 'isResult'>, read: ReadAnswer<T>, onOdd: OnOdd) =>
  async (body: Buffer<ArrayBuffer>): Promise<T> => {
    refuseError(body, endpoint);
    try {
      return await read(body, onOdd);
    } catch (error) {
      const repaired = error instanceof SyntaxError ? repairBytes(body) : undefined;
      if (repaired === undefined) throw error;
      onOdd([INVALID_JSON]);
      return await read(repaired, (members) => onOdd([INVALID_JSON, ...members]));
    }
  };

/** A body with more bytes does not count as an error of the platform. */
const MAX_ERROR_BYTES = 65_536;

/** Throws `ErrorAnswerError` for an error that was sent with the status of a success. */
function refuseError(body: Buffer, { isResult }: Pick<Endpoint, 'isResult'>): void {
  if (body.byteLength > MAX_ERROR_BYTES) return;
  const text = new TextDecoder().decode(body);
  const members = membersIn(text);
  if (isErrorAnswer(members) && !isResult(members)) throw new ErrorAnswerError(text);
}

/** The members of a value as JSON; none if it is not valid JSON, since that is reported when the body is read. */
function membersIn(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(parseJson(text));
  } catch {
    return {};
  }
}

/** Reads a body as JSON. Throws `JsonLimitError`, before parsing, if it has too many values. */
const readAsBoundedJson: ReadAnswer<JsonResponse> = (body, onOdd) => {
  refuseManyValues(body);
  return readAsJson(body, onOdd);
};

/**
 * Returns the reader for a response. A response that cannot be fetched again is read even if it has very many values.
 */
const jsonReader = ({ mayRepeat }: Pick<Endpoint, 'mayRepeat'>): ReadAnswer<JsonResponse> =>
  mayRepeat ? readAsBoundedJson : readAsJson;

type Done<T> = { readonly response: T; readonly token: string; readonly context: CallContext };

/** Makes attempts until one succeeds or the retry policy ends them. Throws `PlatformError`, or the caller's abort. */
async function sendUntilDone(
  { request: prepared, otherMethod, context: call }: PreparedCall,
  client: CallParts & Required<Pick<CallParts, 'methods'>> & { wasReached: boolean },
  options: CallOptions,
): Promise<Done<unknown>> {
  const { limits, host, now } = client;
  const startedMs = now();
  let sent = false;
  let tokenRenewed = false;
  let isOtherMethod = false;
  for (let attempt = 1; ; attempt += 1) {
    const context = { ...call, host, attempts: attempt };
    const method = client.methods.get(call.operation) ?? prepared.method;
    // Connecting may take at most the time of an ordinary attempt, even for a function that may run longer.
    const connectMs = (client.wasReached ? undefined : limits.unreachedMs) ?? client.timeoutMs;
    const request = { ...prepared, method, connectMs };
    // The token is read before the call's turn, so that a slow secret store does not waste a slot.
    const token = await readToken(client.token, context);
    const result = await makeAttempt({ request, token, operation: call.operation, attempt }, client, options);
    client.wasReached ||= result.kind === 'response' || showsContact(result.failure);
    if (result.kind === 'response') return { response: result.response, token, context };
    const { failure, cause } = result;
    sent ||= wasSent(failure);
    if (isStatus(failure, 401) && !tokenRenewed && client.token.refused(token) && !options.once) {
      tokenRenewed = true;
      continue;
    }
    if (isStatus(failure, 405) && otherMethod !== undefined && !isOtherMethod) {
      // The platform executed nothing. Later calls begin with the other method.
      isOtherMethod = true;
      client.methods.set(call.operation, method === otherMethod ? prepared.method : otherMethod);
      continue;
    }
    const decision = decideRetry({
      failure,
      attempt,
      limits,
      mayRepeat: request.mayRepeat,
      wasReached: client.wasReached,
      elapsedMs: now() - startedMs,
      random: client.random(),
    });
    if (decision.kind === 'stop' || options.once) throw new PlatformError(failure, context, { cause, sent });
    const { delayMs } = decision;
    client.observe({ kind: 'retry', operation: call.operation, attempt, delayMs, failure });
    await client.sleep(delayMs, options.signal);
  }
}

const showsContact = (failure: PlatformFailure): boolean => failure.kind !== 'wait' && !isUnreached(failure);

async function readToken(source: TokenSource, context: CallContext): Promise<string> {
  const token = await source.read();
  const fault = tokenFault(token);
  if (fault !== undefined) throw new PlatformError({ kind: 'input', faults: [fault] }, context);
  return token;
}

/**
 * The error for a response of another shape, with its first faults, each with its record. If `isPrivate`, a fault gives
 * the type of a value and does not quote it.
 */
function shapeErrorOf(
  error: z.core.$ZodError,
  options: Pick<Endpoint, 'isPrivate'> & Pick<Done<never>, 'token' | 'context'> & { readonly json: unknown },
): PlatformError {
  const { json, token, context, isPrivate } = options;
  const found = faultsOf(error, json, {
    describePath: pathDescriber(json),
    // Faults quote the response, which may echo the token.
    hide: (text) => redact(text, token),
    max: MAX_FAULTS,
    ...(isPrivate ? { show: kindOf } : {}),
  });
  const faults = found.map((fault) => shortened(fault, MAX_FAULT_LENGTH));
  return new PlatformError({ kind: 'shape', faults }, context);
}

/** Describes a path into a response, with the id of the record: `results.3.name (id 17)`. */
function pathDescriber(json: unknown): (path: readonly PropertyKey[]) => string {
  return (path) => {
    let at: object = Object(json);
    let id: unknown;
    for (const key of path) {
      at = Object(Reflect.get(at, key));
      // The outermost id is the record's, since objects within the record may have ids too.
      id ??= Reflect.get(at, 'id') ?? Reflect.get(at, 'dataFileId');
    }
    const named = path.join('.') || 'the response';
    return typeof id === 'object' || id === undefined ? named : `${named} (id ${String(id)})`;
  };
}

const MAX_FAULTS = 10;
/** Maximum length of a fault. A fault quotes keys and ids from the response, and these may be of any length. */
const MAX_FAULT_LENGTH = 300;

const kindOf = (value: unknown): string =>
  typeof value === 'string' ? `text of ${value.length} characters (not shown)` : preview(value);

type AttemptOptions = {
  readonly signal?: AbortSignal | undefined;
  /** Decides which calls leave first, for example urgent calls before the calls of large batches. Default: `normal`. */
  readonly priority?: Priority | undefined;
  /**
   * Whether an abort no longer has an effect after the request was sent, for callers that must know the response.
   * Default: false.
   */
  readonly finishes?: boolean | undefined;
  /**
   * Awaited shortly before each attempt's turn, to record that the attempt is about to be sent. If it throws, the call
   * ends with that error. Afterwards the attempt may still not be sent, if its turn comes too late or the caller
   * aborts. Only `onSend` proves that it is sent.
   */
  readonly beforeSend?: (() => Promise<void>) | undefined;
  /**
   * Called in the attempt's turn, just before it is sent. If it throws, nothing is sent, and the call ends
   * with that error.
   */
  readonly onSend?: (() => void) | undefined;
};

/**
 * Registers a call that was sent and must not be aborted when the process stops. When the call ends, within
 * `timeoutMs`, the returned value is disposed of.
 */
export type TrackSent = (call: { readonly operation: string; readonly timeoutMs: number }) => Disposable;

type AttemptParts = {
  readonly send: Send;
  readonly pace: Pace;
  readonly observe: Observe;
  /** Milliseconds on a monotonic clock. */
  readonly now: () => number;
  readonly trackSent?: TrackSent | undefined;
};

type Attempt = {
  readonly request: PlatformRequest;
  readonly token: string;
  readonly operation: string;
  readonly attempt: number;
};

/** Waits for the attempt's turn, and sends it. Throws the caller's abort, and errors of `beforeSend` and `onSend`. */
async function makeAttempt(
  attempt: Attempt,
  parts: AttemptParts,
  options: AttemptOptions,
): Promise<AttemptResult> {
  const { signal, beforeSend: prepare, priority } = options;
  try {
    // The pace checks the signal until the call is sent.
    const send = (slot: Slot) => sendIn(slot, attempt, parts, options);
    const { operation } = attempt;
    return await parts.pace.run(send, { signal, isAccepted, prepare, priority, operation });
  } catch (error) {
    if (!(error instanceof PaceWaitError)) throw error;
    const { waitMs, maxWaitMs, isPaused } = error;
    const paused = isPaused ? { isPaused } : {};
    const failure = { kind: 'wait', waitMs, maxWaitMs, ...paused } as const;
    return { kind: 'failure', status: undefined, sizeBytes: 0, failure };
  }
}

/** Whether the platform accepted the call: it succeeded, or the platform found a fault in the request itself. */
function isAccepted(result: AttemptResult): boolean {
  if (result.kind === 'response') return true;
  const { failure } = result;
  return failure.kind === 'status' && [400, 404, 409, 422].includes(failure.status);
}

/** Whether the platform throttles: a 429, or a 503 with `Retry-After`. */
const isThrottled = (
  failure: PlatformFailure,
): failure is Extract<PlatformFailure, { readonly kind: 'status' }> =>
  failure.kind === 'status' &&
  (failure.status === 429 || (failure.status === 503 && failure.retryAfterMs !== undefined));

async function sendIn(
  slot: Slot,
  { request, token, operation, attempt }: Attempt,
  { send, pace, observe, now, trackSent }: AttemptParts,
  { signal, onSend, finishes = false }: AttemptOptions,
): Promise<AttemptResult> {
  if (slot.waitedMs > 0) observe({ kind: 'waited', operation, attempt, waitedMs: slot.waitedMs });
  onSend?.();
  signal?.throwIfAborted();
  const startedMs = now();
  using _ = finishes ? trackSent?.({ operation, timeoutMs: request.timeoutMs }) : undefined;
  const result = await send(request, token, finishes ? undefined : signal);
  const { status, sizeBytes } = result;
  const durationMs = now() - startedMs;
  const failure = result.kind === 'failure' ? { failure: result.failure } : {};
  observe({ kind: 'request', operation, attempt, status, sizeBytes, durationMs, ...failure });
  if (result.kind === 'failure' && isThrottled(result.failure)) {
    const { retryAfterMs } = result.failure;
    observe({ kind: 'throttled', operation, attempt, retryAfterMs });
    await pace.throttled(slot, retryAfterMs);
  }
  return result;
}
