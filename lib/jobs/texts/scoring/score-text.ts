import { isOfDisk } from '../../../base/index.ts';
import { PlatformError, type Sentiment, type SentimentRequest } from '../../../platform/index.ts';
import { decideRetry, defaultRetryLimits } from '../../../platform/retry.ts';
import type { ScoredText, Taken, TextClaim } from '../cache/score-cache.ts';
import { isOfText, wasRefused } from './failures.ts';
import type { Run } from './run.ts';

/** The outcome of a text, which several ids may share. `calls`: those of this job that may have been executed. */
export type TextOutcome =
  | ScoredText
  /** `claim` is to forget it once the failure is recorded: until then the cache counts its calls. */
  | { readonly kind: 'failed'; readonly error: string; readonly calls: number; readonly claim?: TextClaim }
  /** It failed in a way that says nothing about the text. The cache counts its calls until somebody scores it. */
  | { readonly kind: 'unsettled'; readonly error: unknown; readonly calls: number };

/** It may also be held, by another worker or since time is up. */
type Outcome = TextOutcome | Taken;

const heldNow = ({ now }: Run): Outcome => ({ kind: 'held', untilMs: now() });

/** Scores a text by calls, and stops the run if no other text would fare better. Throws nothing. */
export async function scoreText(request: SentimentRequest, claim: TextClaim, run: Run): Promise<Outcome> {
  try {
    return await tryUntilDone(request, claim, run);
  } catch (error) {
    run.stop({ kind: 'error', error, alike: false });
    const calls = claim.sends();
    // If the release fails, the lease runs out by itself.
    await claim.release().catch(() => undefined);
    const stop = run.stopped();
    return { kind: 'unsettled', error: stop?.kind === 'error' ? stop.error : error, calls };
  }
}

type Tries = {
  attempts: number;
  /** Time spent on attempts and on the waits between them, but not on waits for a turn. */
  spentMs: number;
  refusedTokens: number;
  /** Calls of the run that had left when the pace last refused this text. */
  departures: number;
};

/** `ended`: nothing was sent, and nothing is to be. */
type Tried =
  | { readonly kind: 'result'; readonly result: Sentiment }
  | { readonly kind: 'failure'; readonly error: PlatformError }
  | { readonly kind: 'ended'; readonly outcome: Outcome };

async function tryUntilDone(request: SentimentRequest, claim: TextClaim, run: Run): Promise<Outcome> {
  const tries: Tries = { attempts: 0, spentMs: 0, refusedTokens: 0, departures: 0 };
  const { overtaken } = run.counts;
  for (;;) {
    // Whoever took a text since this one was looked at most likely comes to this one next: it is left for last.
    const isLeft = () => tries.attempts === 0 && run.counts.overtaken > overtaken;
    const attempt = async (leave: () => void): Promise<Tried> =>
      isLeft() ? { kind: 'ended', outcome: heldNow(run) } : tryInTurn({ request, claim, leave }, tries, run);
    const tried = await run.enter(attempt, run.signal);
    if (tried.kind === 'result') {
      run.counts.successes += 1;
      run.failures.succeeded();
      return store(tried.result, claim, run);
    }
    if (tried.kind === 'ended') {
      await claim.release();
      return tried.outcome;
    }
    const delayMs = delayBeforeRetry(tried.error, tries, run);
    if (delayMs === undefined) return giveUp(request.text, tried.error, claim, run);
    const untilMs = run.now() + delayMs;
    if (untilMs >= run.deadlineMs) {
      await claim.release();
      return { kind: 'held', untilMs };
    }
    await run.sleep(delayMs, run.signal);
    tries.spentMs += delayMs;
  }
}

type Turn = {
  readonly request: SentimentRequest;
  readonly claim: TextClaim;
  readonly leave: () => void;
};

const LONGEST_WAIT_MS = 120_000;

/** One attempt in its turn. As long as calls of the chunk leave, a wait for the pace is sat out here. */
async function tryInTurn(turn: Turn, tries: Tries, run: Run): Promise<Tried> {
  for (;;) {
    let leftAtMs: number | undefined;
    const leave = () => {
      leftAtMs = run.now();
      turn.leave();
    };
    const tried = await sendText({ ...turn, leave }, run);
    if (leftAtMs !== undefined) tries.spentMs += run.now() - leftAtMs;
    if (tried.kind !== 'failure' || tried.error.failure.kind !== 'wait') return tried;
    const { waitMs } = tried.error.failure;
    const { departures } = run.counts;
    const isSoon = waitMs <= LONGEST_WAIT_MS && run.now() + waitMs < run.deadlineMs;
    if (!isSoon || departures === tries.departures) {
      run.stop({ kind: 'later', delayMs: waitMs });
      return { kind: 'ended', outcome: heldNow(run) };
    }
    tries.departures = departures;
    await run.sleep(waitMs, run.signal);
  }
}

/**
 * One call. The text is claimed shortly before its slot; what was certainly not executed is taken back. A call that has left
 * finishes even if the run is stopped: it is paid for.
 */
async function sendText({ request, claim, leave }: Turn, run: Run): Promise<Tried> {
  const { limit, signal } = run;
  let [recorded, left] = [false, false];
  let ended: Outcome | undefined;
  const end = (outcome: Outcome) => {
    ended = outcome;
    throw new Error('not sent');
  };
  const beforeSend = async () => {
    if (recorded) return;
    signal.throwIfAborted();
    if (run.isOver()) end(heldNow(run));
    if (limit && !(await limit.take())) {
      const error = `not sent: the batch has made its ${limit.most} calls`;
      end({ kind: 'failed', error, calls: claim.sends(), claim });
    }
    const sent = await claim.send();
    if (sent.kind !== 'sent') {
      run.counts.overtaken += 1;
      await limit?.giveBack();
      return end(sent);
    }
    recorded = true;
  };
  const onLeave = () => {
    signal.throwIfAborted();
    if (run.isOver() || !claim.isHeld()) end(heldNow(run));
    left = true;
    run.counts.departures += 1;
    leave();
  };
  const takeBack = async () => {
    await claim.takeBack();
    await limit?.giveBack();
  };
  if (run.isOver()) return { kind: 'ended', outcome: heldNow(run) };
  try {
    const options = { signal, beforeSend, onLeave, once: true, finishes: true };
    return { kind: 'result', result: await run.analyze(request, options) };
  } catch (error) {
    // It did not leave after all: its turn was too far off, or it was stopped before.
    if (recorded && !left) await takeBack().catch(() => undefined);
    if (ended !== undefined) return { kind: 'ended', outcome: ended };
    if (!(error instanceof PlatformError)) throw error;
    if (left && (!error.sent || wasRefused(error.failure))) await takeBack();
    return { kind: 'failure', error };
  }
}

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
  const isAway = error.sent && (await run.isPlatformAway?.());
  if (isAway) run.stop({ kind: 'error', error, alike: false });
  return isOfText(error) && !isAway
    ? { kind: 'failed', error: error.message, calls, claim }
    : { kind: 'unsettled', error, calls };
}

const STORE_DELAYS_MS: readonly number[] = [500, 1_000, 2_000];

/** Stores the result. One that cannot be stored is returned all the same: it was paid for. */
async function store(result: Sentiment, claim: TextClaim, run: Run): Promise<TextOutcome> {
  for (const delayMs of [...STORE_DELAYS_MS, undefined]) {
    try {
      const scored = await claim.finish(result);
      await run.onProgress?.();
      return scored;
    } catch (error) {
      if (delayMs === undefined || isOfDisk(error)) break;
      await run.sleep(delayMs);
    }
  }
  return { kind: 'scored', result, calls: claim.sends() };
}
