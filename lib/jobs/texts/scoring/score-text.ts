import type { PlatformFailure } from '../../../platform/failure.ts';
import type { SentimentRequest } from '../../../platform/operations/analyze-sentiment.ts';
import { PlatformError } from '../../../platform/platform-error.ts';
import type { Sentiment } from '../../../platform/records.ts';
import { decideRetry, defaultRetryLimits } from '../../../platform/retry.ts';
import type { ScoreRequest } from '../batch/batch.ts';
import type { TextClaim } from '../cache/score-cache.ts';
import type { ScoreTextsOptions } from './score-texts-options.ts';

/** The outcome of a text, which several ids may share. */
export type TextOutcome =
  | { readonly kind: 'cached'; readonly result: Sentiment }
  | { readonly kind: 'scored'; readonly result: Sentiment; readonly calls: number }
  | { readonly kind: 'failed'; readonly error: string; readonly calls: number };

/** Another worker holds the text, until `untilMs`. */
type HeldText = { readonly kind: 'held'; readonly untilMs: number };

/**
 * Scores texts one at a time or many at once. After the first failure that is thrown no further call leaves: the
 * remaining texts would most likely fail too.
 */
export function createTextScorer(request: ScoreRequest, options: ScoreTextsOptions) {
  let stopped: { readonly error: unknown } | undefined;
  const run: Run = {
    ...options,
    throwIfStopped: () => {
      if (stopped !== undefined) throw new StoppedError();
    },
  };
  return async (text: string): Promise<TextOutcome | HeldText> => {
    try {
      run.throwIfStopped();
      return await scoreText({ ...request, text }, run);
    } catch (error) {
      stopped ??= { error };
      throw stopped.error;
    }
  };
}

/** The failure of another text stopped them all; that failure is thrown instead of this one. */
class StoppedError extends Error {
  override readonly name = 'StoppedError';
}

type Run = ScoreTextsOptions & { readonly throwIfStopped: () => void };

async function scoreText(request: SentimentRequest, run: Run): Promise<TextOutcome | HeldText> {
  const claimed = await run.cache.claim(request, run.payer);
  if (claimed.kind === 'scored') {
    const { result, calls } = claimed;
    return calls === 0 ? { kind: 'cached', result } : { kind: 'scored', result, calls };
  }
  if (claimed.kind === 'held') return claimed;
  const { claim } = claimed;
  const startedMs = run.now();
  let refusedTokens = 0;
  for (let attempt = 1; ; attempt += 1) {
    const tried = await tryOnce(request, claim, run);
    switch (tried.kind) {
      case 'result':
        return store(tried.result, claim, run);
      case 'held':
        return tried;
      case 'failure': {
        if (isRefusedToken(tried.error.failure)) refusedTokens += 1;
        const delayMs = await retryDelay(tried.error, { attempt, startedMs, refusedTokens }, claim, run);
        if (delayMs === 'never') {
          const calls = claim.sends();
          await claim.forget();
          return { kind: 'failed', error: tried.error.message, calls };
        }
        await run.sleep(delayMs, run.signal).catch((error: unknown) => giveBack(claim, error));
        break;
      }
      default:
        return tried satisfies never;
    }
  }
}

type Tried =
  | { readonly kind: 'result'; readonly result: Sentiment }
  | { readonly kind: 'failure'; readonly error: PlatformError }
  | HeldText;

/** Ends an attempt that may not be sent. */
class NotSentError extends Error {
  override readonly name = 'NotSentError';
}

/** One attempt, recorded in the cache before it leaves, and taken back if it was certainly not executed. */
async function tryOnce(request: SentimentRequest, claim: TextClaim, run: Run): Promise<Tried> {
  let [recorded, left] = [false, false];
  const beforeSend = async () => {
    run.throwIfStopped();
    if (isOver(run) || !(await claim.send())) throw new NotSentError();
    recorded = true;
  };
  const onLeave = () => {
    run.throwIfStopped();
    if (isOver(run) || !claim.isHeld()) throw new NotSentError();
    left = true;
  };
  try {
    return {
      kind: 'result',
      result: await run.analyze(request, { signal: run.signal, beforeSend, onLeave, once: true }),
    };
  } catch (error) {
    // It did not leave after all: its turn was too far off, or it was stopped before.
    if (recorded && !left) await claim.takeBack().catch(() => undefined);
    if (error instanceof NotSentError) {
      await claim.release();
      return { kind: 'held', untilMs: run.now() };
    }
    if (!(error instanceof PlatformError)) return giveBack(claim, error);
    if (left && (!error.sent || wasRefused(error.failure))) await claim.takeBack();
    return { kind: 'failure', error };
  }
}

const isOver = ({ deadlineMs, now }: Run) => deadlineMs !== undefined && now() >= deadlineMs;

/** The attempts at a text so far. `attempt`: 1 is the first; `refusedTokens`: attempts whose token was refused. */
type Progress = { readonly attempt: number; readonly startedMs: number; readonly refusedTokens: number };

const isRefusedToken = (failure: PlatformFailure) => failure.kind === 'status' && failure.status === 401;

/** Milliseconds before the next attempt, or `never` if the text itself is at fault. Throws any other failure. */
async function retryDelay(
  error: PlatformError,
  { attempt, startedMs, refusedTokens }: Progress,
  claim: TextClaim,
  run: Run,
): Promise<number | 'never'> {
  const { failure } = error;
  if (isOfText(error)) return 'never';
  // The token source learns of a refused token and reads it again: one more attempt shows whether that helped.
  if (isRefusedToken(failure) && refusedTokens === 1) return 0;
  const decision = decideRetry({
    failure,
    mayRepeat: true,
    attempt,
    elapsedMs: run.now() - startedMs,
    random: run.random(),
    limits: { ...defaultRetryLimits, ...run.retry },
  });
  const endsMs = run.now() + (decision.kind === 'retry' ? decision.delayMs : 0);
  const mayWait = failure.kind !== 'wait' && endsMs < (run.deadlineMs ?? Number.POSITIVE_INFINITY);
  if (decision.kind === 'retry' && mayWait) return decision.delayMs;
  return giveBack(claim, error);
}

/** The platform read the text and refused it: it did not score it. */
const wasRefused = (failure: PlatformFailure) =>
  failure.kind === 'status' && REFUSALS.includes(failure.status);

const REFUSALS: readonly number[] = [400, 403, 413, 415, 422];

/** Whether the text is at fault, so that another one might succeed. */
function isOfText({ failure, attempts }: PlatformError): boolean {
  switch (failure.kind) {
    case 'status':
      return wasRefused(failure);
    case 'shape':
    case 'too-large':
      return true;
    // An invalid token is an input fault too, but one that takes an attempt to find.
    case 'input':
      return attempts === 0;
    default:
      return false;
  }
}

/** Releases the text and throws the error. If the release fails, the lease runs out by itself. */
async function giveBack(claim: TextClaim, error: unknown): Promise<never> {
  await claim.release().catch(() => undefined);
  throw error;
}

/** Delays between tries to store a result, in milliseconds. */
const STORE_DELAYS_MS: readonly number[] = [500, 1_000, 2_000];

/** Stores the result. One that cannot be stored is returned all the same: it was paid for. */
async function store(result: Sentiment, claim: TextClaim, run: Run): Promise<TextOutcome> {
  for (const delayMs of [...STORE_DELAYS_MS, undefined]) {
    try {
      const { stored, sends } = await claim.finish(result);
      return sends === 0
        ? { kind: 'cached', result: stored }
        : { kind: 'scored', result: stored, calls: sends };
    } catch {
      if (delayMs !== undefined) await run.sleep(delayMs);
    }
  }
  return { kind: 'scored', result, calls: claim.sends() };
}
