import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from 'aws-lambda';
import pino from 'pino';
import { createInHand, type InHand, traced } from '../lib/base/aws/index.ts';
import { createLogger } from '../lib/logger.ts';
import { writeLine } from './log-lines.ts';

/** The wrapper around each invocation of a function. */
export type Invocations = {
  /** The work in progress, for the log line when time is up. */
  readonly inHand: InHand;
  /**
   * Runs the work of one invocation. Shortly before the time limit, at which Lambda kills the process silently, it
   * logs the work in progress and aborts the signal. It logs the start, the end and any error, which it rethrows.
   * Each line in between has the id of the `request`.
   */
  readonly run: <T>(invocation: Invocation, act: (nearEnd: AbortSignal) => Promise<T>) => Promise<T>;
};

type Invocation = Pick<Context, 'getRemainingTimeInMillis'> & Partial<Pick<Context, 'awsRequestId'>>;

/** The reason of the signal: the invocation is about to be killed. */
class TimeUpError extends Error {
  override readonly name = 'TimeUpError';

  constructor(limitMs: number) {
    super(
      `the time limit is almost reached: ${Math.round(limitMs / 1_000)} s were left at the start of this invocation`,
    );
  }
}

/**
 * How long before the time limit the signal is aborted, in milliseconds; at most `MAX_SHARE` of the limit.
 */
const BEFORE_END_MS = 10_000;
const MAX_SHARE = 1 / 3;

/** How many items of work in progress are logged at most. */
const MAX_LISTED = 20;

/** Creates the wrapper. One is enough for a process, since Lambda gives it only one invocation at a time. */
export function createInvocations(write: (line: string) => void = writeLine): Invocations {
  // The log level is read before the settings, since reading these may fail.
  const { LOG_LEVEL = '' } = process.env;
  const logger = createLogger(LOG_LEVEL in pino.levels.values ? LOG_LEVEL : 'info', write);
  const inHand = createInHand();
  return {
    inHand,
    run: ({ getRemainingTimeInMillis, awsRequestId: request }, act) =>
      traced('invocation', { request }, async () => {
        const limitMs = getRemainingTimeInMillis();
        const facts = () => ({ inHand: inHand.list(MAX_LISTED), count: inHand.size() });
        const tookMs = () => limitMs - getRemainingTimeInMillis();
        const nearEnd = new AbortController();
        const timer = setTimeout(
          () => {
            logger.warn({ leftMs: getRemainingTimeInMillis(), ...facts() }, 'time is nearly up');
            nearEnd.abort(new TimeUpError(limitMs));
          },
          limitMs - Math.min(BEFORE_END_MS, limitMs * MAX_SHARE),
        );
        logger.info({ leftMs: limitMs }, 'invocation started');
        try {
          const result = await act(nearEnd.signal);
          logger.info({ tookMs: tookMs() }, 'invocation ended');
          return result;
        } catch (err) {
          logger.error({ tookMs: tookMs(), err, ...facts() }, 'invocation failed');
          throw err;
        } finally {
          clearTimeout(timer);
        }
      }),
  };
}

/**
 * Maximum wait of `openAtStart`, in milliseconds: Lambda gives a process 10 s to start, and restarts it if it takes
 * longer.
 */
const MAX_OPEN_MS = 3_000;

/**
 * Opens resources that all events share while Lambda initializes the process, since a full CPU is available then.
 * If that fails or takes too long, because a service is unavailable, the first event opens them or waits for them.
 */
export async function openAtStart(open: () => Promise<unknown>): Promise<void> {
  await Promise.race([open(), delay(MAX_OPEN_MS, undefined, { ref: false })]).catch(() => undefined);
}
