import { createFleetPace } from '../../lib/pace/fleet-pace.ts';
import { type Pace, PaceWaitError, type Slot } from '../../lib/pace/pace.ts';
import { createTableBudget } from '../../lib/pace/stored-budget.ts';
import { randomFor } from '../../lib/sandbox/platform/records/random.ts';
import { awaitDate, type DateSeen } from '../../lib/table/open-table.ts';
import type { Table } from '../../lib/table/table.ts';
import { TableError } from '../../lib/table/table-error.ts';
import { createMemoryTable } from '../table/memory-table.ts';
import { createVirtualClock } from './virtual-clock.ts';

/** One worker, with busy loops of calls from `startsMs` until `endsMs`. Its clock is off by `skewMs`. */
export type SimulatedWorker = {
  readonly skewMs?: number;
  /** Additional error of its clock at a time: because it drifts, or is set. */
  readonly skewAt?: (atMs: number) => number;
  readonly concurrency?: number;
  /** Number of concurrent loops, each of which makes one call after another. */
  readonly loops?: number;
  readonly startsMs?: number;
  readonly endsMs?: number;
  /** When the worker stops, as if by `kill -9`, with the slots that it holds. */
  readonly diesMs?: number;
  /** The time between the end of a call and the next one of its loop. */
  readonly restMs?: number;
  readonly reserve?: 'single' | 'batch';
  readonly maxWaitMs?: number;
  /** The operation that it calls. Default: one without a name. */
  readonly operation?: string;
  /** How long a call prepares before it leaves, like a job that writes SENT. Default: no preparation. */
  readonly prepareMs?: (call: number) => number;
};

export type FleetPlan = {
  readonly rate: number;
  readonly ceiling?: number;
  readonly workers: readonly SimulatedWorker[];
  readonly durationMs: number;
  /** The duration of a call; default 20 ms. */
  readonly callMs?: (call: number) => number;
  /** The duration of a request to the table, there and back; default 6 ms. */
  readonly responseMs?: (request: number) => number;
  /** Whether the table executes a request but its response is lost. Default: never. */
  readonly isLost?: (request: number, atMs: number) => boolean;
  /** How late a timer wakes; default 0. */
  readonly lateness?: () => number;
  /** Whether the table is unavailable: requests to it then fail. Default: always available. */
  readonly isUnavailable?: (atMs: number, worker: number) => boolean;
  /** How long a request to an unavailable table takes to fail. Default: a second, like its timeout. */
  readonly unavailableMs?: number;
  /** The platform's response to a call that leaves: a 429's `Retry-After`, or undefined for any other response. */
  readonly refuse?: (atMs: number, operation: string) => number | 'absent' | undefined;
  /** Called for each call that leaves, with its wait and the rate that its worker uses. */
  readonly onCall?: (call: {
    readonly atMs: number;
    readonly waitedMs: number;
    readonly effectiveRate: number;
  }) => void;
  /** Whether the table's responses have a `Date`. Default: no. */
  readonly hasDates?: boolean;
  /** The error of the `Date` of a response in milliseconds, or `absent` for a response without `Date`. Default: no error. */
  readonly dateOff?: (atMs: number, worker: number) => number | 'absent';
  /** The table with the budget of `HOST`; default: an empty one. */
  readonly table?: Table;
};

/** The platform's host. */
export const HOST = 'platform';

/** A call that left, by the platform's clock. */
export type Departure = {
  readonly worker: number;
  readonly atMs: number;
  readonly slot: Slot;
  readonly refused: boolean;
};

type Connection = {
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly index: number;
  readonly now: () => number;
  readonly sawDate: (seen: DateSeen) => void;
};

/** An arbitrary time of a wall clock. */
export const EPOCH_MS = 1_795_276_800_000;

/** Runs a fleet over one budget in virtual time, and returns the calls that left, with their times. */
export async function simulateFleet(plan: FleetPlan) {
  const clock = createVirtualClock({ lateness: plan.lateness });
  const table = plan.table ?? createMemoryTable();
  const dice = randomFor(1, 'overtaken');
  const departures: Departure[] = [];
  const refusals: { readonly worker: number; readonly waitMs: number }[] = [];
  const outages: number[] = [];
  const clocksOff: { readonly worker: number; readonly offMs: number }[] = [];
  const requests = { reads: 0, writes: 0 };
  const alive = (worker: SimulatedWorker) => clock.now() < (worker.diesMs ?? Number.POSITIVE_INFINITY);

  const overNetwork = async <T>(
    { sleep, index, now, sawDate }: Connection,
    kind: keyof typeof requests,
    act: () => Promise<T>,
  ): Promise<T> => {
    requests[kind] += 1;
    if (plan.isUnavailable?.(clock.now(), index)) {
      await sleep(plan.unavailableMs ?? 1_000);
      throw new TableError('try', { kind: 'unreachable', code: 'ECONNREFUSED' });
    }
    const number = requests.reads + requests.writes;
    const halfMs = (plan.responseMs?.(number) ?? 6) / 2;
    const seen = awaitDate(now, clock.now);
    await sleep(halfMs);
    const result = await act();
    const offMs = plan.dateOff?.(clock.now(), index) ?? 0;
    const saidMs = EPOCH_MS + clock.now() + (offMs === 'absent' ? 0 : offMs);
    await sleep(halfMs);
    const dateMs = Math.floor(saidMs / 1000) * 1000;
    if (offMs !== 'absent') sawDate(seen(dateMs));
    if (plan.isLost?.(number, clock.now()))
      throw new TableError('try', { kind: 'unreachable', code: 'lost' });
    return result;
  };

  const work = async (worker: SimulatedWorker, index: number): Promise<Pace> => {
    // A dead worker never wakes.
    const sleep = async (ms: number, signal?: AbortSignal) => {
      await clock.sleep(ms, signal);
      if (!alive(worker)) await new Promise(() => {});
    };
    const now = () => EPOCH_MS + clock.now() + (worker.skewMs ?? 0) + (worker.skewAt?.(clock.now()) ?? 0);
    const listeners: ((seen: DateSeen) => void)[] = [];
    const connection: Connection = {
      sleep,
      index,
      now,
      sawDate: (seen) => {
        for (const listener of listeners) listener(seen);
      },
    };
    const item = createTableBudget({
      table: {
        ...table,
        get: (key) => overNetwork(connection, 'reads', () => table.get(key)),
        put: (...given) => overNetwork(connection, 'writes', () => table.put(...given)),
      },
      host: HOST,
      sleep,
      random: dice.next,
      onDate: plan.hasDates ? (listener) => void listeners.push(listener) : undefined,
    });
    const pace = createFleetPace({
      item,
      rate: plan.rate,
      ceiling: plan.ceiling,
      concurrency: worker.concurrency ?? 8,
      reserve: worker.reserve ?? 'batch',
      ...(worker.maxWaitMs === undefined ? {} : { maxWaitMs: worker.maxWaitMs }),
      now,
      steady: clock.now,
      sleep,
      onTableUnavailable: () => outages.push(index),
      onClockOff: (off) => clocksOff.push({ worker: index, ...off }),
    });
    const call = async (slot: Slot) => {
      const { effectiveRate } = pace.counts();
      plan.onCall?.({ atMs: clock.now(), waitedMs: slot.waitedMs, effectiveRate });
      const retryAfterMs = plan.refuse?.(clock.now(), worker.operation ?? '');
      departures.push({ worker: index, atMs: clock.now(), slot, refused: retryAfterMs !== undefined });
      // A refusal arrives immediately, however long calls take.
      await sleep(retryAfterMs === undefined ? (plan.callMs?.(departures.length) ?? 20) : 20);
      if (retryAfterMs !== undefined)
        await pace.throttled(slot, retryAfterMs === 'absent' ? undefined : retryAfterMs);
    };
    let calls = 0;
    const { prepareMs } = worker;
    const prepare =
      prepareMs &&
      (() => {
        calls += 1;
        return sleep(prepareMs(calls));
      });
    const loop = async () => {
      await sleep(worker.startsMs ?? 0);
      while (alive(worker) && clock.now() < (worker.endsMs ?? plan.durationMs)) {
        try {
          await pace.run(call, { prepare, operation: worker.operation });
          await sleep(worker.restMs ?? 0);
        } catch (error) {
          if (!(error instanceof PaceWaitError)) throw error;
          refusals.push({ worker: index, waitMs: error.waitMs });
          await sleep(error.waitMs);
        }
      }
    };
    const loops = Array.from({ length: worker.loops ?? 8 }, loop);
    if (worker.diesMs === undefined) await Promise.all(loops);
    return pace;
  };

  const all = Promise.all(plan.workers.map(work));
  await clock.run();
  const paces = await all;
  const budget = await createTableBudget({ table, host: HOST }).read();
  return { departures, refusals, outages, clocksOff, requests, budget, paces };
}

/** The maximum number of calls that left within one second. */
export function maxInASecond(departures: readonly Departure[]): number {
  const times = departures.map(({ atMs }) => atMs).toSorted((a, b) => a - b);
  let [first, max] = [0, 0];
  for (const [last, atMs] of times.entries()) {
    while ((times[first] ?? atMs) <= atMs - 1000) first += 1;
    max = Math.max(max, last - first + 1);
  }
  return max;
}
