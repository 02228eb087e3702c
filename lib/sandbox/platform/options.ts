import * as z from 'zod/mini';
import { faultsOf, wholeNumber } from '../../base/index.ts';
import { assumptions } from './assumptions.ts';
import { anomalyKinds, faultKinds } from './http/faults.ts';
import { LIMIT_EXPECTED, parseLimit } from './http/throttle.ts';

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

const limit = z
  .string({ error: LIMIT_EXPECTED })
  .check(z.refine((text) => parseLimit(text) !== undefined, { error: LIMIT_EXPECTED }));

const flag = z._default(z.boolean({ error: 'true or false' }), false);

const oneOf = <const Kind extends string>(kinds: readonly Kind[]) =>
  z.enum(kinds, { error: kinds.join(', ') });

const someOf = <const Kind extends string>(kinds: readonly Kind[]) =>
  z._default(
    z.array(oneOf(kinds), { error: 'a list' }).check(z.minLength(1, { error: 'at least one kind' })),
    [...kinds],
  );

const byRequest = <const Kind extends string>(kinds: readonly Kind[], words: string) =>
  z._default(z.record(z.string(), oneOf(kinds), { error: `${words} by request number` }), {});

const stateShape = {
  /** All random draws follow from it. Default 1. */
  seed: z._default(wholeNumber(0, 4_294_967_295), 1),
  calculations: amount(20_000),
  datasets: amount(400),
  cards: amount(3000),
  fileSets: amount(4),
  /** Rows of each FileSet, including its directories. Default 25,000. */
  filesPerSet: amount(25_000),
  dataFiles: amount(200),
  /** The wall clock, in epoch milliseconds: timestamps changes made while the sandbox runs, never seeded records. */
  now: z._default(clock, () => Date.now),
};

const appShape = {
  token: z._default(z.string({ error: 'text' }).check(z.minLength(1, { error: 'text' })), 'sandbox-token'),
  tokenHeader: z._default(
    z.string({ error: 'a header name' }).check(z.regex(/^[\w-]+$/, { error: 'a header name' })),
    'X-SERVICE-Developer-Token',
  ),
  /** How long every request waits before any work is done, in milliseconds. Default 0. */
  latencyMs: z._default(wholeNumber(0, 600_000), 0),
  /** Requests a second that are admitted: ceil(rate) in any ceil(rate) / rate seconds. Default: no limit. */
  rate: z.optional(perSecond),
  /** Limits beside it, each as text: `6/s`, `100/min`, `score=0/s`. Default: none. */
  limits: z._default(z.array(limit, { error: 'a list of limits' }), []),
  retryAfter: z._default(
    z.enum(['seconds', 'date', 'absent', 'mixed'], { error: 'seconds, date, absent or mixed' }),
    'mixed',
  ),
  faults: probability,
  faultKinds: someOf(faultKinds),
  /** By the number of the request (1 is the first), instead of at random. */
  plannedFaults: byRequest(faultKinds, 'fault kinds'),
  /**
   * The share of answers, of records in a list and of errors that have odd but legal shapes: what decides means the same,
   * all else may be anything. Above 0 an update is taken by PUT alone. Default 0.
   */
  odd: probability,
  /** The share of calculation pages that are degraded: rows are missing, and the page says so. Default 0. */
  degraded: probability,
  anomalies: probability,
  anomalyKinds: someOf(anomalyKinds),
  plannedAnomalies: byRequest(anomalyKinds, 'anomaly kinds'),
  /** How long a new record is missing from every page although the totals count it, as on a replica that lags behind. */
  lagMs: z._default(wholeNumber(0, 600_000), 0),
  /** The most rows in a page of calculations, whatever the `limit`. Default: no cap. */
  pageCap: z.optional(wholeNumber(1, 5000)),
  /** Sort fields of calculations that are refused with 400 although they are known, e.g. `['id']`. */
  refusedSortFields: texts,
  ignoreOrder: flag,
  /** True if empty pages of calculations say `hasMore: true`, as happens in practice. Default false. */
  hasMoreWhenEmpty: flag,
  /** What the token may not access: names of operations, or ids in a path. The response is 403. */
  forbidden: texts,
  /** Methods by which an update is refused with 405: `['POST']`, or `['PUT']`. Default: neither. */
  refusedUpdates: texts,
  maxBodyBytes: z._default(wholeNumber(1, 1_073_741_824), assumptions.maxBodyBytes),
  /** True to compress responses for clients that accept gzip. Default false: on loopback it costs more than it saves. */
  gzip: flag,
  functionTimeLimitMs: z._default(wholeNumber(1, 300_000), 300_000),
  functionMemoryBytes: z._default(wholeNumber(16_777_216, 2_147_483_648), 268_435_456),
  /** A monotonic clock in milliseconds, for the limiter and the counts. */
  monotonicNow: z._default(clock, () => () => performance.now()),
};

const serverShape = {
  /** Records changed a second while the server runs: added, changed or deleted. Default 0. */
  churn: z._default(
    z
      .number({ error: 'a number from 0' })
      .check(z.refine((value) => value >= 0 && value <= 10_000, { error: 'a number from 0 to 10000' })),
    0,
  ),
  /** On 127.0.0.1. Default 0: a free one. */
  port: z._default(wholeNumber(0, 65_535), 0),
};

const stateSchema = z.object(stateShape);
const appSchema = z.object(appShape);
const platformSchema = z.strictObject({ ...stateShape, ...appShape, ...serverShape });

export type StateOptions = z.input<typeof stateSchema>;
export type ResolvedStateOptions = z.output<typeof stateSchema>;

export type AppOptions = z.input<typeof appSchema>;
export type ResolvedAppOptions = z.output<typeof appSchema>;

export type PlatformOptions = z.input<typeof platformSchema>;
export type ResolvedPlatformOptions = z.output<typeof platformSchema>;

/** The options with their defaults. Throws a `TypeError` that names every wrong option: expected, got. */
export function checkOptions(options: PlatformOptions): ResolvedPlatformOptions {
  return parsed(platformSchema, options);
}

export function checkStateOptions(options: StateOptions): ResolvedStateOptions {
  return parsed(stateSchema, options);
}

export function checkAppOptions(options: AppOptions): ResolvedAppOptions {
  return parsed(appSchema, options);
}

function parsed<Output>(schema: z.ZodMiniType<Output, unknown>, options: unknown): Output {
  const result = z.safeParse(schema, options);
  if (result.success) return result.data;
  throw new TypeError(`wrong options of the sandbox platform: ${faultsOf(result.error, options).join('; ')}`);
}
