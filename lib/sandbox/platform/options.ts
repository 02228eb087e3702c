import * as z from 'zod/mini';
import { faultsOf, wholeNumber, yesOrNo } from '../../base/index.ts';
import type { EndpointName } from '../../platform/operations/index.ts';
import { assumptions } from './assumptions.ts';
import {
  anomalyKinds,
  type ErrorContext,
  errorResponse,
  faultKinds,
  type PlainResponse,
} from './http/faults.ts';

const amount = (fallback: number) => z._default(wholeNumber(0, 10_000_000), fallback);
const clock = z.custom<() => number>((value) => typeof value === 'function', { error: 'a function' });
const texts = z._default(z.array(z.string({ error: 'text' }), { error: 'a list of texts' }), []);

const probability = z._default(
  z
    .number({ error: 'a number from 0 to 1' })
    .check(z.refine((value) => value >= 0 && value <= 1, { error: 'a number from 0 to 1' })),
  0,
);

const perSecond = z
  .number({ error: 'a number above 0' })
  .check(z.refine((value) => value > 0 && Number.isFinite(value), { error: 'a number above 0' }));

/** The names of operations in limits: jobs and sources use the same names. */
const NAMES: Readonly<Record<string, EndpointName>> = {
  score: 'analyzeSentiment',
  'run-function': 'runFunction',
  'update-formula': 'updateFormula',
  'data-files': 'getDataFile',
  calculations: 'searchCalculations',
  files: 'searchFiles',
  cards: 'listCards',
};

const LIMIT_EXPECTED = `REQUESTS/s, /min or /h, for a single operation with OPERATION= before it (${Object.keys(NAMES).join(', ')})`;

const LIMIT = /^(?:(?<name>[a-z-]+)=)?(?<max>\d+(?:\.\d+)?)\/(?<unit>s|min|h)$/;

const limit = z
  .string({ error: LIMIT_EXPECTED })
  .check(z.refine((text) => parseLimit(text) !== undefined, { error: LIMIT_EXPECTED }));

const flag = z._default(yesOrNo, false);

const oneOf = <const Kind extends string>(kinds: readonly Kind[]) =>
  z.enum(kinds, { error: kinds.join(', ') });

const someOf = <const Kind extends string>(kinds: readonly Kind[]) =>
  z._default(
    z.array(oneOf(kinds), { error: 'a list' }).check(z.minLength(1, { error: 'at least one kind' })),
    [...kinds],
  );

const byRequest = <const Kind extends string>(kinds: readonly Kind[], words: string) =>
  z._default(z.record(z.string(), oneOf(kinds), { error: `${words} by request number` }), {});

const optionsSchema = z.strictObject({
  /** The seed of all random draws. Default 1. */
  seed: z._default(wholeNumber(0, 4_294_967_295), 1),
  calculations: amount(20_000),
  datasets: amount(400),
  cards: amount(3000),
  fileSets: amount(4),
  /** Rows of each FileSet, including its directories. Default 25,000. */
  filesPerSet: amount(25_000),
  dataFiles: amount(200),
  /** The wall clock, in epoch milliseconds: the times of changes while the sandbox runs. Seeded records do not depend on it. */
  now: z._default(clock, () => Date.now),
  token: z._default(z.string({ error: 'text' }).check(z.minLength(1, { error: 'text' })), 'sandbox-token'),
  tokenHeader: z._default(
    z.string({ error: 'a header name' }).check(z.regex(/^[\w-]+$/, { error: 'a header name' })),
    'X-SERVICE-Developer-Token',
  ),
  /** The milliseconds that every request waits before any work is done. Default 0. */
  latencyMs: z._default(wholeNumber(0, 600_000), 0),
  /** Requests a second that are admitted: ceil(rate) in any ceil(rate) / rate seconds. Default: no limit. */
  rate: z.optional(perSecond),
  /** Further limits, each as text: `6/s`, `100/min`, `score=0/s`. Default: none. */
  limits: z._default(z.array(limit, { error: 'a list of limits' }), []),
  retryAfter: z._default(
    z.enum(['seconds', 'date', 'absent', 'mixed'], { error: 'seconds, date, absent or mixed' }),
    'mixed',
  ),
  faults: probability,
  faultKinds: someOf(faultKinds),
  /** Faults by the number of the request (1 is the first), instead of at random. */
  plannedFaults: byRequest(faultKinds, 'fault kinds'),
  /**
   * The share of responses, of records in a list and of errors with odd but legal shapes: members that decide an outcome
   * keep their meaning, all others may be anything. Above 0 only PUT updates a formula. Default 0.
   */
  odd: probability,
  /** The share of calculation pages that are degraded: rows are missing, and the page reports that. Default 0. */
  degraded: probability,
  anomalies: probability,
  anomalyKinds: someOf(anomalyKinds),
  plannedAnomalies: byRequest(anomalyKinds, 'anomaly kinds'),
  /** The milliseconds that a new record is missing from every page although the totals count it, as on a replica that lags. */
  lagMs: z._default(wholeNumber(0, 600_000), 0),
  /** Maximum rows in a page of calculations, whatever the `limit`. Default: unlimited. */
  pageCap: z.optional(wholeNumber(1, 5000)),
  /** Sort fields of calculations that are refused with 400 although they are known, e.g. `['id']`. */
  refusedSortFields: texts,
  ignoreOrder: flag,
  /** True if empty pages of calculations say `hasMore: true`, as happens in practice. Default false. */
  hasMoreWhenEmpty: flag,
  /** What the token may not access: names of operations, or ids in a path. The response is 403. */
  forbidden: texts,
  /** The methods whose updates are refused with 405: `['POST']`, or `['PUT']`. Default: neither. */
  refusedUpdates: texts,
  maxBodyBytes: z._default(wholeNumber(1, 1_073_741_824), assumptions.maxBodyBytes),
  /**
   * Whether to compress responses for clients that accept gzip. Default: false, since on loopback
   * compressing takes longer than sending.
   */
  gzip: flag,
  functionTimeLimitMs: z._default(wholeNumber(1, 300_000), 300_000),
  functionMemoryBytes: z._default(
    wholeNumber(assumptions.lowestFunctionMemoryBytes, 2 ** 31),
    assumptions.functionMemoryBytes,
  ),
  /** A monotonic clock in milliseconds, for the limiter and the counts. */
  monotonicNow: z._default(clock, () => () => performance.now()),
  /** Records changed a second while the server runs: added, changed or deleted. Default 0. */
  churn: z._default(
    z
      .number({ error: 'a number from 0' })
      .check(z.refine((value) => value >= 0 && value <= 10_000, { error: 'a number from 0 to 10000' })),
    0,
  ),
  /** The port on 127.0.0.1. Default 0: a free one. */
  port: z._default(wholeNumber(0, 65_535), 0),
});

export type PlatformOptions = z.input<typeof optionsSchema>;
export type ResolvedOptions = z.output<typeof optionsSchema>;

/** Checks the options and adds the defaults. Throws a `TypeError` that names every wrong option: expected, got. */
export function checkOptions(options: PlatformOptions): ResolvedOptions {
  const { data, error } = z.safeParse(optionsSchema, options);
  if (error === undefined) return data;
  throw new TypeError(`wrong options of the sandbox platform: ${faultsOf(error, options).join('; ')}`);
}

/** Creates the limiter. When a request arrives, it returns the 429 to send, or undefined if the request is admitted. */
export function createThrottle(options: {
  readonly rate?: number | undefined;
  /** Further limits, such as `6/s`. Default: none. */
  readonly limits?: readonly string[];
  readonly retryAfter: RetryAfterForm | 'mixed';
  /** Epoch milliseconds, for a `Retry-After` that is a date. */
  readonly now: () => number;
}): (context: ErrorContext, atMs: number) => PlainResponse | undefined {
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

type WindowDecision = { readonly kind: 'admitted' } | { readonly kind: 'refused'; readonly waitMs: number };

/** A sliding window: at most k = ceil(rate) requests are admitted in any k / rate seconds, counted when they arrive. */
export function createSlidingWindow(ratePerSecond: number): { arrive(atMs: number): WindowDecision } {
  const max = Math.ceil(ratePerSecond);
  const windowMs = (max / ratePerSecond) * 1000;
  const admitted: number[] = [];
  return {
    arrive(atMs) {
      while (admitted[0] !== undefined && admitted[0] <= atMs - windowMs) admitted.shift();
      const [oldest] = admitted;
      if (oldest !== undefined && admitted.length >= max) {
        return { kind: 'refused', waitMs: oldest + windowMs - atMs };
      }
      admitted.push(atMs);
      return { kind: 'admitted' };
    },
  };
}

/** Creates a window with at most this many requests in each period of the clock. */
export function createFixedWindow(max: number, windowMs: number): { arrive(atMs: number): WindowDecision } {
  let window = -1;
  let admitted = 0;
  return {
    arrive(atMs) {
      const current = Math.floor(atMs / windowMs);
      if (current !== window) {
        window = current;
        admitted = 0;
      }
      if (admitted >= max) return { kind: 'refused', waitMs: (current + 1) * windowMs - atMs };
      admitted += 1;
      return { kind: 'admitted' };
    },
  };
}

type Limit = {
  readonly operation: EndpointName | undefined;
  readonly max: number;
  readonly unit: 's' | 'min' | 'h';
};

/**
 * Parses a limit: `6/s` in any second, `100/min` and `5000/h` in each minute or hour of the clock,
 * `score=0/s` for one operation.
 */
function parseLimit(text: string): Limit | undefined {
  const { name, max = '', unit = '' } = LIMIT.exec(text)?.groups ?? {};
  const operation = name === undefined ? undefined : NAMES[name];
  if (max === '' || (name !== undefined && operation === undefined)) return undefined;
  return { operation, max: Number(max), unit: unit as Limit['unit'] };
}

const WINDOWS_MS = { min: 60_000, h: 3_600_000 } as const;

/** Admits no request; `Retry-After` is one second. */
const never = { arrive: (): WindowDecision => ({ kind: 'refused', waitMs: 1_000 }) };

function windowOf({ max, unit }: Limit) {
  if (max === 0) return never;
  return unit === 's' ? createSlidingWindow(max) : createFixedWindow(max, WINDOWS_MS[unit]);
}
