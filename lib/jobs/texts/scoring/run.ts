import type { PlatformError } from '../../../platform/platform-error.ts';
import { createRefusals } from './refusals.ts';
import type { ScoreTextsOptions } from './score-texts-options.ts';
import { type Alike, afterFailedText, isRefusedText, mustStop, noneAlike } from './stopping.ts';
import { createTextGate, type Enter } from './text-gate.ts';

/** Why a run stopped before all of its texts were tried. */
export type Stop =
  /** `alike`: different texts failed alike, so the remaining ones would most likely fail too. */
  | { readonly kind: 'error'; readonly error: unknown; readonly alike: boolean }
  /** The pace has no turn for them soon. */
  | { readonly kind: 'later'; readonly delayMs: number };

/** What the texts of one run share. */
export type Run = Omit<ScoreTextsOptions, 'signal'> & {
  readonly enter: Enter;
  /** Aborted once no further text may be begun. */
  readonly signal: AbortSignal;
  /** The first reason counts. */
  readonly stop: (why: Stop) => void;
  readonly stopped: () => Stop | undefined;
  /** Records that a call has left. */
  readonly left: () => void;
  /** How many calls have left. */
  readonly departures: () => number;
  /** Records that a call has scored a text. */
  readonly succeeded: () => void;
  /** Records that the cache had a result: the request is right, whatever else is wrong now. */
  readonly foundCached: () => void;
  /** How many texts calls have scored. */
  readonly successes: () => number;
  /** Records a text that failed after its tries; stops the run if it was one too many. */
  readonly failed: (text: string, error: PlatformError) => void;
  /** Whether time is up. */
  readonly isOver: () => boolean;
};

export function startRun(options: ScoreTextsOptions): Run {
  const { gate = createTextGate(), refusals = createRefusals(), signal: caller, deadlineMs, now } = options;
  const stopping = new AbortController();
  let stopped: Stop | undefined;
  let departures = 0;
  let successes = 0;
  let alike: Alike = noneAlike;
  const stop = (why: Stop) => {
    stopped ??= why;
    stopping.abort(new StoppedError());
  };
  return {
    ...options,
    enter: gate.enter(),
    signal: caller === undefined ? stopping.signal : AbortSignal.any([caller, stopping.signal]),
    stop,
    stopped: () => stopped,
    left: () => {
      departures += 1;
    },
    departures: () => departures,
    successes: () => successes,
    succeeded: () => {
      successes += 1;
      alike = noneAlike;
      refusals.succeeded();
    },
    foundCached: refusals.hasScored,
    failed: (text, error) => {
      alike = afterFailedText(alike, error.failure);
      const isRefused = isRefusedText(error.failure);
      if (isRefused ? refusals.refused(text) : mustStop(alike, error.failure))
        stop({ kind: 'error', error, alike: true });
    },
    isOver: () => deadlineMs !== undefined && now() >= deadlineMs,
  };
}

/** Ends the texts in work once the run has stopped. */
class StoppedError extends Error {
  override readonly name = 'StoppedError';
}
