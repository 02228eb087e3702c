import { type Attempted, type AttemptOptions, type AttemptParts, makeAttempt } from './attempt.ts';
import { isStatus, isUnreached, wasSent } from './failure.ts';
import type { PlatformRequest } from './http/transport.ts';
import { type CallContext, PlatformError } from './platform-error.ts';
import { decideRetry, type RetryLimits } from './retry.ts';
import { type TokenSource, tokenFault } from './token.ts';

export type CallOptions = AttemptOptions & {
  /** One attempt and no more, whatever its outcome: for callers that record each attempt and decide on the next. */
  readonly once?: boolean | undefined;
};

/** What a call needs, from its first attempt to its last. */
export type SendParts = AttemptParts & {
  readonly token: TokenSource;
  readonly limits: RetryLimits;
  /** The platform's host, as errors name it. Absent: they do not. */
  readonly host?: string | undefined;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** From 0 up to 1. */
  readonly random: () => number;
};

/** A call whose input was checked. */
export type PreparedCall = {
  readonly request: PlatformRequest;
  readonly context: Omit<CallContext, 'attempts'>;
};

/** Whether the platform has been connected to, by any call of a client. */
export type Contact = { wasReached: boolean };

/** What was read from a response, with the token that fetched it and the context of the call. */
export type Done<T> = { readonly response: T; readonly token: string; readonly context: CallContext };

/** Makes attempts until one succeeds or the retry policy ends them. Throws `PlatformError`, or the caller's abort. */
export async function sendUntilDone(
  { request: prepared, context: { operation, about } }: PreparedCall,
  parts: SendParts & { readonly contact: Contact },
  options: CallOptions,
): Promise<Done<unknown>> {
  const startedMs = parts.now();
  let sent = false;
  let tokenRenewed = false;
  const { limits, host, contact } = parts;
  for (let attempt = 1; ; attempt += 1) {
    const context = { operation, about, host, attempts: attempt };
    const connectMs = contact.wasReached ? undefined : limits.unreachedMs;
    const request = connectMs === undefined ? prepared : { ...prepared, connectMs };
    // Read before the turn: a slow secret store must not waste a slot.
    const token = await readToken(parts.token, context);
    const result = await makeAttempt({ request, token, operation, attempt }, parts, options);
    contact.wasReached ||= showsContact(result);
    if (result.kind === 'response') return { response: result.response, token, context };
    const { failure, cause } = result;
    sent ||= wasSent(failure);
    if (isStatus(failure, 401) && !tokenRenewed && parts.token.refused(token) && !options.once) {
      tokenRenewed = true;
      continue;
    }
    const { mayRepeat } = request;
    const elapsedMs = parts.now() - startedMs;
    const { wasReached } = contact;
    const facts = { failure, mayRepeat, attempt, elapsedMs, wasReached, limits };
    const decision = decideRetry({ ...facts, random: parts.random() });
    if (decision.kind === 'stop' || options.once) throw new PlatformError(failure, context, { cause, sent });
    const { delayMs } = decision;
    parts.observe({ kind: 'retry', operation, attempt, delayMs, failure });
    await parts.sleep(delayMs, options.signal);
  }
}

const showsContact = (result: Attempted): boolean =>
  result.kind === 'response' || (result.failure.kind !== 'wait' && !isUnreached(result.failure));

async function readToken(source: TokenSource, context: CallContext): Promise<string> {
  const token = await source.read();
  const fault = tokenFault(token);
  if (fault !== undefined) throw new PlatformError({ kind: 'input', faults: [fault] }, context);
  return token;
}
