import type { Logger } from 'pino';
import type { InHand, ProblemName } from './base/aws/index.ts';
import { once, sleep } from './base/index.ts';
import { warnOfUnsharedTable } from './locations.ts';
import { createLogger } from './logger.ts';
import {
  type Breaker,
  type Budget,
  type BudgetItem,
  createFleetBreaker,
  createLocalPace,
  createMemoryBudget,
  type OpenBreaker,
  openBudget,
  openFleetPace,
  type Pace,
  type PaceCounts,
} from './pace/index.ts';
import {
  callOutcome,
  countCalls,
  fixedToken,
  notifyAll,
  openCalls,
  openStoredToken,
  probePlatform,
  type TokenSource,
} from './platform/http/index.ts';
import type { Call, Observe, PlatformEvent, RetryLimits, TrackSent } from './platform/index.ts';
import { type Environment, readSettings, type Settings } from './settings.ts';
import { openStore, type Store } from './store/index.ts';
import { type CheckTable, tableCheckOf } from './table/index.ts';

/** What commands and functions use to work: settings, calls with a pace, the breaker, counters, log and store. */
export type Session = {
  readonly environment: Environment;
  readonly settings: Settings;
  readonly call: Call;
  readonly callWith: (retry: Partial<RetryLimits>) => Call;
  /** Stops jobs while the platform is unavailable. With a table, the fleet shares it. */
  readonly breaker: Breaker;
  readonly paceCounts: () => PaceCounts;
  readonly callCounts: ReturnType<typeof countCalls>['counts'];
  /** Counts the calls of this process that have prices. */
  readonly paid: ReturnType<typeof countCalls>['paid'];
  readonly logger: Logger;
  readonly inHand?: InHand | undefined;
  /** Throws if the store belongs to another table; then the caller must send nothing. */
  readonly checkTable: CheckTable;
  readonly store: () => Promise<Store>;
};

type SessionOptions = {
  readonly environment: Environment;
  /** Prints warnings, and the lines of the log unless `log` is set. */
  readonly err: (line: string) => void;
  readonly log?: ((line: string) => void) | undefined;
  /** Set if a user is watching at a terminal. Default: not set. */
  readonly screen?: object | undefined;
  /**
   * How slots of the fleet's budget are reserved. `single`: one at a time, for callers that can wait, such as a
   * snapshot. Default: `batch`.
   */
  readonly reserve?: 'single' | 'batch';
  /** Records the work in progress. Default: it is not recorded. */
  readonly inHand?: InHand;
  /**
   * Without SYNC_TABLE: whether this process paces itself, instead of sharing the pace with other commands on the
   * same store. Default: false.
   */
  readonly hasOwnPace?: boolean;
  /** Registers each call that was sent and that stopping the process does not cancel. Default: not registered. */
  readonly trackSent?: TrackSent;
  readonly observe?: Observe;
  /** Called when jobs are stopped because the platform is unavailable or refuses the token. */
  readonly onUnavailable?: ((open: OpenBreaker) => void) | undefined;
};

/**
 * If a user is watching, calls to a platform that cannot be reached give up after this time, in milliseconds.
 */
const MAX_UNREACHED_MS = 6_000;

/** Opens a session from the environment. If a setting is invalid, throws `SettingsError` before anything is opened. */
export function openSession(given: SessionOptions): Session {
  const { environment, err } = given;
  const settings = readSettings(environment);
  const hasOwnPace = given.hasOwnPace === true && !environment['SYNC_TABLE'];
  if (!hasOwnPace) warnOfUnsharedTable(environment, err);
  const logger = createLogger(settings.LOG_LEVEL, given.log ?? err);
  const { observe, counts, paid } = countCalls();
  const stored = storedIn(settings, given);
  const budget = hasOwnPace
    ? undefined
    : budgetOf(settings, environment, stored.checkTable, (seen) => breaker.onBudget(seen));
  const ended: Observe = (event) =>
    event.kind === 'request' && breaker.ended(callOutcome(event.failure), event.durationMs);
  const parts = { host: new URL(settings.PLATFORM_BASE_URL).host, logger, budget };
  const pace = paceOf(settings, parts, given);
  const options = {
    baseUrl: settings.PLATFORM_BASE_URL,
    token: tokenOf(settings, environment),
    tokenHeader: settings.PLATFORM_TOKEN_HEADER,
    pace,
    timeoutMs: settings.PLATFORM_TIMEOUT_MS,
    maxResponseBytes: settings.PLATFORM_MAX_RESPONSE_BYTES,
    inHand: given.inHand,
    trackSent: given.trackSent,
    observe: notifyAll([observe, logCalls(logger), ended, ...(given.observe ? [given.observe] : [])]),
    proxyEnv: environment,
    retry: given.screen === undefined ? {} : { unreachedMs: MAX_UNREACHED_MS },
  };
  const callWith = openCalls(options);
  const call = callWith();
  const breaker = breakerOf(parts, call, given.onUnavailable);
  const calls = { call, callWith, breaker, paid, callCounts: counts, paceCounts: pace.counts };
  return { environment, settings, ...calls, logger, inHand: given.inHand, ...stored };
}

/** The store, and the check that it belongs to this table. */
function storedIn({ SYNC_STORE, SYNC_TABLE: table }: Settings, { environment, hasOwnPace }: SessionOptions) {
  const store = once(() => openStore(SYNC_STORE, { s3: environment }));
  // The client of `platform-sync/platform` may have a table, but has no store.
  const isChecked = table !== undefined && !hasOwnPace;
  const checkTable = isChecked ? tableCheckOf(table, environment, store) : async () => undefined;
  return { store, checkTable };
}

/** The budget in the table, opened by the first call; undefined if no table is set. */
function budgetOf(
  { PLATFORM_BASE_URL, SYNC_TABLE: table }: Settings,
  environment: Environment,
  check: CheckTable,
  onBudget: (budget: Budget) => void,
) {
  if (table === undefined) return undefined;
  const { host } = new URL(PLATFORM_BASE_URL);
  return once(() => openBudget({ table, host, environment, onBudget, check }));
}

type Parts = {
  readonly host: string;
  readonly logger: Logger;
  readonly budget: ReturnType<typeof budgetOf>;
};

/**
 * The breaker of the fleet or, without a table, of this process. It reads nothing, and loads no SDK, until a job is
 * about to be taken.
 */
const breakerOf = (
  { host, budget, logger }: Parts,
  call: Call,
  onUnavailable: SessionOptions['onUnavailable'],
): Breaker =>
  createFleetBreaker({
    item: budget === undefined ? createMemoryBudget() : budgetLater(budget),
    probe: () => probePlatform(call),
    clock: { now: Date.now, steady: () => performance.now(), sleep },
    onOpen(open) {
      logger.warn({ host, open }, 'the platform is unavailable: no jobs are taken');
      onUnavailable?.(open);
    },
    onClosed: (open) => logger.info({ host, open }, 'the platform is available again'),
  });

const budgetLater = (open: () => Promise<BudgetItem>): BudgetItem => ({
  read: async () => (await open()).read(),
  change: async (...given) => (await open()).change(...given),
});

/** The fleet's pace if a table is set, otherwise the pace of this process by itself. */
function paceOf(
  settings: Settings,
  { host, logger, budget }: Parts,
  { reserve = 'batch' }: SessionOptions,
): Pace {
  const limits = {
    rate: settings.PLATFORM_RATE,
    ceiling: settings.PLATFORM_RATE_CEILING,
    concurrency: settings.PLATFORM_CONCURRENCY,
    maxWaitMs: settings.PLATFORM_MAX_WAIT_MS,
  };
  if (budget === undefined) return createLocalPace(limits);
  return openFleetPace({
    ...limits,
    budget,
    reserve,
    onTableUnavailable: (err) =>
      logger.warn(
        { err, problem: 'TableUnavailable' satisfies ProblemName },
        'table unavailable: nothing is sent',
      ),
    onTableAvailable: () => logger.info('table available again'),
    onLineSetBack: () =>
      logger.warn({ host }, 'the reservation line was moved back: a wrong clock had moved it ahead'),
    onClockOff: (off) =>
      logger.warn(off, 'the clock of this machine is wrong: the pace uses the time of the table'),
  });
}

function tokenOf(
  { PLATFORM_TOKEN: token, PLATFORM_TOKEN_SECRET: location = '' }: Settings,
  environment: Environment,
): TokenSource {
  return token === undefined ? openStoredToken({ location, environment }) : fixedToken(token);
}

/**
 * Logs the events of calls: problems as warnings, others at lower levels. Logs only the first odd response of an
 * operation.
 */
function logCalls(logger: Logger): Observe {
  const odd = new Set<string>();
  return ({ kind, ...facts }) => {
    if (kind === 'odd' && odd.size === odd.add(facts.operation).size) return;
    logger[LEVELS[kind]](facts, kind);
  };
}

const LEVELS = {
  request: 'debug',
  waited: 'trace',
  retry: 'warn',
  throttled: 'warn',
  odd: 'info',
} as const satisfies Readonly<Record<PlatformEvent['kind'], string>>;
