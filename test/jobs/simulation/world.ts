import { newProcess, type Process } from './process.ts';
import { createSchedule, type Item, type Schedule, type ScheduleOptions, type Trouble } from './schedule.ts';

/** Something that leaves a process. */
export type Act<T> = {
  readonly label: string;
  readonly area: Trouble;
  /** What it does, at one moment of the world: nothing else happens until it has settled. */
  readonly perform: () => T | Promise<T>;
  /** The error if the act is not done, or is done and its response lost. Default: neither happens. */
  readonly failure?: () => Error;
  readonly signal?: AbortSignal | undefined;
  /** The earliest time at which it can be done; checked again and again. Default: at once. */
  readonly readyAtMs?: () => number;
  /** How long the response travels. Default: 0. */
  readonly travelMs?: (response: T) => number;
};

/** Processes and what they do: each act waits until the schedule picks it, and the dice decide its fate. */
export function createWorld(options: ScheduleOptions) {
  const schedule = createSchedule(options);
  const counts = { crashes: 0, pauses: 0 };

  const later = (delayMs: number, happen: () => unknown) => {
    const atMs = schedule.now() + delayMs;
    schedule.add({ process: undefined, readyAtMs: () => atMs, happen: async () => void (await happen()) });
  };

  const end = (process: Process) => {
    if (!process.isAlive) return;
    process.isAlive = false;
    for (const { orphan } of schedule.drop((item) => item.process === process)) {
      if (orphan !== undefined && schedule.dice.percent(50)) later(travelTime(schedule), orphan);
    }
    for (const onEnd of process.onEnd) onEnd();
  };

  const crash = (process: Process, when: string) => {
    if (!process.isAlive) return;
    schedule.log(process.name, `dies ${when}`);
    counts.crashes += 1;
    process.troubles += 1;
    process.hasDied = true;
    end(process);
  };

  const pause = (process: Process, when: string) => {
    schedule.log(process.name, `pauses ${when}`);
    counts.pauses += 1;
    process.troubles += 1;
    process.pausedUntilMs = schedule.now() + schedule.dice.pick([5_000, 40_000, 100_000, 1_000_000]);
  };

  const act = <T>(process: Process, given: Act<T>): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      // A dead process never gets a response.
      if (!process.isAlive) return;
      given.signal?.addEventListener('abort', () => reject(given.signal?.reason), { once: true });
      addAct({ process, given, resolve, reject }, { schedule, later, crash, pause });
    });

  const sleep = (process: Process, ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      if (!process.isAlive) return;
      if (signal?.aborted) return reject(signal.reason);
      const atMs = schedule.now() + ms;
      const item: Item = { process, readyAtMs: () => atMs, happen: resolve };
      const wake = () => {
        schedule.drop((each) => each === item);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', wake, { once: true });
      schedule.add(item);
    });

  return { ...schedule, counts, start: newProcess, end, crash, act, sleep, later };
}

export type World = ReturnType<typeof createWorld>;

type Requested<T> = {
  readonly process: Process;
  readonly given: Act<T>;
  readonly resolve: (response: T) => void;
  readonly reject: (error: unknown) => void;
};

type Powers = {
  readonly schedule: Schedule;
  readonly later: (delayMs: number, happen: () => unknown) => void;
  readonly crash: (process: Process, when: string) => void;
  readonly pause: (process: Process, when: string) => void;
};

/** Puts an act on the schedule; its fate is decided when its turn comes. */
function addAct<T>(requested: Requested<T>, powers: Powers): void {
  const { process, given, reject } = requested;
  const { schedule, crash, pause } = powers;
  const { meets, dice } = schedule;
  const { label, area, failure, readyAtMs = () => 0 } = given;
  const happen = async (): Promise<void> => {
    const pauses = process.isMortal && meets('pause');
    if (pauses && dice.percent(50)) {
      pause(process, `before ${label}`);
      return schedule.add(item);
    }
    const dies = process.isMortal && meets('crash');
    if (dies && dice.percent(50)) return crash(process, `before ${label}`);
    if (failure !== undefined && (process.isMortal || area === 'queue') && meets(area))
      return fail(requested, failure(), powers);
    schedule.log(process.name, label);
    try {
      const response = await given.perform();
      if (dies) return crash(process, `after ${label}`);
      if (pauses) pause(process, `after ${label}`);
      deliver(process, given.travelMs?.(response) ?? 0, () => requested.resolve(response), schedule);
    } catch (error) {
      deliver(process, 0, () => reject(error), schedule);
    }
  };
  const item: Item = { process, readyAtMs, happen, orphan: orphanOf(given) };
  schedule.add(item);
}

/** Delivers a response to a process: at once, or as something that happens later. */
function deliver(process: Process, delayMs: number, settle: () => void, { now, add, dice }: Schedule): void {
  const isAwake = process.pausedUntilMs <= now();
  const atMs = now() + delayMs;
  if (!process.isMortal || (delayMs === 0 && isAwake && !dice.percent(20))) settle();
  else add({ process, readyAtMs: () => atMs, happen: settle });
}

/** Fails an act for its process: the act was not done, or was done all the same, or will be done later. */
async function fail<T>(requested: Requested<T>, error: Error, { schedule, later }: Powers): Promise<void> {
  const { process, given, reject } = requested;
  const { area } = given;
  const fate = schedule.dice.pick(['undone', 'unanswered', 'late'] as const);
  schedule.log(process.name, `${given.label} fails, ${fate}`);
  process.troubles += 1;
  const orphan = orphanOf(given);
  const givenUpAfterMs = area === 'table' ? schedule.dice.pick([0, 5_000]) : 0;
  if (fate === 'unanswered') await orphan?.();
  if (fate === 'late' && orphan !== undefined) later(travelTime(schedule), orphan);
  deliver(process, givenUpAfterMs, () => reject(error), schedule);
}

/** An act whose response nobody waits for. What a queue delivers or deletes only counts with its response. */
const orphanOf = <T>({ area, perform }: Act<T>): (() => Promise<unknown>) | undefined =>
  area === 'queue' ? undefined : async () => Promise.resolve(perform()).catch(() => undefined);

/** How long something may still be under way after nobody waits for it, in milliseconds. */
const travelTime = ({ dice }: Schedule) => dice.pick([0, 10, 1_000, 70_000]);
