import { isOfDisk } from '../../../base/aws/index.ts';
import { errorText } from '../../../base/index.ts';
import {
  decideRetry,
  defaultRetryLimits,
  PlatformError,
  type PlatformFailure,
  type Sentiment,
  type SentimentRequest,
} from '../../../platform/index.ts';
import type { ScoreRequest } from '../batch/batch.ts';
import type { CacheHit, TextClaim } from '../cache/score-cache.ts';
import { createScoringSession, isFaultOfText, type ScoreTextsOptions } from './scoring-session.ts';

/** The result of one text of a job. */
export type TextResult = {
  readonly id: string;
  readonly result?: Sentiment;
  /** Why the text has no score, for users. It does not quote the text. */
  readonly error?: string;
  /** Whether the score was found in the cache, without a call. */
  readonly cached: boolean;
  /**
   * How many calls the platform may have executed for the text, including earlier calls without a response; 0 if the
   * score was cached.
   */
  readonly calls: number;
  /** How many of these calls repeated a call whose response was lost. */
  readonly paidAgain: number;
};

type ScoringSession = ReturnType<typeof createScoringSession>;

type SettledTexts = {
  readonly kind: 'scored';
  readonly results: readonly TextResult[];
  /**
   * To be called after the results are stored. The results then count the calls of failed texts, so this removes those
   * calls from the cache.
   */
  readonly settle: () => Promise<void>;
};

export type Scored =
  | SettledTexts
  /** Other workers are still scoring some of the texts, or time is up. Call `scoreTexts` again after the delay. */
  | { readonly kind: 'later'; readonly waiting: number; readonly delayMs: number }
  | StoppedTexts;

/** The result if not all texts can be scored now. The next try pays only for the rest. */
type StoppedTexts = {
  readonly kind: 'stopped';
  /** What stopped it: a `PlatformError`, a `TableError`, or the caller's abort. */
  readonly error: unknown;
  /** Whether different texts failed in the same way, so that the rest would most likely fail too. */
  readonly isSystemic: boolean;
  /** How many texts were scored by calls of this session. */
  readonly progress: number;
  readonly results: readonly TextResult[];
};

type TextOfJob = { readonly id: string; readonly text: string };

const DEFAULT_CONCURRENCY = 8;
/** How many texts are looked up in the cache together. */
const LOOKUP_SIZE = 20;
/** How long a session waits, after its own texts are done, for texts that other workers are scoring, in milliseconds. */
const MAX_OTHERS_WAIT_MS = 120_000;
const FIRST_POLL_MS = 250;
const MAX_POLL_MS = 5_000;
const MIN_DELAY_MS = 1_000;

/**
 * Scores texts from the cache or by calls, several at the same time; equal texts once. At the end it waits for texts
 * that other workers are scoring. A text that the platform refuses or fails to score gets an `error`. Throws nothing:
 * if something stops it, it waits for the calls in progress, and returns the reason.
 */
export async function scoreTexts(
  texts: readonly TextOfJob[],
  request: ScoreRequest,
  options: ScoreTextsOptions,
): Promise<Scored> {
  const session = createScoringSession(options);
  const outcomes = new Map<string, TextOutcome>();
  let open = [...new Set(texts.map(({ text }) => text))];
  let endMs: number | undefined;
  const laterBy = (delayMs: number): Scored => ({
    kind: 'later',
    waiting: open.length,
    delayMs: Math.max(MIN_DELAY_MS, delayMs),
  });
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(2 * pollMs, MAX_POLL_MS)) {
    const heldUntilMs = await scoreEach(open, request, outcomes, session);
    open = open.filter((text) => !outcomes.has(text));
    const undecided = outcomes.values().find((outcome) => outcome.kind === 'unsettled');
    if (open.length === 0 && undecided !== undefined)
      session.stop({ kind: 'error', error: undecided.error, isSystemic: false });
    const stop = session.stopped();
    if (stop?.kind === 'error') {
      const { error, isSystemic } = stop;
      const progress = session.counts.successes;
      return { kind: 'stopped', error, isSystemic, progress, results: resultsOf(texts, outcomes, error) };
    }
    if (stop !== undefined) return laterBy(stop.delayMs);
    if (open.length === 0) return settleTexts(texts, outcomes);
    endMs ??= Math.min(session.deadlineMs, session.now() + MAX_OTHERS_WAIT_MS);
    if (session.now() + pollMs > endMs) return laterBy(heldUntilMs - session.now());
    await session
      .sleep(pollMs, session.signal)
      .catch((error: unknown) => session.stop({ kind: 'error', error, isSystemic: false }));
  }
}

/** Scores these texts until the session stops or time is up. Returns the time when the first lease of another worker ends. */
async function scoreEach(
  texts: readonly string[],
  request: ScoreRequest,
  outcomes: Map<string, TextOutcome>,
  session: ScoringSession,
): Promise<number> {
  const rest = lookUpTexts(texts, request, session);
  let heldUntilMs = Number.POSITIVE_INFINITY;
  const lane = async () => {
    for await (const [text, looked] of rest) {
      const outcome =
        looked.kind === 'open' ? await scoreText({ ...request, text }, looked.claim, session) : looked;
      // A cached score proves that the request is valid.
      if (looked.kind === 'scored') session.failures.recordScored();
      if (outcome.kind === 'held') heldUntilMs = Math.min(heldUntilMs, outcome.untilMs);
      else outcomes.set(text, outcome);
    }
  };
  await Promise.all(Array.from({ length: session.concurrency ?? DEFAULT_CONCURRENCY }, lane));
  return session.isOver() ? session.now() : heldUntilMs;
}

/**
 * Yields texts with their cache rows. The rows are read shortly before the texts are scored, since other workers may
 * score texts in the meantime. If another worker turns out to be one step ahead, this continues at a random text, so
 * that the two workers do not meet at each text.
 */
async function* lookUpTexts(texts: readonly string[], request: ScoreRequest, session: ScoringSession) {
  const isOver = () => session.stopped() !== undefined || session.isOver();
  let rest = texts;
  let { takenByOthers } = session.counts;
  try {
    while (rest.length > 0 && !isOver()) {
      const group = rest.slice(0, LOOKUP_SIZE);
      const requests = group.map((text) => ({ ...request, text }));
      const lookups = await session.cache.lookup(requests, session.jobId);
      rest = rest.slice(LOOKUP_SIZE);
      for (const [at, each] of lookups.entries()) {
        if (isOver()) return;
        if (session.counts.takenByOthers > takenByOthers) {
          const remaining = [...group.slice(at), ...rest];
          const from = Math.floor(session.random() * remaining.length);
          rest = [...remaining.slice(from), ...remaining.slice(0, from)];
          break;
        }
        yield [group[at] ?? '', each] as const;
      }
      takenByOthers = session.counts.takenByOthers;
    }
  } catch (error) {
    session.stop({ kind: 'error', error, isSystemic: false });
  }
}

/** The results of texts that all have an outcome. */
export function settleTexts(
  texts: readonly TextOfJob[],
  outcomes: ReadonlyMap<string, TextOutcome>,
): SettledTexts {
  const settle = async () => {
    for (const outcome of outcomes.values()) if (outcome.kind === 'failed') await outcome.claim?.forget();
  };
  return { kind: 'scored', results: resultsOf(texts, outcomes), settle };
}

/** The result of each id. `reason`: what stopped the texts without an outcome. */
function resultsOf(
  texts: readonly TextOfJob[],
  outcomes: ReadonlyMap<string, TextOutcome>,
  reason?: unknown,
): readonly TextResult[] {
  const seen = new Set<string>();
  return texts.map(({ id, text }): TextResult => {
    const outcome = outcomes.get(text) ?? { kind: 'unsettled', error: reason, calls: 0 };
    // Equal texts are scored once, so their calls are counted only for the first id.
    const calls = seen.has(text) ? 0 : outcome.calls;
    seen.add(text);
    const counted = { calls, paidAgain: Math.max(0, calls - 1) };
    switch (outcome.kind) {
      case 'failed':
        return { id, error: outcome.error, cached: false, ...counted };
      case 'unsettled':
        return { id, error: `not scored: ${errorText(outcome.error)}`, cached: false, ...counted };
      case 'scored':
        return { id, result: outcome.result, cached: calls === 0, ...counted };
      default:
        return outcome satisfies never;
    }
  });
}

/** The outcome of a text, which several ids may share. `calls`: how many calls of this job may have been executed. */
export type TextOutcome =
  | Extract<CacheHit, { readonly kind: 'scored' }>
  /** The text failed. The cache counts its calls until `claim` is forgotten, after the failure has been stored. */
  | { readonly kind: 'failed'; readonly error: string; readonly calls: number; readonly claim?: TextClaim }
  /** The failure shows nothing about the text. The cache counts its calls until a worker scores it. */
  | { readonly kind: 'unsettled'; readonly error: unknown; readonly calls: number };

/** `held`: another worker has the text, or the time is up. */
type Outcome = TextOutcome | CacheHit;

const heldNow = ({ now }: ScoringSession): Outcome => ({ kind: 'held', untilMs: now() });

/** Scores a text by calls, and stops the session if its other texts would fail in the same way. Throws nothing. */
async function scoreText(
  request: SentimentRequest,
  claim: TextClaim,
  session: ScoringSession,
): Promise<Outcome> {
  try {
    return await tryUntilDone(request, claim, session);
  } catch (error) {
    session.stop({ kind: 'error', error, isSystemic: false });
    const calls = claim.sends();
    // If the release fails, the lease expires by itself.
    await claim.release().catch(() => undefined);
    const stop = session.stopped();
    return { kind: 'unsettled', error: stop?.kind === 'error' ? stop.error : error, calls };
  }
}

type Tries = {
  attempts: number;
  /** Milliseconds spent on attempts and on the waits between them, without the time before the wait limit admits them. */
  spentMs: number;
  refusedTokens: number;
  /** How many calls of the session had been sent when the pace last let this text wait too long. */
  sent: number;
};

/** The result of a try. `ended`: nothing was sent, and the text is not tried again in this session. */
type Tried =
  | { readonly kind: 'result'; readonly result: Sentiment }
  | { readonly kind: 'failure'; readonly error: PlatformError }
  | { readonly kind: 'ended'; readonly outcome: Outcome };

async function tryUntilDone(
  request: SentimentRequest,
  claim: TextClaim,
  session: ScoringSession,
): Promise<Outcome> {
  const tries: Tries = { attempts: 0, spentMs: 0, refusedTokens: 0, sent: 0 };
  const { takenByOthers } = session.counts;
  for (;;) {
    // If another worker is one step ahead, this text is postponed to the next round.
    const isPostponed = () => tries.attempts === 0 && session.counts.takenByOthers > takenByOthers;
    const attempt = async (leave: () => void): Promise<Tried> =>
      isPostponed()
        ? { kind: 'ended', outcome: heldNow(session) }
        : tryInTurn({ request, claim, leave }, tries, session);
    const tried = await session.enter(attempt, session.signal);
    if (tried.kind === 'result') {
      session.counts.successes += 1;
      session.failures.recordSucceeded();
      return store(tried.result, claim, session);
    }
    if (tried.kind === 'ended') {
      await claim.release();
      return tried.outcome;
    }
    const delayMs = delayBeforeRetry(tried.error, tries, session);
    if (delayMs === undefined) return giveUp(request.text, tried.error, claim, session);
    const untilMs = session.now() + delayMs;
    if (untilMs >= session.deadlineMs) {
      await claim.release();
      return { kind: 'held', untilMs };
    }
    await session.sleep(delayMs, session.signal);
    tries.spentMs += delayMs;
  }
}

type TextAttempt = {
  readonly request: SentimentRequest;
  readonly claim: TextClaim;
  readonly leave: () => void;
};

/** Maximum wait for a slot of the pace within one session, in milliseconds. */
const MAX_WAIT_MS = 120_000;

/**
 * Makes one attempt, after the wait limit has admitted it. Waits for the pace as long as other calls of the chunk are
 * being sent.
 */
async function tryInTurn(attempt: TextAttempt, tries: Tries, session: ScoringSession): Promise<Tried> {
  for (;;) {
    let sentAtMs: number | undefined;
    const leave = () => {
      sentAtMs = session.now();
      attempt.leave();
    };
    const tried = await sendText({ ...attempt, leave }, session);
    if (sentAtMs !== undefined) tries.spentMs += session.now() - sentAtMs;
    if (tried.kind !== 'failure' || tried.error.failure.kind !== 'wait') return tried;
    const { waitMs } = tried.error.failure;
    const { sent } = session.counts;
    const isSoon = waitMs <= MAX_WAIT_MS && session.now() + waitMs < session.deadlineMs;
    if (!isSoon || sent === tries.sent) {
      session.stop({ kind: 'later', delayMs: waitMs });
      return { kind: 'ended', outcome: heldNow(session) };
    }
    tries.sent = sent;
    await session.sleep(waitMs, session.signal);
  }
}

/**
 * Makes one call. The text is claimed shortly before the call's slot, and freed if the call was certainly not
 * executed. A call that was sent finishes even if the session is stopped, since it is paid for.
 */
async function sendText({ request, claim, leave }: TextAttempt, session: ScoringSession): Promise<Tried> {
  const { limit, signal } = session;
  let isRecorded = false;
  let wasSent = false;
  let ended: Outcome | undefined;
  const end = (outcome: Outcome) => {
    ended = outcome;
    throw new Error('not sent');
  };
  const beforeSend = async () => {
    if (isRecorded) return;
    signal.throwIfAborted();
    if (session.isOver()) end(heldNow(session));
    if (limit && !(await limit.take())) {
      const error = `not sent: the batch has made its ${limit.max} calls`;
      end({ kind: 'failed', error, calls: claim.sends(), claim });
    }
    const sent = await claim.send();
    if (sent.kind !== 'sent') {
      session.counts.takenByOthers += 1;
      await limit?.giveBack();
      return end(sent);
    }
    isRecorded = true;
  };
  const onSend = () => {
    signal.throwIfAborted();
    if (session.isOver() || !claim.isHeld()) end(heldNow(session));
    wasSent = true;
    session.counts.sent += 1;
    leave();
  };
  const takeBack = async () => {
    await claim.takeBack();
    await limit?.giveBack();
  };
  if (session.isOver()) return { kind: 'ended', outcome: heldNow(session) };
  try {
    const options = { signal, beforeSend, onSend, once: true, finishes: true };
    return { kind: 'result', result: await session.analyze(request, options) };
  } catch (error) {
    // The send was recorded but did not happen: its slot was too far off, or the session was stopped before.
    if (isRecorded && !wasSent) await takeBack().catch(() => undefined);
    if (ended !== undefined) return { kind: 'ended', outcome: ended };
    if (!(error instanceof PlatformError)) throw error;
    if (wasSent && (!error.sent || wasRefused(error.failure))) await takeBack();
    return { kind: 'failure', error };
  }
}

const REFUSALS: readonly number[] = [400, 403, 404, 413, 415, 422];

/** Whether the platform certainly did not execute a sentiment request that was sent. */
const wasRefused = (failure: PlatformFailure): boolean =>
  failure.kind === 'status' && REFUSALS.includes(failure.status);

function delayBeforeRetry(
  { failure }: PlatformError,
  tries: Tries,
  session: ScoringSession,
): number | undefined {
  tries.attempts += 1;
  if (failure.kind === 'status' && failure.status === 401) {
    tries.refusedTokens += 1;
    // The token source reads a refused token again, and one more attempt shows whether the token changed.
    if (tries.refusedTokens === 1) return 0;
  }
  const decision = decideRetry({
    failure,
    mayRepeat: true,
    attempt: tries.attempts,
    elapsedMs: tries.spentMs,
    random: session.random(),
    limits: { ...defaultRetryLimits, ...session.retry },
  });
  return decision.kind === 'retry' ? decision.delayMs : undefined;
}

/** Ends a text without a result. The cache counts its calls until the failure is stored. */
async function giveUp(
  text: string,
  error: PlatformError,
  claim: TextClaim,
  session: ScoringSession,
): Promise<TextOutcome> {
  const calls = claim.sends();
  await claim.release();
  if (session.failures.recordFailed(text, error.failure))
    session.stop({ kind: 'error', error, isSystemic: true });
  const isUnavailable = error.sent && (await session.isPlatformUnavailable?.());
  if (isUnavailable) session.stop({ kind: 'error', error, isSystemic: false });
  return isFaultOfText(error) && !isUnavailable
    ? { kind: 'failed', error: error.message, calls, claim }
    : { kind: 'unsettled', error, calls };
}

const STORE_DELAYS_MS: readonly number[] = [500, 1_000, 2_000];

/** Stores a result. A result that cannot be stored is still returned, since it was paid for. */
async function store(result: Sentiment, claim: TextClaim, session: ScoringSession): Promise<TextOutcome> {
  for (const delayMs of [...STORE_DELAYS_MS, undefined]) {
    try {
      const scored = await claim.finish(result);
      await session.onProgress?.();
      return scored;
    } catch (error) {
      if (delayMs === undefined || isOfDisk(error)) break;
      await session.sleep(delayMs);
    }
  }
  return { kind: 'scored', result, calls: claim.sends() };
}
