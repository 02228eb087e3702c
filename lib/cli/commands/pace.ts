import { createLedgerCheck } from '../../jobs/index.ts';
import { warnOfUnsharedTable } from '../../locations.ts';
import {
  type Budget,
  type BudgetItem,
  openBudget,
  readPaceStatus,
  resetBudget,
  type ThrottledOperation,
  throttledLine,
} from '../../pace/index.ts';
import { needed, readPaceSettings } from '../../settings.ts';
import { NEW_LEDGER, tableCheckOf } from '../../table/index.ts';
import type { FlagsOf, Run } from '../command.ts';
import { oneGiven } from '../errors/usage-error.ts';
import { number } from '../terminal/terminal.ts';

/** Shows or changes the fleet's budget. Uses the table, not the platform. */
export default (async (_, flags, terminal) => {
  const { pause, resume, reset, rate } = flags;
  const change = oneGiven({ '--pause': pause, '--resume': resume, '--reset': reset, '--rate': rate });
  const settings = readPaceSettings(terminal.environment);
  const { PLATFORM_BASE_URL, PLATFORM_RATE } = settings;
  const tableName = needed(settings, 'SYNC_TABLE');
  const { host } = new URL(PLATFORM_BASE_URL);
  const { environment } = terminal;
  warnOfUnsharedTable(environment, terminal.err);
  const item = await openBudget({ table: tableName, host, environment, attempts: ATTEMPTS });
  // A pause in a table that no worker reads would have no effect, so the table is checked before it is changed.
  const mustCheck = !environment['SYNC_TABLE'] || environment[NEW_LEDGER];
  const checkOf = environment[NEW_LEDGER] ? createLedgerCheck : tableCheckOf;
  if (change !== undefined && mustCheck) await checkOf(tableName, environment)();
  await setBudget(flags, item);
  const status = await readPaceStatus(item, PLATFORM_RATE);
  const report = reportOf(host, status);
  const throttled = status.throttledOperations;
  const operations = throttled.map(({ operation, sinceMs, refusedAtMs, effectiveRate: own, isProbing }) => ({
    operation,
    effectiveRate: own,
    probing: isProbing,
    since: new Date(sinceMs).toISOString(),
    refusedAt: new Date(refusedAtMs).toISOString(),
  }));
  return {
    json: operations.length === 0 ? report : { ...report, operations },
    words: linesOf(report, throttled),
  };
}) satisfies Run<'pace'>;

/** How many times each request to the table is sent at most: few times, since a user is waiting. */
const ATTEMPTS = 5;

/** How long slots that were reserved before a reset may still be used, in milliseconds. */
const RESET_AFTER_MS = 1_000;

async function setBudget({ pause, resume, reset, rate }: FlagsOf<'pace'>, item: BudgetItem): Promise<void> {
  const set = (some: Partial<Budget>) => item.change('set', (budget) => ({ ...budget, ...some }));
  if (pause) await set({ pausedAtMs: Date.now() });
  if (resume) await set({ pausedAtMs: undefined });
  if (reset) await item.change('reset', (budget) => resetBudget(budget, Date.now() + RESET_AFTER_MS));
  if (rate !== undefined) await set({ capRate: rate });
}

function reportOf(host: string, status: Awaited<ReturnType<typeof readPaceStatus>>) {
  const { pausedAtMs, incidents, tally, breaker, capRate } = status.budget;
  const { configuredRate, learned } = status;
  const toISO = (atMs: number | undefined) => (atMs === undefined ? null : new Date(atMs).toISOString());
  return {
    host,
    paused: pausedAtMs !== undefined,
    pausedAt: toISO(pausedAtMs),
    rate: status.cappedRate,
    ...(capRate === undefined ? {} : { cap: { rate: capRate, configuredRate } }),
    effectiveRate: status.effectiveRate,
    intervalMs: status.intervalMs,
    lowered: learned === undefined ? null : { rate: learned.rate, at: toISO(learned.atMs) },
    /** True while the platform throttles, so that one call is sent at a time until one succeeds. */
    ...(status.isProbing ? { probing: true } : {}),
    incidents,
    /** Set while the platform is unavailable: no jobs are taken until a probe succeeds. */
    breaker:
      breaker === undefined
        ? null
        : { since: toISO(breaker.sinceMs), cause: breaker.cause, probeAt: toISO(breaker.probeAtMs) },
    /** Milliseconds that a call would have to wait for its slot now. */
    waitMs: status.waitMs,
    ...tally,
  };
}

function linesOf(
  report: ReturnType<typeof reportOf>,
  throttled: readonly ThrottledOperation[],
): readonly string[] {
  const perSecond = (rate: number) => `${Number(rate.toFixed(3))} a second`;
  const lowered =
    report.lowered === null || (report.effectiveRate === report.rate && !report.probing)
      ? ''
      : `; now ${perSecond(report.effectiveRate)}, ${report.incidents === 0 ? 'rising since' : 'lowered after a 429 at'} ${report.lowered.at}${report.probing ? ', one call at a time until one succeeds' : ''}`;
  const { cap } = report;
  const capped =
    cap === undefined
      ? ''
      : cap.rate < cap.configuredRate
        ? `, set by --rate; the configured rate is ${perSecond(cap.configuredRate)}`
        : `, as configured; --rate ${cap.rate} has no effect, since it is not lower`;
  const { breaker } = report;
  return [
    ...(breaker === null
      ? []
      : [
          `the platform has been unavailable since ${breaker.since} (${breaker.cause}): workers take no jobs until a probe succeeds; the next probe is due at ${breaker.probeAt}`,
        ]),
    `${report.host}: ${report.paused ? `paused since ${report.pausedAt}; --resume lets workers send again` : 'not paused'}`,
    `rate: ${perSecond(report.rate)}${capped}${lowered}`,
    ...throttled.map(throttledLine),
    `wait: ${(report.waitMs / 1000).toFixed(1)} s for a call made now`,
    `slots: ${number(report.granted)} granted; of those reported so far, ${number(report.used)} used and ${number(report.wasted)} wasted`,
    'a process reports its slots when it reserves more, so its last slots are never reported',
    `calls: waited ${number(Math.round(report.waitedMs / 1000))} s in total; ${number(report.throttled)} throttled in ${number(report.incidents)} ${report.incidents === 1 ? 'incident' : 'incidents'}`,
  ];
}
