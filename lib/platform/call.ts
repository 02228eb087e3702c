import { faultsOf } from '../json/faults.ts';
import { printJson } from '../json/json.ts';
import type { Pace } from '../pace/pace.ts';
import { PaceWaitError } from '../pace/pace-wait-error.ts';
import { type Endpoint, type EndpointInput, targetOf } from './endpoint.ts';
import { type Observe, tellAll } from './events.ts';
import { type PlatformFailure, wasSent } from './failure.ts';
import {
  type Answer,
  type AttemptResult,
  type PlatformRequest,
  type ReadAnswer,
  readAsJson,
  type Send,
} from './http/transport.ts';
import { type CallContext, PlatformError } from './platform-error.ts';
import { decideRetry, type RetryLimits } from './retry.ts';
import { redact, type TokenSource, tokenFault } from './token.ts';

export type CallOptions = {
  readonly signal?: AbortSignal | undefined;
  /**
   * Awaited in the call's turn, before each attempt leaves: for whoever must note that it is about to be sent. What
   * it throws ends the call, and nothing was sent by that attempt.
   */
  readonly beforeSend?: (() => Promise<void>) | undefined;
  /** One attempt and no more, whatever came of it: for whoever notes each attempt and decides on the next. */
  readonly once?: boolean | undefined;
};

/** Calls an endpoint: checks the input, waits for its turn, sends, retries by the policy. */
export type Call = {
  /** The answer, held against the endpoint's schema. Throws `PlatformError`, or the caller's abort. */
  <Input extends EndpointInput, Output>(
    endpoint: Endpoint<Input, Output>,
    input: EndpointInput,
    options?: CallOptions,
  ): Promise<Output>;
  /** The answer as it came: whole, valid JSON and its text, of whatever shape. For those who keep records as sent. */
  raw<Input extends EndpointInput>(
    endpoint: Endpoint<Input, unknown>,
    input: EndpointInput,
    options?: CallOptions,
  ): Promise<Answer>;
  /**
   * What `read` makes of the answer's bytes. It must throw `SyntaxError` on what is not whole, valid JSON, which is
   * then fetched again where a repeat does no harm; what else it throws is a `shape` failure.
   */
  read<Input extends EndpointInput, T>(
    endpoint: Endpoint<Input, unknown>,
    input: EndpointInput,
    read: ReadAnswer<T>,
    options?: CallOptions,
  ): Promise<T>;
};

/** What a call needs; whatever leaves the process or is not the same twice is passed in. */
export type CallParts = {
  readonly send: Send;
  readonly token: TokenSource;
  readonly pace: Pace;
  readonly observe: Observe;
  readonly limits: RetryLimits;
  /** For endpoints without a time limit of their own, in milliseconds. */
  readonly timeoutMs: number;
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** From 0 up to 1. */
  readonly random: () => number;
};

export function createCall(given: CallParts): Call {
  const parts = { ...given, observe: tellAll([given.observe]) };
  const send = async <Input extends EndpointInput, T>(
    endpoint: Endpoint<Input, unknown>,
    input: EndpointInput,
    read: ReadAnswer<T>,
    options: CallOptions | undefined,
  ): Promise<Done<T>> => {
    const prepared = prepare(endpoint, input, parts, read);
    // What `read` made comes back untouched: the one place where its type is asserted.
    return (await sendUntilDone(prepared, parts, options ?? {})) as Done<T>;
  };
  const call = async <Input extends EndpointInput, Output>(
    endpoint: Endpoint<Input, Output>,
    input: EndpointInput,
    options?: CallOptions,
  ): Promise<Output> => {
    const { answer, token, context } = await send(endpoint, input, readAsJson, options);
    const parsed = endpoint.output.safeParse(answer.json);
    if (parsed.success) return parsed.data;
    // Faults quote the answer, which may echo the token.
    const hide = (text: string) => redact(text, token);
    const faults = faultsOf(parsed.error, answer.json, { place: placeIn(answer.json), hide });
    throw new PlatformError({ kind: 'shape', faults: firstFaults(faults) }, context);
  };
  return Object.assign(call, {
    raw: async (endpoint, input, options) => (await send(endpoint, input, readAsJson, options)).answer,
    read: async (endpoint, input, read, options) => (await send(endpoint, input, read, options)).answer,
  } satisfies Pick<Call, 'raw' | 'read'>);
}

type Prepared = {
  readonly request: PlatformRequest;
  readonly context: Omit<CallContext, 'attempts'>;
};

function prepare<Input extends EndpointInput>(
  endpoint: Endpoint<Input, unknown>,
  input: EndpointInput,
  parts: CallParts,
  read: ReadAnswer<unknown>,
): Prepared {
  const checked = endpoint.input.safeParse(input);
  if (!checked.success) {
    const place = (path: readonly PropertyKey[]) => path.slice(1).join('.') || String(path[0]);
    const faults = faultsOf(checked.error, input, { place });
    throw new PlatformError(
      { kind: 'input', faults },
      { operation: endpoint.name, about: 'not sent', attempts: 0 },
    );
  }
  const { data } = checked;
  return {
    context: { operation: endpoint.name, about: endpoint.about(data) },
    request: {
      method: endpoint.method,
      target: targetOf(endpoint, data),
      body: data.body === undefined ? undefined : printJson(data.body),
      timeoutMs: endpoint.timeoutMs ?? parts.timeoutMs,
      mayRepeat: endpoint.mayRepeat,
      read,
    },
  };
}

/** What was made of an answer, with the token that fetched it, and how it came about. */
type Done<T> = { readonly answer: T; readonly token: string; readonly context: CallContext };

async function sendUntilDone(
  { request, context }: Prepared,
  parts: CallParts,
  options: CallOptions,
): Promise<Done<unknown>> {
  const startedMs = parts.now();
  let sent = false;
  let tokenRenewed = false;
  for (let attempt = 1; ; attempt += 1) {
    // Read before the turn: a slow secret store must not waste a slot.
    const token = await readToken(parts.token, { ...context, attempts: attempt });
    const result = await attemptOnce({ request, token }, { ...context, attempts: attempt }, parts, options);
    if (result.kind === 'answer')
      return { answer: result.answer, token, context: { ...context, attempts: attempt } };
    const { failure } = result;
    sent ||= wasSent(failure);
    const isRefused = failure.kind === 'status' && failure.status === 401;
    if (isRefused && !tokenRenewed && parts.token.refused(token) && !options.once) {
      tokenRenewed = true;
      continue;
    }
    const elapsedMs = parts.now() - startedMs;
    const decision = decideRetry({
      failure,
      mayRepeat: request.mayRepeat,
      attempt,
      elapsedMs,
      random: parts.random(),
      limits: parts.limits,
    });
    if (decision.kind === 'stop' || options.once) {
      throw new PlatformError(failure, { ...context, attempts: attempt }, { cause: result.cause, sent });
    }
    parts.observe({
      kind: 'retry',
      operation: context.operation,
      attempt,
      delayMs: decision.delayMs,
      failure,
    });
    await parts.sleep(decision.delayMs, options.signal);
  }
}

async function readToken(source: TokenSource, context: CallContext): Promise<string> {
  const token = await source.read();
  const fault = tokenFault(token);
  if (fault !== undefined) throw new PlatformError({ kind: 'input', faults: [fault] }, context);
  return token;
}

type Attempted =
  | { readonly kind: 'answer'; readonly answer: unknown }
  | { readonly kind: 'failure'; readonly failure: PlatformFailure; readonly cause?: unknown };

async function attemptOnce(
  { request, token }: { readonly request: PlatformRequest; readonly token: string },
  context: CallContext,
  parts: CallParts,
  { signal, beforeSend }: CallOptions,
): Promise<Attempted> {
  const { operation, attempts: attempt } = context;
  try {
    return await parts.pace.run(
      async (slot) => {
        if (slot.waitedMs > 0) parts.observe({ kind: 'waited', operation, attempt, waitedMs: slot.waitedMs });
        await beforeSend?.();
        const startedMs = parts.now();
        const result = await parts.send(request, token, signal);
        const { status, sizeBytes } = result;
        parts.observe({
          kind: 'request',
          operation,
          attempt,
          status,
          sizeBytes,
          durationMs: parts.now() - startedMs,
        });
        const retryAfterMs = throttledFor(result);
        if (retryAfterMs !== 'not') {
          parts.observe({ kind: 'throttled', operation, attempt, retryAfterMs });
          await parts.pace.throttled(slot, retryAfterMs);
        }
        return result;
      },
      { signal },
    );
  } catch (error) {
    if (!(error instanceof PaceWaitError)) throw error;
    return { kind: 'failure', failure: { kind: 'wait', waitMs: error.waitMs, maxWaitMs: error.maxWaitMs } };
  }
}

function throttledFor(result: AttemptResult): number | undefined | 'not' {
  if (result.kind !== 'failure' || result.failure.kind !== 'status' || result.failure.status !== 429)
    return 'not';
  return result.failure.retryAfterMs;
}

/** Puts a path into an answer into words, and names the record it lies in: `results.3.name (id 17)`. */
function placeIn(json: unknown): (path: readonly PropertyKey[]) => string {
  return (path) => {
    let at: unknown = json;
    let id: unknown;
    for (const key of path) {
      at = typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined;
      // The outermost id is that of the record; what lies within it may have ids of its own.
      if (typeof at === 'object' && at !== null)
        id ??= Reflect.get(at, 'id') ?? Reflect.get(at, 'dataFileId');
    }
    const place = path.join('.') || 'the answer';
    return typeof id === 'object' || id === undefined ? place : `${place} (id ${String(id)})`;
  };
}

const MOST_FAULTS = 10;
/** A fault names keys and ids of the answer, which may be of any length. */
const LONGEST_FAULT = 300;

function firstFaults(faults: readonly string[]): readonly string[] {
  const first = faults
    .slice(0, MOST_FAULTS)
    .map((fault) => (fault.length > LONGEST_FAULT ? `${fault.slice(0, LONGEST_FAULT)}…` : fault));
  return faults.length > MOST_FAULTS ? [...first, `and ${faults.length - MOST_FAULTS} more`] : first;
}
