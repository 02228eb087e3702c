import type { EndpointName } from '../../../platform/endpoints.ts';
import { type ErrorContext, errorResponse, type PlainResponse } from './responses.ts';

export type ThrottleOptions = {
  readonly rate?: number | undefined;
  /** Further limits, such as `6/s`. Default: none. */
  readonly limits?: readonly string[];
  readonly retryAfter: RetryAfterForm | 'mixed';
  /** Epoch milliseconds, for a `Retry-After` that is a date. */
  readonly now: () => number;
};

/** Decides when a request arrives: the 429 that it gets, or undefined if it is admitted. */
export function createThrottle(
  options: ThrottleOptions,
): (context: ErrorContext, atMs: number) => PlainResponse | undefined {
  const windows = [
    ...(options.rate === undefined
      ? []
      : [{ operation: undefined, window: createSlidingWindow(options.rate) }]),
    ...(options.limits ?? []).flatMap((text) => {
      const limit = parseLimit(text);
      return limit === undefined ? [] : [{ operation: limit.operation, window: windowOf(limit) }];
    }),
  ];
  let refusals = 0;
  return (context, atMs) => {
    const decision = windows
      .filter(({ operation }) => operation === undefined || operation === context.operation)
      .map(({ window }) => window.arrive(atMs))
      .find(({ kind }) => kind === 'refused');
    if (decision?.kind !== 'refused') return undefined;
    refusals += 1;
    const form = retryAfterForm(options.retryAfter, refusals);
    const header = retryAfterHeader(form, decision.waitMs, options.now());
    const response = errorResponse(context, 429, 'Too many requests');
    return header === undefined
      ? response
      : { ...response, headers: { ...response.headers, 'retry-after': header } };
  };
}

type RetryAfterForm = 'seconds' | 'date' | 'absent';

function retryAfterForm(form: RetryAfterForm | 'mixed', number: number): RetryAfterForm {
  return form === 'mixed' ? (TURN[(number - 1) % TURN.length] ?? 'absent') : form;
}

/** The header's value, or undefined to leave it out. Seconds and dates are rounded up: waiting that long is enough. */
function retryAfterHeader(form: RetryAfterForm, waitMs: number, nowMs: number): string | undefined {
  switch (form) {
    case 'seconds':
      return String(Math.max(1, Math.ceil(waitMs / 1000)));
    case 'date':
      return new Date(Math.ceil((nowMs + waitMs) / 1000) * 1000).toUTCString();
    case 'absent':
      return undefined;
    default:
      return form satisfies never;
  }
}

const TURN: readonly RetryAfterForm[] = ['seconds', 'date', 'absent'];

export type WindowDecision =
  | { readonly kind: 'admitted' }
  | { readonly kind: 'refused'; readonly waitMs: number };

/** A sliding window: at most k = ceil(rate) requests are admitted in any k / rate seconds, counted when they arrive. */
export function createSlidingWindow(ratePerSecond: number): { arrive(atMs: number): WindowDecision } {
  const most = Math.ceil(ratePerSecond);
  const windowMs = (most / ratePerSecond) * 1000;
  const admitted: number[] = [];
  return {
    arrive(atMs) {
      while (admitted[0] !== undefined && admitted[0] <= atMs - windowMs) admitted.shift();
      const [oldest] = admitted;
      if (oldest !== undefined && admitted.length >= most) {
        return { kind: 'refused', waitMs: oldest + windowMs - atMs };
      }
      admitted.push(atMs);
      return { kind: 'admitted' };
    },
  };
}

/** At most so many requests in each window of the clock. */
export function createFixedWindow(most: number, windowMs: number): { arrive(atMs: number): WindowDecision } {
  let [window, admitted] = [-1, 0];
  return {
    arrive(atMs) {
      const current = Math.floor(atMs / windowMs);
      if (current !== window) [window, admitted] = [current, 0];
      if (admitted >= most) return { kind: 'refused', waitMs: (current + 1) * windowMs - atMs };
      admitted += 1;
      return { kind: 'admitted' };
    },
  };
}

type Limit = {
  readonly operation: EndpointName | undefined;
  readonly most: number;
  readonly unit: 's' | 'min' | 'h';
};

/** How limits name operations: as jobs and sources do. */
const NAMES: Readonly<Record<string, EndpointName>> = {
  score: 'analyzeSentiment',
  'run-function': 'runFunction',
  'update-formula': 'updateFormula',
  'data-files': 'getDataFile',
  calculations: 'searchCalculations',
  files: 'searchFiles',
  cards: 'listCards',
};

export const LIMIT_EXPECTED = `REQUESTS/s, /min or /h, and before it OPERATION= for that one alone (${Object.keys(NAMES).join(', ')})`;

/** A limit: `6/s` in any second, `100/min` and `5000/h` in each of the clock, `score=0/s` for one operation. */
export function parseLimit(text: string): Limit | undefined {
  const { name, most = '', unit = '' } = LIMIT.exec(text)?.groups ?? {};
  const operation = name === undefined ? undefined : NAMES[name];
  if (most === '' || (name !== undefined && operation === undefined)) return undefined;
  return { operation, most: Number(most), unit: unit as Limit['unit'] };
}

const LIMIT = /^(?:(?<name>[a-z-]+)=)?(?<most>\d+(?:\.\d+)?)\/(?<unit>s|min|h)$/;

const WINDOWS_MS = { min: 60_000, h: 3_600_000 } as const;

/** What is never admitted may be asked for again in a second. */
const never = { arrive: (): WindowDecision => ({ kind: 'refused', waitMs: 1_000 }) };

function windowOf({ most, unit }: Limit) {
  if (most === 0) return never;
  return unit === 's' ? createSlidingWindow(most) : createFixedWindow(most, WINDOWS_MS[unit]);
}
