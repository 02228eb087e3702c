import PQueue from 'p-queue';
import { BLOCK_MS } from '../../../pace/index.ts';
import type { CallOptions, RetryLimits, Sentiment, SentimentRequest } from '../../../platform/index.ts';
import type { JobClock } from '../../send-context.ts';
import type { CallLimit } from '../batch/call-limit.ts';
import type { ScoreCache } from '../cache/score-cache.ts';
import { createFailures, type Failures } from './failures.ts';

/** Calls the platform: `platform.sentiment.analyze`. */
export type Analyze = (request: SentimentRequest, options?: CallOptions) => Promise<Sentiment>;

export type ScoreTextsOptions = JobClock & {
  readonly cache: ScoreCache;
  readonly analyze: Analyze;
  /** Default: no bound. */
  readonly limit?: CallLimit | undefined;
  /** Default: one of its own. */
  readonly gate?: TextGate | undefined;
  /** Default: those of this chunk alone. */
  readonly failures?: Failures | undefined;
  /** The most texts in work at once. Default 8. */
  readonly atOnce?: number | undefined;
  /** The job that the texts belong to: what it paid for in an earlier try is counted as its own. */
  readonly payer?: string | undefined;
  /** Epoch milliseconds after which it starts no call and stops waiting. Default: none. */
  readonly deadlineMs?: number | undefined;
  readonly retry?: Partial<RetryLimits> | undefined;
  /** Called after a result is stored. Default: nothing is. */
  readonly onProgress?: (() => Promise<void>) | undefined;
  /** Whether all calls fail, not only those of a text that failed in all of its tries. Default: they do not. */
  readonly isPlatformAway?: (() => Promise<boolean>) | undefined;
  /** No text is begun once it is aborted. Calls that have left finish: they are paid for. */
  readonly signal?: AbortSignal | undefined;
};

/** Why a run stopped before all of its texts were tried. */
type Stop =
  /** `alike`: different texts failed alike, so the remaining ones would most likely fail too. */
  | { readonly kind: 'error'; readonly error: unknown; readonly alike: boolean }
  /** The pace has no turn for them soon. */
  | { readonly kind: 'later'; readonly delayMs: number };

/** What the texts of one run share. */
export type ScoringSession = ReturnType<typeof createScoringSession>;

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
    /** The first reason counts. */
    stop: (why: Stop) => {
      stopped ??= why;
      stopping.abort(new Error('the run has stopped'));
    },
    stopped: () => stopped,
    /** How many calls have left, how many of them have scored a text, and how many texts another worker took first. */
    counts: { departures: 0, successes: 0, overtaken: 0 },
    isOver: () => now() >= deadlineMs,
  };
}

type TextGate = ReturnType<typeof createTextGate>;

/** While one call takes its slot, the next one is there to reserve another. */
const MIN_WAITING = 2;

/** More would wait in places that calls need which have left. */
const MAX_WAITING = 4;

/** As many as a block of the pace has slots, and one more: a block costs a write, however many texts it is for. */
export const mostWaitingAt = (rate: number): number =>
  Math.min(MAX_WAITING, Math.max(MIN_WAITING, Math.floor((rate * BLOCK_MS) / 1_000) + 1));

/**
 * Bounds how many texts of one process wait for their slot at the pace: all of them waiting there at once would make each
 * other's waits too long. The chunk that came first goes first: few chunks are half done at any time.
 */
export function createTextGate(mostWaiting = MIN_WAITING) {
  const waiting = new PQueue({ concurrency: mostWaiting });
  let chunks = 0;
  return {
    /**
     * A chunk's way through the gate: it makes an attempt when there is room, which is free again once the attempt has called
     * `leave`, or ends. Throws what the attempt throws, and the reason of a signal that is aborted before it starts.
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
            // An attempt that has started ends by itself: its call may have left.
            if (!hasStarted) reject(error);
          });
        });
    },
  };
}
