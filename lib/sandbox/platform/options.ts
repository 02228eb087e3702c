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

const count = (fallback: number) => z._default(wholeNumber(0, 10_000_000), fallback);
const clock = z.custom<() => number>((value) => typeof value === 'function', { error: 'a function' });
const strings = z._default(z.array(z.string({ error: 'text' }), { error: 'a list of texts' }), []);

const probability = z._default(
  z
    .number({ error: 'a number from 0 to 1' })
    .check(z.refine((value) => value >= 0 && value <= 1, { error: 'a number from 0 to 1' })),
  0,
);

const perSecond = z
  .number({ error: 'a number above 0' })
  .check(z.refine((value) => value > 0 && Number.isFinite(value), { error: 'a number above 0' }));

/** The operation to which each name in a limit refers. The names are the names of job types and sources. */
const OPERATIONS_BY_NAME: Readonly<Record<string, EndpointName>> = {
  score: 'analyzeSentiment',
  'run-function': 'runFunction',
  'update-formula': 'updateFormula',
  'data-files': 'getDataFile',
  calculations: 'searchCalculations',
  files: 'searchFiles',
  cards: 'listCards',
};

const LIMIT_EXPECTED = `REQUESTS/s, /min or /h, with OPERATION= before it if it applies to only one operation (${Object.keys(OPERATIONS_BY_NAME).join(', ')})`;

const LIMIT_FORM = /^(?:(?<name>[a-z-]+)=)?(?<max>\d+(?:\.\d+)?)\/(?<unit>s|min|h)$/;

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

const byRequest = <const Kind extends string>(kinds: readonly Kind[], expected: string) =>
  z._default(z.record(z.string(), oneOf(kinds), { error: `${expected} by request number` }), {});

const optionsSchema = z.strictObject({
  /** The seed of all random draws. Default 1. */
  seed: z._default(wholeNumber(0, 4_294_967_295), 1),
  /** The number of calculations at the start. Default 20,000. */
  calculations: count(20_000),
  /** Default 400. */
  datasets: count(400),
  /** Default 3,000. Without datasets there are no cards. */
  cards: count(3000),
  /** Default 4. */
  fileSets: count(4),
  /** Rows of each FileSet at the start, including its directories. Default 25,000. */
  filesPerSet: count(25_000),
  /** Default 200. */
  dataFiles: count(200),
  /** The wall clock, in epoch milliseconds, for changes while the sandbox runs. Seeded records do not depend on it. */
  now: z._default(clock, () => Date.now),
  /** The developer token that a request must have, in the header `tokenHeader`. Default: `sandbox-token`. */
  token: z._default(z.string({ error: 'text' }).check(z.minLength(1, { error: 'text' })), 'sandbox-token'),
  tokenHeader: z._default(
    z.string({ error: 'a header name' }).check(z.regex(/^[\w-]+$/, { error: 'a header name' })),
    'X-SERVICE-Developer-Token',
  ),
  /** For how many milliseconds every request waits before it is processed. Default 0. */
  latencyMs: z._default(wholeNumber(0, 600_000), 0),
  /** Maximum requests a second: at most k = ceil(rate) are admitted in any k / rate seconds. Default: no limit. */
  rate: z.optional(perSecond),
  /** Further limits, such as `6/s`, `100/min` or `score=0/s`. Default: none. */
  limits: z._default(z.array(limit, { error: 'a list of limits' }), []),
  /** The form of the `Retry-After` header of a 429. Default `mixed`: each form in turn. */
  retryAfter: z._default(
    z.enum(['seconds', 'date', 'absent', 'mixed'], { error: 'seconds, date, absent or mixed' }),
    'mixed',
  ),
  /** The probability that a request gets a fault. Default 0. */
  faults: probability,
  /** The faults from which one is drawn. Default: all. */
  faultKinds: someOf(faultKinds),
  /** The faults of certain requests, by request number (1 is the first). The other requests get faults at random. */
  plannedFaults: byRequest(faultKinds, 'fault kinds'),
  /**
   * The probability that a response, a record in a list or an error has an odd but legal shape: members that decide an
   * outcome keep their meaning, all others may be anything. Above 0, only PUT updates a formula. Default 0.
   */
  odd: probability,
  /** The share of calculation pages that are degraded: rows are missing, and the page reports that. Default 0. */
  degraded: probability,
  /** The probability that a page has an anomaly. Default 0. */
  anomalies: probability,
  /** The anomalies from which one is drawn. Default: all. */
  anomalyKinds: someOf(anomalyKinds),
  /** The anomalies of certain pages, by request number (1 is the first). The other pages get anomalies at random. */
  plannedAnomalies: byRequest(anomalyKinds, 'anomaly kinds'),
  /**
   * For how many milliseconds a new record is missing from every page even though the totals count it, as on a replica
   * that lags. Default 0.
   */
  lagMs: z._default(wholeNumber(0, 600_000), 0),
  /** Maximum rows in a page of calculations, whatever the `limit`. Default: unlimited. */
  pageCap: z.optional(wholeNumber(1, 5000)),
  /** Sort fields of calculations that are refused with 400 even though they are valid, e.g. `['id']`. Default: none. */
  refusedSortFields: strings,
  /** Whether the rows of each page of calculations are shuffled. Default false. */
  ignoreOrder: flag,
  /** Whether empty pages of calculations have `hasMore: true`, as happens in practice. Default false. */
  hasMoreWhenEmpty: flag,
  /** What the token may not access: names of operations, or ids in a path. The response is 403. Default: nothing. */
  forbidden: strings,
  /** The methods with which a formula cannot be updated (405): `['POST']`, or `['PUT']`. Default: none. */
  refusedUpdates: strings,
  /** The maximum size of a request body; a larger one gets 413. Default 10 MiB. */
  maxBodyBytes: z._default(wholeNumber(1, 1_073_741_824), assumptions.maxBodyBytes),
  /**
   * Whether to compress responses for clients that accept gzip. Default: false, since on loopback
   * compressing takes longer than sending.
   */
  gzip: flag,
  /** The maximum time that a code function may run. Default 300,000. */
  functionTimeLimitMs: z._default(wholeNumber(1, 300_000), 300_000),
  /** The maximum memory of a code function. Default 256 MiB. */
  functionMemoryBytes: z._default(
    wholeNumber(assumptions.minFunctionMemoryBytes, 2 ** 31),
    assumptions.functionMemoryBytes,
  ),
  /** A monotonic clock in milliseconds, for the limiter and the counts. */
  monotonicNow: z._default(clock, () => () => performance.now()),
  /** How many records are added, changed or deleted each second while the server runs. Default 0. */
  churn: z._default(
    z
      .number({ error: 'a number from 0' })
      .check(z.refine((value) => value >= 0 && value <= 10_000, { error: 'a number from 0 to 10000' })),
    0,
  ),
  /** The port on 127.0.0.1. Default 0: a free port. */
  port: z._default(wholeNumber(0, 65_535), 0),
});

/** Options of the sandbox, all optional. */
export type PlatformOptions = z.input<typeof optionsSchema>;
/** Options with all defaults. */
export type ResolvedOptions = z.output<typeof optionsSchema>;

/**
 * Checks the options and adds the defaults. Throws a `TypeError` that says for every invalid option what was expected.
 */
export function checkOptions(options: PlatformOptions): ResolvedOptions {
  const { data, error } = z.safeParse(optionsSchema, options);
  if (error === undefined) return data;
  throw new TypeError(`invalid options of the sandbox: ${faultsOf(error, options).join('; ')}`);
}

/**
 * Creates the limiter. When a request arrives (`atMs` on a monotonic clock), it returns the 429 to send, or undefined
 * if the request is admitted.
 */
export function createThrottle(options: {
  /** Requests a second of all operations together. Default: no limit. */
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
      return limit === undefined ? [] : [{ operation: limit.operation, window: createWindow(limit) }];
    }),
  ];
  let throttledCount = 0;
  return (context, atMs) => {
    const decision = windows
      .filter(({ operation }) => operation === undefined || operation === context.operation)
      .map(({ window }) => window.arrive(atMs))
      .find(({ kind }) => kind === 'refused');
    if (decision?.kind !== 'refused') return undefined;
    throttledCount += 1;
    const form = retryAfterForm(options.retryAfter, throttledCount);
    const header = retryAfterHeader(form, decision.waitMs, options.now());
    const response = errorResponse(context, 429, 'Too many requests');
    return header === undefined
      ? response
      : { ...response, headers: { ...response.headers, 'retry-after': header } };
  };
}

type RetryAfterForm = 'seconds' | 'date' | 'absent';

function retryAfterForm(form: RetryAfterForm | 'mixed', number: number): RetryAfterForm {
  return form === 'mixed' ? (RETRY_AFTER_CYCLE[(number - 1) % RETRY_AFTER_CYCLE.length] ?? 'absent') : form;
}

/**
 * The header's value, or undefined if there is to be no header. Seconds and dates are rounded up: waiting that long is
 * enough.
 */
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

const RETRY_AFTER_CYCLE: readonly RetryAfterForm[] = ['seconds', 'date', 'absent'];

type WindowDecision = { readonly kind: 'admitted' } | { readonly kind: 'refused'; readonly waitMs: number };

/**
 * Creates a sliding window: at most k = ceil(rate) requests are admitted in any k / rate seconds, counted when they
 * arrive.
 */
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

/** Creates a window that admits at most `max` requests in each clock period of `windowMs`. */
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
  const { name, max = '', unit = '' } = LIMIT_FORM.exec(text)?.groups ?? {};
  const operation = name === undefined ? undefined : OPERATIONS_BY_NAME[name];
  if (max === '' || (name !== undefined && operation === undefined)) return undefined;
  return { operation, max: Number(max), unit: unit as Limit['unit'] };
}

const WINDOWS_MS = { min: 60_000, h: 3_600_000 } as const;

/** The window of a limit of 0: it admits no request, and `Retry-After` is one second. */
const closedWindow = { arrive: (): WindowDecision => ({ kind: 'refused', waitMs: 1_000 }) };

function createWindow({ max, unit }: Limit) {
  if (max === 0) return closedWindow;
  return unit === 's' ? createSlidingWindow(max) : createFixedWindow(max, WINDOWS_MS[unit]);
}
