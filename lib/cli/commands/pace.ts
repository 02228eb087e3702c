import type { Command } from 'commander';
import { type Budget, lineSpacing } from '../../pace/budget.ts';
import { effectiveRate } from '../../pace/effective-rate.ts';
import { readPaceSettings } from '../../settings.ts';
import type { AddCommand } from '../command.ts';
import { exitCodes, shown, type Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';

type PaceFlags = { readonly pause?: true; readonly resume?: true; readonly json?: true };

/** `pace [--pause | --resume]`: the fleet's budget and what it has used. Reads the table, not the platform. */
export const addPace: AddCommand = (program, terminal, finish) => {
  program
    .command('pace')
    .description(
      'Show the budget that all senders share and how much of it they have used; pause or resume them.',
    )
    .option('--pause', 'stop every sender, within a second or so, until --resume')
    .option('--resume', 'let every sender send again')
    .option('--json', 'print the budget as one JSON value')
    .action(async (flags: PaceFlags, command: Command) => {
      if (flags.pause && flags.resume)
        command.error('error: expected one of --pause and --resume, got both', { exitCode: exitCodes.usage });
      finish(await showPace(flags, terminal));
    });
};

async function showPace(flags: PaceFlags, terminal: Terminal): Promise<number> {
  const { SYNC_TABLE: tableName, PLATFORM_BASE_URL, PLATFORM_RATE } = readPaceSettings(terminal.environment);
  if (tableName === undefined)
    throw new UsageError(
      'pace: expected SYNC_TABLE, the DynamoDB table that holds the budget, got nothing: without one each process has a budget of its own',
    );
  const { host } = new URL(PLATFORM_BASE_URL);
  const { createDynamoBudget } = await import('../../pace/dynamo-budget.ts');
  const item = createDynamoBudget({ tableName, host, environment: terminal.environment });
  const budget = await (flags.pause ? item.pause(Date.now()) : flags.resume ? item.resume() : item.read());
  const report = reportOf(budget, { host, rate: PLATFORM_RATE, nowMs: Date.now() });
  if (flags.json) terminal.out(JSON.stringify(report, undefined, 2));
  else for (const line of linesOf(report)) terminal.out(shown(line));
  return exitCodes.done;
}

type Report = ReturnType<typeof reportOf>;

function reportOf(budget: Budget, { host, rate, nowMs }: { host: string; rate: number; nowMs: number }) {
  const { tatMs, lowered, pausedAtMs, incidents, tally, breaker } = budget;
  // The rate of the senders, not the one that is set where this command runs.
  const configured = budget.rate ?? rate;
  const effective = effectiveRate(configured, lowered, nowMs);
  const toISO = (atMs: number | undefined) => (atMs === undefined ? null : new Date(atMs).toISOString());
  return {
    host,
    paused: pausedAtMs !== undefined,
    pausedAt: toISO(pausedAtMs),
    rate: configured,
    effectiveRate: effective,
    intervalMs: lineSpacing(configured, budget, nowMs).intervalMs,
    lowered: lowered === undefined ? null : { rate: lowered.rate, at: toISO(lowered.atMs) },
    incidents,
    /** While the platform is away: no jobs are taken until a probe is answered. */
    breaker:
      breaker === undefined
        ? null
        : { since: toISO(breaker.sinceMs), cause: breaker.cause, probeAt: toISO(breaker.probeAtMs) },
    /** How long a call made now would wait for its slot. */
    waitMs: Math.max(0, Math.round((tatMs ?? 0) - nowMs)),
    ...tally,
  };
}

function linesOf(report: Report): readonly string[] {
  const count = (value: number) => value.toLocaleString('en');
  const perSecond = (rate: number) => `${Number(rate.toFixed(3))} a second`;
  const lowered =
    report.lowered === null || report.effectiveRate === report.rate
      ? ''
      : `; now ${perSecond(report.effectiveRate)}, lowered after a 429 at ${report.lowered.at}`;
  const { breaker } = report;
  return [
    ...(breaker === null
      ? []
      : [
          `the platform has been away since ${breaker.since} (${breaker.cause}): workers take no jobs until a probe is answered; the next one is due at ${breaker.probeAt}`,
        ]),
    `${report.host}: ${report.paused ? `paused since ${report.pausedAt}; --resume lets senders send again` : 'open'}`,
    `rate: ${perSecond(report.rate)}${lowered}`,
    `wait: ${(report.waitMs / 1000).toFixed(1)} s for a call made now`,
    `slots: ${count(report.granted)} granted; of those reported so far, ${count(report.used)} used and ${count(report.wasted)} wasted; ${count(report.safeRate)} at the safe rate`,
    'a process reports its slots when it reserves the next ones, so its last ones are never reported',
    `calls: waited ${count(Math.round(report.waitedMs / 1000))} s in total; ${count(report.throttled)} throttled in ${count(report.incidents)} ${report.incidents === 1 ? 'incident' : 'incidents'}`,
  ];
}
