import { createProcessPace } from '../../lib/pace/fleet-pace.ts';
import type { Pace } from '../../lib/pace/pace.ts';
import { createPlatform } from '../../lib/platform/open-calls.ts';
import { fixedToken } from '../../lib/platform/token.ts';
import { type Bench, bounded, percent, type Row } from './bench.ts';
import { type FleetPlan, type FleetRun, runFleet, TICK_MS } from './pace-fleet.ts';
import { limitRows } from './pace-limits.ts';
import { scenarioRows } from './pace-scenario-rows.ts';
import { type SandboxProcess, startSandboxProcess } from './sandbox-process.ts';

/** Seconds of a run. A shorter run only shows that the bench works; a measurement takes at least a minute. */
const SECONDS = Number(process.env['PACE_SECONDS'] || 60);

const WORKERS = 20;
const RATE = 50;

/**
 * Dollars per million on-demand units in us-east-1 on 2026-11-21. Source:
 * https://aws.amazon.com/dynamodb/pricing/on-demand/
 */
const PRICE = { writes: 0.625, reads: 0.125 };

/** How much is used of a platform's limit that is 2 % above the rate: by one busy process, then by a fleet of them. */
export const pace: Bench = {
  name: 'pace',
  about:
    'Processes against a stand-in for the platform whose limit is 2 % above the rate. Used leaves out what is down, and the time until half of the rate is back. `PACE_SCENARIO=429` runs the scenarios whose names contain it.',
  run: async () =>
    process.env['PACE_SCENARIO'] === undefined
      ? [...(await limitRows()), ...(await comparisons()), ...(await scenarioRows())]
      : scenarioRows(),
};

const comparisons = async (): Promise<readonly Row[]> => [
  ...(await oneProcess(10)),
  ...(await oneProcess(50)),
  ...(await fleetOf()),
  ...(await afterOne429()),
];

async function oneProcess(limit: number): Promise<readonly Row[]> {
  await using sandbox = await startSandboxProcess('--calculations', '100', '--rate', String(limit));
  const platform = platformOf(sandbox, createProcessPace({ rate: limit * 0.98, concurrency: 8 }));
  const untilMs = performance.now() + SECONDS * 1000;
  let used = 0;
  const keepBusy = async () => {
    while (performance.now() < untilMs) {
      await platform.calculations.search({ sort: { field: 'id', ascending: true }, limit: 1 });
      if (performance.now() < untilMs) used += 1;
    }
  };

  await Promise.all(Array.from({ length: 8 }, keepBusy));

  const { byOperation, mostInOneSecond } = await sandbox.counts();
  const refused = byOperation['searchCalculations']?.['429'] ?? 0;
  const share = used / (limit * SECONDS);
  const at = `limit ${limit}/s, PLATFORM_RATE ${limit * 0.98}, ${SECONDS} s`;
  return [
    bounded(`share of the limit used (${at})`, percent(share), 'at least 97 %', share >= 0.97),
    bounded(`refused with 429 (${at})`, String(refused), 'none', refused === 0),
    bounded(
      `most in any sliding second (${at})`,
      String(mostInOneSecond),
      `at most ${limit}`,
      mostInOneSecond <= limit,
    ),
  ];
}

const platformOf = ({ settings }: SandboxProcess, pace: Pace) =>
  createPlatform({
    baseUrl: settings['PLATFORM_BASE_URL'] ?? '',
    token: fixedToken(settings['PLATFORM_TOKEN'] ?? ''),
    pace,
  });

async function fleetOf(): Promise<readonly Row[]> {
  const all = { rate: RATE, seconds: SECONDS };
  const busy = await runFleet({ ...all, busy: WORKERS, idle: 0, dying: 0 });
  const half = await runFleet({ ...all, busy: WORKERS / 2, idle: WORKERS / 4, dying: WORKERS / 4 });
  return [
    ...rowsOf(busy, { who: `${WORKERS} busy workers`, least: 0.95, maxRefused: 0 }),
    ...rowsOf(half, {
      who: `${WORKERS / 2} busy, ${WORKERS / 4} idle, ${WORKERS / 4} killed and replaced`,
      least: 0.9,
      maxRefused: 0.005,
    }),
    ...costOf(busy),
  ];
}

type Demanded = { readonly who: string; readonly least: number; readonly maxRefused: number };

function rowsOf(run: FleetRun, { who, least, maxRefused }: Demanded): readonly Row[] {
  const at = `shared budget; ${who}, ${RATE}/s, ${SECONDS} s`;
  const used = run.used / (RATE * SECONDS);
  const refused = run.refused / (run.used + run.refused);
  return [
    bounded(`share of the budget used (${at})`, percent(used), `at least ${percent(least)}`, used >= least),
    bounded(
      `refused with 429 (${at})`,
      `${run.refused}, ${(refused * 100).toFixed(2)} %`,
      maxRefused === 0 ? 'none' : `at most ${percent(maxRefused)}`,
      refused <= maxRefused,
    ),
    { measured: `most in any sliding second (${at})`, value: String(run.mostInOneSecond) },
    { measured: `slots wasted (${at})`, value: String(run.wasted) },
  ];
}

function costOf({ used, writes, reads }: FleetRun): readonly Row[] {
  const perThousand = (count: number) => (count / used) * 1000;
  // A million calls take a thousand times the counts of a thousand; prices are for a million.
  const dollars = (perThousand(writes) * PRICE.writes + perThousand(reads) * PRICE.reads) / 1000;
  return [
    bounded(
      'DynamoDB writes per 1,000 requests',
      perThousand(writes).toFixed(0),
      'at most 150',
      perThousand(writes) <= 150,
    ),
    { measured: 'DynamoDB reads per 1,000 requests', value: perThousand(reads).toFixed(0) },
    {
      measured: `cost of a million calls ($${PRICE.writes} and $${PRICE.reads} a million on-demand writes and reads, us-east-1, 2026-11-21)`,
      value: `$${dollars.toFixed(3)}`,
    },
  ];
}

/** The time in the run at which the 429 is forced. */
const FORCED_AT_MS = 5_000;

/**
 * Another client uses up one second of the platform's limit. The fleet gets a 429, waits as requested, and continues at
 * 0.95 of the rate.
 */
async function afterOne429(): Promise<readonly Row[]> {
  const run = await runFleet({
    rate: RATE,
    seconds: SECONDS,
    busy: WORKERS,
    idle: 0,
    dying: 0,
    duringRun: stranger,
  });
  const ticks = [...run.succeededByTick].toSorted(([a], [b]) => a - b);
  const gaps = ticks.slice(1).map(([tick], at) => ({ tick, silent: tick - (ticks[at]?.[0] ?? 0) - 1 }));
  const { tick = 0, silent = 0 } = gaps.toSorted((a, b) => b.silent - a.silent)[0] ?? {};
  const lastTick = Math.floor((run.startAtMs + SECONDS * 1000) / TICK_MS);
  const succeeded = ticks.reduce(
    (sum, [each, count]) => (each >= tick && each < lastTick ? sum + count : sum),
    0,
  );
  const rate = succeeded / (((lastTick - tick) * TICK_MS) / 1000);
  const at = `shared budget; ${WORKERS} busy workers, one forced 429 in ${SECONDS} s`;
  const lowered = 0.95 * RATE;
  return [
    { measured: `silence after it (${at})`, value: `${((silent * TICK_MS) / 1000).toFixed(1)} s` },
    { measured: `refused with 429 (${at})`, value: String(run.refused) },
    bounded(
      `requests a second after it (${at})`,
      rate.toFixed(1),
      `at least ${(0.9 * lowered).toFixed(1)}: 0.95 of the rate, less 10 %`,
      rate >= 0.9 * lowered,
    ),
  ];
}

const stranger: NonNullable<FleetPlan['duringRun']> = async ({ settings }, startAtMs) => {
  await new Promise((resolve) => setTimeout(resolve, startAtMs + FORCED_AT_MS - Date.now()));
  const url = `${settings['PLATFORM_BASE_URL']}/api/data/v1/data-files/1/details`;
  await Promise.all(Array.from({ length: RATE }, () => fetch(url).then((response) => response.text())));
};
