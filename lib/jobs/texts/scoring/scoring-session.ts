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

export type ScoreTextsOptions = JobClock & {
  readonly cache: ScoreCache;
  readonly analyze: Analyze;
  /** The limit of the batch's calls. Default: unlimited. */
  readonly limit?: Awaited<ReturnType<typeof openCallLimit>> | undefined;
  /** The gate that bounds how many texts wait for their slot. Default: a separate gate. */
  readonly gate?: ReturnType<typeof createTextGate> | undefined;
  /** The failures that texts of a request share. Default: only those of this chunk. */
  readonly failures?: Failures | undefined;
  /** How many texts are in work at once. Default 8. */
  readonly atOnce?: number | undefined;
  /** The job to which the texts belong: its calls in an earlier try count as its own. */
  readonly payer?: string | undefined;
  /** The time in epoch milliseconds after which it starts no call and stops waiting. Default: none. */
  readonly deadlineMs?: number | undefined;
  readonly retry?: Partial<RetryLimits> | undefined;
  /** Called after a result is stored. Default: not called. */
  readonly onProgress?: (() => Promise<void>) | undefined;
  /** Whether all calls fail, not only those of a text that failed in all of its tries. Default: false. */
  readonly isPlatformUnavailable?: (() => Promise<boolean>) | undefined;
  /** Once it is aborted, no further text is begun. Calls that were sent finish, since they are paid for. */
  readonly signal?: AbortSignal | undefined;
};

/** Why a run stopped before it tried all of its texts. */
type Stop =
  /** An error. `alike`: different texts failed in the same way, so the remaining ones would most likely fail too. */
  | { readonly kind: 'error'; readonly error: unknown; readonly alike: boolean }
  /** The pace has no slot for the texts soon. */
  | { readonly kind: 'later'; readonly delayMs: number };

/** Creates what the texts of one run share. */
export function createScoringSession(options: ScoreTextsOptions) {
  const { gate = createTextGate(), failures = createFailures(), signal: caller, now } = options;
  const { deadlineMs = Number.POSITIVE_INFINITY } = options;
  const stopping = new AbortController();
  let stopped: Stop | undefined;
  return {
    ...options,
    deadlineMs,
    failures,
    enter: gate.enter(),
    /** Aborted once no further text may be begun. */
    signal: AbortSignal.any([...(caller === undefined ? [] : [caller]), stopping.signal]),
    /** Stops the run. The first reason wins. */
    stop: (why: Stop) => {
      stopped ??= why;
      stopping.abort(new Error('the run has stopped'));
    },
    stopped: () => stopped,
    /** How many calls were sent, how many of them scored a text, and how many texts another worker took first. */
    counts: { departures: 0, successes: 0, overtaken: 0 },
    isOver: () => now() >= deadlineMs,
  };
}

/**
 * The minimum of texts that wait at the pace: while one call takes its slot, the next one can already reserve another.
 */
const MIN_WAITING = 2;

/** More would take concurrency slots from requests in flight. */
const MAX_WAITING = 4;

/** How many texts may wait: as many as a block of the pace has slots, and one more, since each block costs a write. */
export const maxWaitingAt = (rate: number): number =>
  Math.min(MAX_WAITING, Math.max(MIN_WAITING, Math.floor((rate * BLOCK_MS) / 1_000) + 1));

/**
 * Creates a gate that limits how many texts of a process wait for their slot at the pace: if all waited there, each
 * would wait too long. The chunk that came first has priority, so that few chunks are half done at any time.
 */
export function createTextGate(maxWaiting = MIN_WAITING) {
  const waiting = new PQueue({ concurrency: maxWaiting });
  let chunks = 0;
  return {
    /**
     * Returns a chunk's entry to the gate. The entry makes an attempt when there is room; the room is free
     * again once the attempt has called `leave`, or ends. Throws errors of the attempt, and the reason of a
     * signal that is aborted before it starts.
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
 * A text without a result after all of its tries proves little: the text may be at fault, or something that
 * all texts share. If different texts fail in the same way, and none succeeds in between, the text is not at
 * fault.
 */

const MAX_ALIKE = 3;

/**
 * The same limit for rejected texts. Before any text has succeeded, the request may be wrong. Afterwards, since files
 * are often sorted, only a hundred in a row show a shared cause, such as credits that have run out.
 */
const MAX_REFUSED = { beforeSuccess: 10, afterSuccess: 100 };

/** The failures of texts with one request since the last success. */
type Failures = ReturnType<typeof createFailures>;

export function createFailures() {
  /** The hashes of failed texts, by how they failed: a text that is in many chunks counts once. */
  const failed = new Map<string, Set<string>>();
  let maxRefused = MAX_REFUSED.beforeSuccess;
  /** Records that the request has scored a text before: the cache or a part has a result of it. */
  const hasScored = () => {
    maxRefused = MAX_REFUSED.afterSuccess;
  };
  return {
    hasScored,
    /**
     * Records a failed text. Returns true if the limit is reached; then the count starts again, as before any success.
     */
    failed(text: string, failure: PlatformFailure): boolean {
      const name = likenessOf(failure);
      const alike = (failed.get(name) ?? new Set()).add(textHashOf(text));
      failed.set(name, alike);
      if (alike.size < (name === REFUSED ? maxRefused : MAX_ALIKE)) return false;
      failed.clear();
      maxRefused = MAX_REFUSED.beforeSuccess;
      return true;
    },
    succeeded() {
      failed.clear();
      hasScored();
    },
  };
}

/** The failures for each request, in a process that scores chunks of several batches. */
export function createFailuresOf(): (request: object) => Failures {
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

/** Statuses from 400 to 499 that do not concern the text, but the token, the address, or the load. */
const SHARED_STATUSES: readonly number[] = [401, 403, 404, 429];

/** The kind of a failure, by which failures count as alike. A platform in trouble may fail in several ways by turns. */
function likenessOf(failure: PlatformFailure): string {
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
 * Whether a failure, after the text's tries, concerns this text alone. After any other failure, the job tries
 * the text again later.
 */
export function isOfText({ failure, attempts }: Pick<PlatformError, 'failure' | 'attempts'>): boolean {
  switch (failure.kind) {
    case 'status':
      return failure.status >= 500 || likenessOf(failure) === REFUSED;
    case 'cut':
    case 'shape':
    case 'too-large':
      return true;
    // An invalid token is also an input fault, but one that only an attempt finds.
    case 'input':
      return attempts === 0;
    default:
      return false;
  }
}

const REFUSALS: readonly number[] = [400, 403, 404, 413, 415, 422];

/** True if a sentiment request that was sent was certainly not executed. */
export const wasRefused = (failure: PlatformFailure): boolean =>
  failure.kind === 'status' && REFUSALS.includes(failure.status);
