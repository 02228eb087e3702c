import type { PlatformError, Sentiment, SentimentRequest } from '../../../platform/index.ts';
import { decideRetry, defaultRetryLimits } from '../../../platform/retry.ts';
import type { Taken, TextClaim } from '../cache/text-claim.ts';
import { isOfText } from './failures.ts';
import type { Run } from './run.ts';
import { heldNow, sendText, type Tried } from './send-text.ts';

/** The outcome of a text, which several ids may share. `calls`: those that may have been executed. */
export type TextOutcome =
  | { readonly kind: 'cached'; readonly result: Sentiment }
  | { readonly kind: 'scored'; readonly result: Sentiment; readonly calls: number }
  /** `forget` deletes what the cache still counts of it: called once the failure is recorded. */
  | {
      readonly kind: 'failed';
      readonly error: string;
      readonly calls: number;
      readonly forget: () => Promise<void>;
    }
  /** It failed in a way that says nothing about the text. The cache counts its calls until somebody scores it. */
  | { readonly kind: 'unsettled'; readonly error: unknown; readonly calls: number };

/** Another worker holds the text, until `untilMs`. */
type HeldText = { readonly kind: 'held'; readonly untilMs: number };

/**
 * Scores a text, from the cache or by calls, and stops the run if the text shows that no other one would fare better.
 * Throws nothing: what is not a failure of the platform stops the run.
 */
export async function scoreText(request: SentimentRequest, run: Run): Promise<TextOutcome | HeldText> {
  let claim: TextClaim | undefined;
  try {
    if (run.isOver()) return heldNow(run);
    const looked = await run.cache.look(request, run.payer);
    // The request is right, whatever else is wrong now.
    if (looked.kind === 'scored') run.failures.hasScored();
    if (looked.kind !== 'open') return outcomeOf(looked);
    claim = looked.claim;
    return await tryUntilDone(request, claim, run);
  } catch (error) {
    run.stop({ kind: 'error', error, alike: false });
    const calls = claim?.sends() ?? 0;
    // If the release fails, the lease runs out by itself.
    await claim?.release().catch(() => undefined);
    const stop = run.stopped();
    return { kind: 'unsettled', error: stop?.kind === 'error' ? stop.error : error, calls };
  }
}

/** What another job, or an earlier try of this one, has made of the text. */
function outcomeOf(taken: Taken): TextOutcome | HeldText {
  if (taken.kind === 'held') return taken;
  const { result, calls } = taken;
  return calls === 0 ? { kind: 'cached', result } : { kind: 'scored', result, calls };
}

/** The tries of a text so far. */
type Tries = {
  attempts: number;
  /** Time spent on attempts and on the waits between them, but not on waits for a turn. */
  spentMs: number;
  refusedTokens: number;
  /** Calls of the run that had left when the pace last refused this text. */
  departures: number;
};

async function tryUntilDone(
  request: SentimentRequest,
  claim: TextClaim,
  run: Run,
): Promise<TextOutcome | HeldText> {
  const tries: Tries = { attempts: 0, spentMs: 0, refusedTokens: 0, departures: 0 };
  for (;;) {
    const tried = await run.enter((leave) => tryInTurn({ request, claim, leave }, tries, run), run.signal);
    switch (tried.kind) {
      case 'result':
        run.counts.successes += 1;
        run.failures.succeeded();
        return store(tried.result, claim, run);
      case 'scored':
        return outcomeOf(tried);
      case 'held':
        await claim.release();
        return tried;
      case 'spent': {
        const calls = claim.sends();
        await claim.release();
        const error = `not sent: the batch has made its ${tried.most} calls`;
        return { kind: 'failed', error, calls, forget: claim.forget };
      }
      case 'waited':
        break;
      case 'failure': {
        const delayMs = delayBeforeRetry(tried.error, tries, run);
        if (delayMs === undefined) return giveUp(request.text, tried.error, claim, run);
        const untilMs = run.now() + delayMs;
        if (untilMs >= run.deadlineMs) {
          await claim.release();
          return { kind: 'held', untilMs };
        }
        await run.sleep(delayMs, run.signal);
        tries.spentMs += delayMs;
        break;
      }
      default:
        return tried satisfies never;
    }
  }
}

type Turn = {
  readonly request: SentimentRequest;
  readonly claim: TextClaim;
  readonly leave: () => void;
};

/** The longest wait that a worker sits out. */
const LONGEST_WAIT_MS = 120_000;

/**
 * One attempt in its turn. As long as calls of the chunk leave, a wait for the pace is sat out here, so that no other text
 * of the process meets it too: going back to the queue and coming again costs receives and writes.
 */
async function tryInTurn(
  { request, claim, leave }: Turn,
  tries: Tries,
  run: Run,
): Promise<Tried | { readonly kind: 'waited' }> {
  let leftAtMs: number | undefined;
  const left = () => {
    leftAtMs = run.now();
    leave();
  };
  const tried = await sendText(request, claim, left, run);
  if (leftAtMs !== undefined) tries.spentMs += run.now() - leftAtMs;
  if (tried.kind !== 'failure' || tried.error.failure.kind !== 'wait') return tried;
  const { waitMs } = tried.error.failure;
  const { departures } = run.counts;
  const isSoon = waitMs <= LONGEST_WAIT_MS && run.now() + waitMs < run.deadlineMs;
  if (!isSoon || departures === tries.departures) {
    run.stop({ kind: 'later', delayMs: waitMs });
    return heldNow(run);
  }
  tries.departures = departures;
  await run.sleep(waitMs, run.signal);
  return { kind: 'waited' };
}

/** Milliseconds before the next attempt; undefined if there is none. */
function delayBeforeRetry({ failure }: PlatformError, tries: Tries, run: Run): number | undefined {
  tries.attempts += 1;
  if (failure.kind === 'status' && failure.status === 401) {
    tries.refusedTokens += 1;
    // The token source learns of a refused token and reads it again: one more attempt shows whether that helped.
    if (tries.refusedTokens === 1) return 0;
  }
  const decision = decideRetry({
    failure,
    mayRepeat: true,
    attempt: tries.attempts,
    elapsedMs: tries.spentMs,
    random: run.random(),
    limits: { ...defaultRetryLimits, ...run.retry },
  });
  return decision.kind === 'retry' ? decision.delayMs : undefined;
}

/** Ends a text without a result. Its calls stay in the cache until the failure is recorded. */
async function giveUp(text: string, error: PlatformError, claim: TextClaim, run: Run): Promise<TextOutcome> {
  const calls = claim.sends();
  await claim.release();
  if (run.failures.failed(text, error.failure)) run.stop({ kind: 'error', error, alike: true });
  return isOfText(error)
    ? { kind: 'failed', error: error.message, calls, forget: claim.forget }
    : { kind: 'unsettled', error, calls };
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
