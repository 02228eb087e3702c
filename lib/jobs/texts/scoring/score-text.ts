import type { PlatformFailure } from '../../../platform/failure.ts';
import type { SentimentRequest } from '../../../platform/operations/analyze-sentiment.ts';
import { PlatformError } from '../../../platform/platform-error.ts';
import type { Sentiment } from '../../../platform/records.ts';
import { decideRetry, defaultRetryLimits } from '../../../platform/retry.ts';
import type { ScoreRequest } from '../batch/batch.ts';
import type { TextClaim } from '../cache/score-cache.ts';
import type { ScoreTextsOptions } from './score-texts-options.ts';

/** The outcome of a text, whosever ids it has. */
export type TextOutcome =
  | { readonly kind: 'cached'; readonly result: Sentiment }
  | { readonly kind: 'scored'; readonly result: Sentiment; readonly calls: number }
  | { readonly kind: 'failed'; readonly error: string; readonly calls: number };

/** Somebody else scores the text, until `untilMs`. */
type HeldText = { readonly kind: 'held'; readonly untilMs: number };

/**
 * Scores one text after the other or many at once. After the first failure that is thrown no further call leaves: the
 * rest of the texts would most likely fare alike.
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

/** Another text's failure ended the whole; it is thrown in the place of this. */
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
      case 'answer':
        return keep(tried.result, claim, run);
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
  | { readonly kind: 'answer'; readonly result: Sentiment }
  | { readonly kind: 'failure'; readonly error: PlatformError }
  | HeldText;

/** Ends an attempt that may not be sent. */
class NotSentError extends Error {
  override readonly name = 'NotSentError';
}

/** One attempt, noted in the cache before it leaves, and taken back where it was certainly not executed. */
async function tryOnce(request: SentimentRequest, claim: TextClaim, run: Run): Promise<Tried> {
  let left = false;
  const beforeSend = async () => {
    run.throwIfStopped();
    if (isOver(run) || !(await claim.send())) throw new NotSentError();
    left = true;
  };
  try {
    return {
      kind: 'answer',
      result: await run.analyze(request, { signal: run.signal, beforeSend, once: true }),
    };
  } catch (error) {
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

/** How the scoring of a text has gone: the attempts made (1 is the first), and how many of them met a refused token. */
type Course = { readonly attempt: number; readonly startedMs: number; readonly refusedTokens: number };

const isRefusedToken = (failure: PlatformFailure) => failure.kind === 'status' && failure.status === 401;

/** Milliseconds before the next attempt, or `never` where the text itself is at fault. Throws what is not the text's. */
async function retryDelay(
  error: PlatformError,
  { attempt, startedMs, refusedTokens }: Course,
  claim: TextClaim,
  run: Run,
): Promise<number | 'never'> {
  const { failure } = error;
  if (isOfText(error)) return 'never';
  // The token source hears of a refused token and reads it anew: one more attempt tells.
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

/** Whether another text might fare better: what fails for all of them is no text's fault. */
function isOfText({ failure, attempts }: PlatformError): boolean {
  switch (failure.kind) {
    case 'status':
      return wasRefused(failure);
    case 'shape':
    case 'too-large':
      return true;
    // A faulty token is an input too, found out by an attempt.
    case 'input':
      return attempts === 0;
    default:
      return false;
  }
}

/** Gives the text back and throws. If that fails, the lease ends by itself. */
async function giveBack(claim: TextClaim, error: unknown): Promise<never> {
  await claim.release().catch(() => undefined);
  throw error;
}

/** Waits between tries to keep a result, in milliseconds. */
const KEEP_DELAYS_MS: readonly number[] = [500, 1_000, 2_000];

/** A result that cannot be kept is answered all the same: it was paid for. */
async function keep(result: Sentiment, claim: TextClaim, run: Run): Promise<TextOutcome> {
  for (const delayMs of [...KEEP_DELAYS_MS, undefined]) {
    try {
      const { kept, sends } = await claim.finish(result);
      return sends === 0 ? { kind: 'cached', result: kept } : { kind: 'scored', result: kept, calls: sends };
    } catch {
      if (delayMs !== undefined) await run.sleep(delayMs);
    }
  }
  return { kind: 'scored', result, calls: claim.sends() };
}
