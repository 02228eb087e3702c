import { createVirtualClock } from '../../pace/virtual-clock.ts';
import { createDice, type Dice } from '../dice.ts';
import type { Plan } from './plan.ts';
import type { Border, Fate, Spell } from './spells.ts';
import { watchZlib } from './zlib-work.ts';

/** A process of the world. If it is not mortal, it never crashes or pauses, and only its requests to the queue can fail. */
export type Process = {
  readonly name: string;
  readonly isMortal: boolean;
  isAlive: boolean;
  /** Until this time it makes no progress, and no response reaches it. */
  pausedUntilMs: number;
  /** How far its clock was set wrong. For processes that share a clock, `machine` has the value. */
  clockOffMs: number;
  /** The number of its faults so far. */
  troubles: number;
  /** Callbacks for the end of the process, normal or not. */
  readonly onEnd: (() => void)[];
};

const newProcess = (name: string, isMortal = true): Process => ({
  name,
  isMortal,
  isAlive: true,
  pausedUntilMs: 0,
  clockOffMs: 0,
  troubles: 0,
  onEnd: [],
});

/** A request of a process to a service other than the platform. */
export type Act<T> = {
  readonly label: string;
  readonly border: Exclude<Border, 'platform'>;
  /** The operation of the service, executed at one moment of the world. It must not wait. */
  readonly perform: () => T | Promise<T>;
  /** Creates the error of a request that got no response or was throttled. */
  readonly failure: (kind: 'unreachable' | 'busy') => Error;
  /** How long its sender waits for a response, in milliseconds. */
  readonly timeoutMs: number;
};

const START_MS = Date.parse('2026-11-21T09:00:00Z');

/** How long a request travels, in milliseconds: mostly a few. */
const travelMs = (dice: Dice) => dice.pick([1, 2, 2, 3, 5, 12]);
/** The values to which a clock's error can be set: a month behind, right again, a month ahead. */
const CLOCK_OFF_MS = [-31, 0, 31].map((days) => days * 86_400_000);
/** How many times more likely a clock is wrong at the start of a process than set at an act. */
const AT_START = 20;
const STOPPED_MS = [3_000, 45_000, 100_000] as const;

/**
 * A virtual clock, and processes on it. Computing takes no time; requests travel, timers are slightly late, processes
 * die and pause. Each process has its own dice, so that the order of events at one moment changes nothing.
 */
export function createWorld(plan: Plan) {
  const zlib = watchZlib();
  const dice = createDice(plan.seed ^ 0x5eed);
  const clock = createVirtualClock({
    underWay: zlib.underWay,
    isOnlyPromises: plan.snapshotsAtMs.length === 0,
  });
  const trace: string[] = [];
  const counts = { crashes: 0, stops: 0, faults: 0, clocksSet: 0 };
  const diceOf = new WeakMap<Process, Dice>();
  const clockDiceOf = new WeakMap<Process, Dice>();
  /** The clock that all users of SQLite share, as on one machine. */
  const machine = { clockOffMs: 0 };
  const running = new Set<Process>();
  const isCalm = () => clock.now() >= plan.calmFromMs;
  const log = (who: string, what: string) => void trace.push(`${stamp(clock.now())} ${who}: ${what}`);

  const start = (name: string, isMortal = true): Process => {
    const process = newProcess(name, isMortal);
    diceOf.set(process, createDice(hash(`${plan.seed} ${name}`)));
    clockDiceOf.set(process, createDice(hash(`${plan.seed} clock of ${name}`)));
    running.add(process);
    log(name, 'starts');
    mayBeSet(process, AT_START);
    return process;
  };

  const clockOf = (process: Process) => (plan.table === 'SQLite' ? machine : process);

  const mayBeSet = (process: Process, often = 1): void => {
    const own = clockDiceOf.get(process);
    if (own === undefined || !process.isMortal || isCalm()) return;
    if (!own.percent(often * plan.clockPercent)) return;
    const clockSet = clockOf(process);
    clockSet.clockOffMs = own.pick(CLOCK_OFF_MS.filter((ms) => ms !== clockSet.clockOffMs));
    process.troubles += 1;
    counts.clocksSet += 1;
    log(process.name, `has its clock set ${clockSet.clockOffMs / 86_400_000} days off`);
  };

  const diceFor = (process: Process): Dice => diceOf.get(process) ?? dice;

  const end = (process: Process, why: string) => {
    if (!process.isAlive) return;
    process.isAlive = false;
    running.delete(process);
    process.troubles += 1;
    log(process.name, why);
    for (const onEnd of process.onEnd.splice(0)) onEnd();
  };

  /** Resolves once the process can make progress: never if it is dead. */
  const awake = async (process: Process): Promise<void> => {
    while (process.isAlive && process.pausedUntilMs > clock.now())
      await clock.sleep(process.pausedUntilMs - clock.now());
    if (!process.isAlive) await new Promise(() => undefined);
  };

  const sleep = async (process: Process, ms: number, signal?: AbortSignal): Promise<void> => {
    signal?.throwIfAborted();
    const late = diceFor(process).pick([0, 0, 0, 0.4, 1, 2]);
    await clock.sleep(Math.max(0, ms) + late, signal);
    await awake(process);
  };

  /** Lets the process die or pause at this point, before or after one of its acts. */
  const troubles = async (process: Process, label: string): Promise<void> => {
    mayBeSet(process);
    if (process.isMortal && !isCalm()) {
      const own = diceFor(process);
      if (own.percent(plan.crashPercent)) {
        counts.crashes += 1;
        end(process, `dies at ${label}`);
      } else if (own.percent(plan.pausePercent)) {
        counts.stops += 1;
        const lastsMs = own.pick(STOPPED_MS);
        process.troubles += 1;
        process.pausedUntilMs = clock.now() + Math.min(lastsMs, plan.calmFromMs - clock.now());
        log(process.name, `is stopped for ${lastsMs} ms at ${label}`);
      }
    }
    await awake(process);
  };

  const present = { spells: [] as readonly Spell[], untilMs: 0 };
  /** The spells of this moment. They are cached, since a year has hundreds of spells. */
  const spellsNow = (): readonly Spell[] => {
    const atMs = clock.now();
    if (atMs < present.untilMs) return present.spells;
    present.spells = plan.spells.filter(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs);
    const times = plan.spells.flatMap(({ fromMs, toMs }) => [fromMs, toMs]);
    present.untilMs = Math.min(...times.filter((ms) => ms > atMs));
    return present.spells;
  };

  const spellAt = (border: Border, own: Dice): Spell | undefined =>
    spellsNow().find((spell) => spell.border === border && own.percent(spell.percent));

  const fateOf = (process: Process, border: Border): Fate | undefined => {
    const own = diceFor(process);
    const spell = spellAt(border, own);
    if (spell !== undefined && spell.border !== 'platform') return spell.fate;
    if (isCalm() || !own.percent(plan.noisePercent)) return undefined;
    return own.pick(['refused', 'unsent', 'unanswered', 'late', 'slow', 'throttled'] as const);
  };

  const act = async <T>(process: Process, given: Act<T>): Promise<T> => {
    const { label, border, perform, failure, timeoutMs } = given;
    await troubles(process, `${label}, before`);
    const own = diceFor(process);
    const fate = fateOf(process, border);
    if (fate !== undefined) {
      counts.faults += 1;
      log(process.name, `${label} is ${fate}`);
    }
    const after = (ms: number) => clock.sleep(ms).then(perform);
    switch (fate) {
      case undefined:
      case 'slow': {
        const done = after(travelMs(own) + (fate === 'slow' ? own.below(timeoutMs * 0.8) : 0));
        const result = await done;
        await clock.sleep(travelMs(own));
        await troubles(process, `${label}, after`);
        return result;
      }
      case 'refused':
      case 'throttled':
        await sleep(process, 2 * travelMs(own));
        break;
      case 'unanswered':
      case 'late':
        void after(fate === 'late' ? own.pick([500, 5_000, 60_000]) : travelMs(own)).catch(() => undefined);
        await sleep(process, timeoutMs);
        break;
      case 'unsent':
        await sleep(process, timeoutMs);
        break;
      default:
        fate satisfies never;
    }
    process.troubles += 1;
    throw failure(fate === 'throttled' ? 'busy' : 'unreachable');
  };

  return {
    plan,
    dice,
    clock,
    trace,
    counts,
    log,
    start,
    end,
    /** The running processes that are part of the system, without people and services. */
    running: () => [...running].filter(({ isMortal }) => isMortal),
    diceFor,
    awake,
    troubles,
    sleep,
    spellAt,
    isCalm,
    act,
    /** Epoch milliseconds by the clock of a process; `machineNow` by the clock of people's machine, `now` by the true clock. */
    nowOf: (process: Process) => START_MS + clock.now() + clockOf(process).clockOffMs,
    machineNow: () => START_MS + clock.now() + machine.clockOffMs,
    now: () => START_MS + clock.now(),
    /** Milliseconds from the start. */
    sinceStartMs: clock.now,
    [Symbol.dispose]: zlib.stop,
  };
}

export type World = ReturnType<typeof createWorld>;

/** Formats a time from the start in seconds. */
function stamp(ms: number): string {
  const seconds = (ms / 1_000).toFixed(3).padStart(9, '0');
  return `${seconds}`;
}

function hash(text: string): number {
  let mixed = 0x811c9dc5;
  for (const char of text) mixed = Math.imul(mixed ^ char.charCodeAt(0), 0x01000193);
  return mixed;
}
