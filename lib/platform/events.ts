import { type PlatformFailure, wasSent } from './failure.ts';

/** An event of a call, reported when it happens. Logs, progress and metrics are built from events. */
export type PlatformEvent = {
  readonly operation: string;
  /** The number of the attempt; 1 is the first. In a `retry` event: the attempt that failed. */
  readonly attempt: number;
} & (
  | {
      readonly kind: 'request';
      /** The HTTP status; undefined if there was no response. */
      readonly status: number | undefined;
      /** The failure; absent if the response was complete and not an error. */
      readonly failure?: PlatformFailure;
      /** Milliseconds from sending the request to the last byte of the response. */
      readonly durationMs: number;
      /** The size of the decoded body, in bytes. */
      readonly sizeBytes: number;
    }
  /** The pace delayed the attempt by `waitedMs`. */
  | { readonly kind: 'waited'; readonly waitedMs: number }
  /** The platform responded with 429, or with 503 and `Retry-After`. */
  | { readonly kind: 'throttled'; readonly retryAfterMs: number | undefined }
  /** The attempt failed, and the next attempt follows after `delayMs`. */
  | { readonly kind: 'retry'; readonly delayMs: number; readonly failure: PlatformFailure }
  /**
   * Members of the response differ from the platform's API, such as `startedBy: number`. They are stored as
   * received, and have no effect.
   */
  | { readonly kind: 'odd'; readonly members: readonly string[] }
);

/** Called synchronously for each event; errors that it throws are ignored. */
export type Observe = (event: PlatformEvent) => void;

/** Totals over all calls. `waitedMs`: waits for the pace, without backoff. */
export type CallCounts = {
  readonly requests: number;
  readonly retries: number;
  readonly throttled: number;
  readonly waitedMs: number;
};

/** Counts calls: pass `observe` to the client and read `counts()` at any time. */
export function countCalls() {
  const paid = { calls: {} as Record<string, number>, unknown: {} as Record<string, number> };
  let counts: CallCounts = { requests: 0, retries: 0, throttled: 0, waitedMs: 0 };
  return {
    counts: () => counts,
    /** By price name: the number of calls that cost something, and how many of them have an unknown outcome. */
    paid: paid as Readonly<Record<keyof typeof paid, Readonly<Record<string, number>>>>,
    observe: (event: PlatformEvent) => {
      const { name, isCertain } = (event.kind === 'request' && paidFor(event)) || {};
      if (name !== undefined) paid.calls[name] = (paid.calls[name] ?? 0) + 1;
      if (name !== undefined && !isCertain) paid.unknown[name] = (paid.unknown[name] ?? 0) + 1;
      const { waitedMs } = counts;
      if (event.kind === 'waited') counts = { ...counts, waitedMs: waitedMs + Math.round(event.waitedMs) };
      else if (event.kind !== 'odd')
        counts = { ...counts, [COUNTED[event.kind]]: counts[COUNTED[event.kind]] + 1 };
    },
  };
}

const COUNTED = { request: 'requests', retry: 'retries', throttled: 'throttled' } as const;

/** Calls several observers in turn. An observer that throws affects neither the call nor other observers. */
export function notifyAll(observers: readonly Observe[]): Observe {
  return (event) => {
    for (const observe of observers) {
      try {
        observe(event);
      } catch {
        // The request may have been sent already: an observer's error must not make its outcome unknown.
      }
    }
  };
}

const PRICE_NAMES: Readonly<Record<string, string>> = {
  analyzeSentiment: 'score',
  runFunction: 'run-function',
  updateFormula: 'update-formula',
};

/**
 * The name of a finished call's price, and whether the call was certainly executed; undefined if it was not
 * executed, or has no price.
 */
function paidFor({
  operation,
  status = 0,
  failure,
}: {
  readonly operation: string;
  readonly status: number | undefined;
  readonly failure?: PlatformFailure;
}) {
  const name = PRICE_NAMES[operation];
  const isRefused = status >= 400 && status < 500;
  if (name === undefined || (failure !== undefined && (isRefused || !wasSent(failure)))) return undefined;
  const isCertain = failure === undefined || failure.kind === 'shape' || failure.kind === 'too-large';
  return { name, isCertain };
}
