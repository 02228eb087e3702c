import { type AttemptOptions, type AttemptParts, makeAttempt } from './attempt.ts';
import { isStatus, wasSent } from './failure.ts';
import { type CallContext, PlatformError } from './platform-error.ts';
import type { PreparedCall } from './prepare-call.ts';
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
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** From 0 up to 1. */
  readonly random: () => number;
};

/** What was read from a response, with the token that fetched it and the context of the call. */
export type Done<T> = { readonly response: T; readonly token: string; readonly context: CallContext };

/** Makes attempts until one succeeds or the retry policy ends them. Throws `PlatformError`, or the caller's abort. */
export async function sendUntilDone(
  { request, context: { operation, about } }: PreparedCall,
  parts: SendParts,
  options: CallOptions,
): Promise<Done<unknown>> {
  const startedMs = parts.now();
  let sent = false;
  let tokenRenewed = false;
  for (let attempt = 1; ; attempt += 1) {
    const context = { operation, about, attempts: attempt };
    // Read before the turn: a slow secret store must not waste a slot.
    const token = await readToken(parts.token, context);
    const result = await makeAttempt({ request, token, operation, attempt }, parts, options);
    if (result.kind === 'response') return { response: result.response, token, context };
    const { failure, cause } = result;
    sent ||= wasSent(failure);
    if (isStatus(failure, 401) && !tokenRenewed && parts.token.refused(token) && !options.once) {
      tokenRenewed = true;
      continue;
    }
    const { mayRepeat } = request;
    const elapsedMs = parts.now() - startedMs;
    const { limits } = parts;
    const decision = decideRetry({ failure, mayRepeat, attempt, elapsedMs, random: parts.random(), limits });
    if (decision.kind === 'stop' || options.once) throw new PlatformError(failure, context, { cause, sent });
    const { delayMs } = decision;
    parts.observe({ kind: 'retry', operation, attempt, delayMs, failure });
    await parts.sleep(delayMs, options.signal);
  }
}

async function readToken(source: TokenSource, context: CallContext): Promise<string> {
  const token = await source.read();
  const fault = tokenFault(token);
  if (fault !== undefined) throw new PlatformError({ kind: 'input', faults: [fault] }, context);
  return token;
}
