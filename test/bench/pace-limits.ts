import { createFixedWindow, createSlidingWindow } from '../../lib/sandbox/platform/options.ts';
import { type SimulatedWorker, simulateFleet } from '../pace/simulated-fleet.ts';
import { bounded, percent, type Row } from './bench.ts';

const MINUTE = 60_000;
const RATE = 10;
const WORKERS = 8;

type Limit = {
  readonly allows: string;
  /** Requests a second. */
  readonly limit: number;
  readonly create: () => Pick<ReturnType<typeof createSlidingWindow>, 'arrive'>;
  readonly says: 'Retry-After' | 'nothing';
};

const limits: readonly Limit[] = [
  { allows: '6 in any second', limit: 6, create: () => createSlidingWindow(6), says: 'Retry-After' },
  { allows: '3 in any second', limit: 3, create: () => createSlidingWindow(3), says: 'Retry-After' },
  { allows: '1 in any second', limit: 1, create: () => createSlidingWindow(1), says: 'Retry-After' },
  { allows: '6 in any second', limit: 6, create: () => createSlidingWindow(6), says: 'nothing' },
  {
    allows: '100 in each minute',
    limit: 100 / 60,
    create: () => createFixedWindow(100, MINUTE),
    says: 'nothing',
  },
];

/** How much a fleet uses of an unknown limit that is lower than its configured rate, over an hour of virtual time. */
export async function limitRows(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const limit of limits) rows.push(await limitRow(limit));
  for (const says of ['Retry-After', 'nothing'] as const) rows.push(await quotaRow(says));
  return rows;
}

const HOUR = 60 * MINUTE;
const LEARNED_MS = 2 * MINUTE;

async function limitRow({ allows, limit, create, says }: Limit): Promise<Row> {
  const limiter = create();
  const { departures } = await simulateFleet({
    rate: RATE,
    workers: Array.from({ length: WORKERS }, () => ({})),
    durationMs: HOUR,
    refuse(atMs) {
      const decision = limiter.arrive(atMs);
      if (decision.kind === 'admitted') return undefined;
      return says === 'nothing' ? 'absent' : Math.ceil(decision.waitMs / 1000) * 1000;
    },
  });
  const late = departures.filter(({ atMs }) => atMs >= LEARNED_MS && atMs < HOUR);
  const refused = late.filter((each) => each.refused).length;
  const used = (late.length - refused) / (limit * ((HOUR - LEARNED_MS) / 1000));
  return bounded(
    `of an unknown limit: ${allows}, ${says === 'nothing' ? 'no `Retry-After`' : '`Retry-After`'} (PLATFORM_RATE ${RATE}, ${WORKERS} workers, an hour of virtual time after two minutes)`,
    `${percent(used)} used; ${((100 * refused) / late.length).toFixed(2)} % refused`,
    'at least 90 %; at most 1 %',
    used >= 0.9 && refused / late.length <= 0.01,
  );
}

/** A run in which half of the workers call an operation that is always rejected. */
async function quotaRow(says: Limit['says']): Promise<Row> {
  const workers: readonly SimulatedWorker[] = Array.from({ length: WORKERS }, (_, at) => ({
    operation: at % 2 === 0 ? 'score' : 'run-function',
    maxWaitMs: 20_000,
  }));
  const { departures } = await simulateFleet({
    rate: RATE,
    workers,
    durationMs: 10 * MINUTE,
    refuse: (_, operation) => {
      if (operation !== 'score') return undefined;
      return says === 'nothing' ? 'absent' : 1_000;
    },
  });
  const others = departures.filter(({ refused, atMs }) => !refused && atMs < 10 * MINUTE).length;
  const used = others / (RATE * 600);
  return bounded(
    `while one operation is always refused, ${says === 'nothing' ? 'no `Retry-After`' : '`Retry-After: 1`'}: of the rate, by the others (${RATE}/s, ${WORKERS} workers, ten minutes of virtual time)`,
    percent(used),
    'at least 90 %',
    used >= 0.9,
  );
}
