import PQueue from 'p-queue';
import { canonicalJson } from '../../../base/json/index.ts';
import { BLOCK_MS } from '../../../pace/index.ts';
import {
  type CallOptions,
  isTemporaryStatus,
  type PlatformError,
  type PlatformFailure,
  type RetryLimits,
  type Sentiment,
  type SentimentRequest,
} from '../../../platform/index.ts';
import type { JobClock } from '../../send-context.ts';
import type { openCallLimit } from '../batch/call-limit.ts';
import { type ScoreCache, textHashOf } from '../cache/score-cache.ts';

/** Calls the platform: `platform.sentiment.analyze`. */
export type Analyze = (request: SentimentRequest, options?: CallOptions) => Promise<Sentiment>;

/** The options for scoring the texts of one job. */
export type ScoreTextsOptions = JobClock & {
  readonly cache: ScoreCache;
  readonly analyze: Analyze;
  /** The limit of the batch's calls. Default: unlimited. */
  readonly limit?: Awaited<ReturnType<typeof openCallLimit>> | undefined;
  /** Limits how many texts of the process wait for their slot. Default: a separate limit for these texts. */
  readonly waitLimit?: ReturnType<typeof createWaitLimit> | undefined;
  /**
   * Counts failures of texts that are scored with the same settings (topics, language …), also in other chunks.
   * Default: counts only this chunk.
   */
  readonly failures?: Failures | undefined;
  /** How many texts are scored at the same time. Default 8. */
  readonly concurrency?: number | undefined;
  /** The job to which the texts belong. Calls of its earlier tries count as calls of this try. */
  readonly jobId?: string | undefined;
  /** The time after which no call starts and no wait continues, in epoch milliseconds. Default: none. */
  readonly deadlineMs?: number | undefined;
  readonly retry?: Partial<RetryLimits> | undefined;
  /** Called after a result is stored. Default: not called. */
  readonly onProgress?: (() => Promise<void>) | undefined;
  /** Whether all calls fail, not only those of this text. Called after all tries of a text have failed. Default: false. */
  readonly isPlatformUnavailable?: (() => Promise<boolean>) | undefined;
  /** After the signal is aborted, no further text is begun. Calls that were sent finish, since they are paid for. */
  readonly signal?: AbortSignal | undefined;
};

/** Why a session stopped before it tried all of its texts. */
type Stop =
  /** An error. `isSystemic`: different texts failed in the same way, so the rest would most likely fail too. */
  | { readonly kind: 'error'; readonly error: unknown; readonly isSystemic: boolean }
  /** No slot of the pace is free soon. */
  | { readonly kind: 'later'; readonly delayMs: number };

/** Creates the state that the texts of one job share during one try to score them. */
export function createScoringSession(options: ScoreTextsOptions) {
  const { waitLimit = createWaitLimit(), failures = createFailures(), signal: caller, now } = options;
  const { deadlineMs = Number.POSITIVE_INFINITY } = options;
  const stopping = new AbortController();
  let stopped: Stop | undefined;
  return {
    ...options,
    deadlineMs,
    failures,
    enter: waitLimit.enter(),
    /** Aborted when no further text may be begun. */
    signal: AbortSignal.any([...(caller === undefined ? [] : [caller]), stopping.signal]),
    /** Stops the session. The first reason wins. */
    stop: (why: Stop) => {
      stopped ??= why;
      stopping.abort(new Error('the session has stopped'));
    },
    stopped: () => stopped,
    /** How many calls were sent, how many calls scored a text, and how many texts another worker took first. */
    counts: { sent: 0, successes: 0, takenByOthers: 0 },
    isOver: () => now() >= deadlineMs,
  };
}

/** At least this many texts may wait for a slot, so that the next call can reserve its slot while the first one waits. */
const MIN_WAITING = 2;

/**
 * At most this many texts may wait for a slot: a waiting text counts towards the concurrency, so more would leave too
 * few for requests in flight.
 */
const MAX_WAITING = 4;

/**
 * How many texts may wait for a slot: one more than a reserved block has slots. With fewer, slots of the block go
 * unused, and each block costs a write.
 */
export const maxWaitingAt = (rate: number): number =>
  Math.min(MAX_WAITING, Math.max(MIN_WAITING, Math.floor((rate * BLOCK_MS) / 1_000) + 1));

/**
 * Limits how many texts of a process wait for a slot of the pace at the same time: if all texts waited there, each
 * would wait too long. The chunk that came first has priority, so that few chunks are half done at any time.
 */
export function createWaitLimit(maxWaiting = MIN_WAITING) {
  const waiting = new PQueue({ concurrency: maxWaiting });
  let chunks = 0;
  return {
    /**
     * Returns a function for one chunk: it starts an attempt as soon as fewer attempts than the limit are waiting. An
     * attempt no longer counts as waiting after it has called `leave`, or has ended. The function throws errors of the
     * attempt, and the reason of a signal that is aborted before the attempt starts.
     */
    enter() {
      chunks += 1;
      const priority = -chunks;
      return <T>(attempt: (leave: () => void) => Promise<T>, signal: AbortSignal) =>
        new Promise<T>((resolve, reject) => {
          let hasStarted = false;
          const start = () => {
            hasStarted = true;
            return new Promise<void>((leave) => {
              attempt(leave).then(resolve, reject).finally(leave);
            });
          };
          waiting.add(start, { priority, signal }).catch((error: unknown) => {
            // An attempt that has started must end by itself, since its call may have been sent.
            if (!hasStarted) reject(error);
          });
        });
    },
  };
}

/*
 * If all tries of a text fail, the cause is either this text or something that all texts share. If different texts
 * fail in the same way, and no text succeeds in between, the cause is shared: the session is stopped.
 */

/** The session is stopped after this many different texts have failed in the same way. */
const MAX_FAILED = 3;

/**
 * The same limit for texts that the platform refuses. Before any text has succeeded, the request may be wrong.
 * Afterwards, only a hundred refusals in a row show a shared cause, such as credits that have run out: fewer may be
 * similar texts, since files are often sorted.
 */
const MAX_REFUSED = { beforeSuccess: 10, afterSuccess: 100 };

/** The failures, since the last success, of texts that are scored with the same settings (the `request`). */
type Failures = ReturnType<typeof createFailures>;

/** Creates the count of failed texts that are scored with the same settings. */
export function createFailures() {
  /** The hashes of failed texts, by the kind of failure. A text that is in many chunks counts once. */
  const failed = new Map<string, Set<string>>();
  let maxRefused = MAX_REFUSED.beforeSuccess;
  /** Records that a text was scored with these settings, now or earlier, so the settings are valid. */
  const recordScored = () => {
    maxRefused = MAX_REFUSED.afterSuccess;
  };
  return {
    recordScored,
    /**
     * Records a failed text. Returns true if the limit is reached. The count then starts again from zero, as if no text
     * had succeeded yet.
     */
    recordFailed(text: string, failure: PlatformFailure): boolean {
      const kind = kindOf(failure);
      const texts = (failed.get(kind) ?? new Set()).add(textHashOf(text));
      failed.set(kind, texts);
      if (texts.size < (kind === REFUSED ? maxRefused : MAX_FAILED)) return false;
      failed.clear();
      maxRefused = MAX_REFUSED.beforeSuccess;
      return true;
    },
    /** Records that a call scored a text. */
    recordSucceeded() {
      failed.clear();
      recordScored();
    },
  };
}

/**
 * Creates the counts of failed texts in a process that scores chunks of several batches: one count for each `request`,
 * the settings with which texts are scored.
 */
export function createFailuresByRequest(): (request: object) => Failures {
  const known = new Map<string, Failures>();
  return (request) => {
    const name = canonicalJson(request);
    const failures = known.get(name) ?? createFailures();
    known.set(name, failures);
    return failures;
  };
}

const TROUBLE = 'trouble';
const REFUSED = 'refused';

/** Statuses from 400 to 499 that concern the token, the address or the load, and not the text. */
const SHARED_STATUSES: readonly number[] = [401, 403, 404, 429];

/** The kind of a failure: failures of one kind count together. A platform in trouble may fail in several ways by turns. */
function kindOf(failure: PlatformFailure): string {
  switch (failure.kind) {
    case 'status': {
      const { status } = failure;
      if (status >= 500) return TROUBLE;
      const isShared = status < 400 || isTemporaryStatus(status) || SHARED_STATUSES.includes(status);
      return isShared ? `status ${status}` : REFUSED;
    }
    case 'cut':
    case 'timeout':
    case 'connection':
    case 'not-json':
    case 'redirect':
      return TROUBLE;
    default:
      return failure.kind;
  }
}

/**
 * Whether the failure of a text's last try concerns only this text. After any other failure, the job tries the text
 * again later.
 */
export function isFaultOfText({ failure, attempts }: Pick<PlatformError, 'failure' | 'attempts'>): boolean {
  switch (failure.kind) {
    case 'status':
      return failure.status >= 500 || kindOf(failure) === REFUSED;
    case 'cut':
    case 'shape':
    case 'too-large':
      return true;
    // A token with invalid characters is an input fault too, but is found only by an attempt.
    case 'input':
      return attempts === 0;
    default:
      return false;
  }
}
