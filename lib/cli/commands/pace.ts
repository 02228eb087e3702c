import type { Command } from 'commander';
import { type Budget, lineSpacing } from '../../pace/budget.ts';
import { effectiveRate } from '../../pace/effective-rate.ts';
import { readPaceSettings } from '../../settings.ts';
import type { AddCommand } from '../command.ts';
import { exitCodes, shown, type Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';

type PaceFlags = { readonly pause?: true; readonly resume?: true; readonly json?: true };

/** `pace [--pause | --resume]`: the fleet's budget and what it has used. Asks the table, not the platform. */
export const addPace: AddCommand = (program, terminal, finish) => {
  program
    .command('pace')
    .description('The budget that all senders share, and what they have used of it.')
    .option('--pause', 'let no sender send, from a second or so on, until --resume')
    .option('--resume', 'let them send again')
    .option('--json', 'print one JSON value')
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
  const told = tell(budget, { host, rate: PLATFORM_RATE, nowMs: Date.now() });
  if (flags.json) terminal.out(JSON.stringify(told, undefined, 2));
  else for (const line of linesOf(told)) terminal.out(shown(line));
  return exitCodes.done;
}

type Told = ReturnType<typeof tell>;

function tell(budget: Budget, { host, rate, nowMs }: { host: string; rate: number; nowMs: number }) {
  const { tatMs, lowered, pausedAtMs, incidents, tally } = budget;
  // The rate of those who send counts, not that of whoever looks.
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
    /** How long a call that comes now waits for its slot. */
    waitMs: Math.max(0, Math.round((tatMs ?? 0) - nowMs)),
    ...tally,
  };
}

function linesOf(told: Told): readonly string[] {
  const count = (value: number) => value.toLocaleString('en');
  const perSecond = (rate: number) => `${Number(rate.toFixed(3))} a second`;
  const lowered =
    told.lowered === null || told.effectiveRate === told.rate
      ? ''
      : `, ${perSecond(told.effectiveRate)} now: lowered after a 429 at ${told.lowered.at}`;
  return [
    `${told.host}: ${told.paused ? `paused since ${told.pausedAt}; --resume lets senders send again` : 'open'}`,
    `rate: ${perSecond(told.rate)}${lowered}`,
    `wait: ${(told.waitMs / 1000).toFixed(1)} s for a call that comes now`,
    `slots: ${count(told.granted)} granted; of those whose end is known ${count(told.used)} used and ${count(told.wasted)} wasted; ${count(told.safeRate)} at the safe rate`,
    'a process tells what became of its slots when it reserves the next: of its last ones nobody knows',
    `calls: waited ${count(Math.round(told.waitedMs / 1000))} s in all; ${count(told.throttled)} throttled in ${count(told.incidents)} ${told.incidents === 1 ? 'incident' : 'incidents'}`,
  ];
}
