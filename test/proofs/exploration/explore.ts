import { bodyOf } from '../job-plan.ts';
import type { BrokenCopy } from './broken-copies.ts';
import { type Choice, choicesIn } from './choices.ts';
import { exploredCode } from './explored-code.ts';
import { createHistories } from './histories.ts';
import { checkRest } from './rules.ts';
import type { Scenario } from './scenario.ts';
import { createKeys, type State } from './state.ts';
import { type Reached, takeStep } from './steps.ts';

export type ExploreOptions = {
  readonly scenario: Scenario;
  /** Default: the code unchanged. */
  readonly copy?: BrokenCopy;
  /** Maximum number of faults in one schedule. */
  readonly faults: number;
  /** Stop after this number of states. Default: no limit. */
  readonly maxStates?: number;
  /** Stop only at violations that match this; continue past all others. Default: stop at any violation. */
  readonly breaks?: RegExp;
  readonly onProgress?: (explored: Explored) => void;
};

/**
 * The result of an exploration. `violation`: the shortest schedule that breaks a rule, as the index of the choice
 * taken in each state.
 */
export type Explored = {
  readonly states: number;
  readonly steps: number;
  /** The length of the longest schedule. */
  readonly depth: number;
  /** The number of states in which nothing is left to do. */
  readonly rests: number;
  /** The number of different histories of replies for which the real code ran. */
  readonly histories: number;
  readonly isWhole: boolean;
  readonly violation?: { readonly broken: string; readonly schedule: readonly number[] };
};

const START_MS = Date.parse('2026-11-21T09:00:00Z');

/** A schedule longer than this never ends: some message is delivered again and again. */
const MAX_LENGTH = 250;

/** The world of a scenario before anything has happened. */
export function firstState({ job, messages, people }: Scenario): State {
  const body = bodyOf(job, 1);
  return {
    nowMs: START_MS,
    rows: {},
    objects: {},
    queue: {
      sent: messages,
      messages: Array.from({ length: messages }, (_, index) => ({
        messageId: `m-${index + 1}`,
        body,
        receives: 0,
        visibleAtMs: START_MS,
      })),
    },
    actors: [],
    floating: [],
    people: people.map((role) => ({ role, tries: 0 })),
    faults: 0,
    facts: { executed: [], left: [], dead: [], reopened: [], reported: [], isHidden: false },
  };
}

export const worldOf = (scenario: Scenario, copy: BrokenCopy = {}) => ({
  scenario,
  histories: createHistories(exploredCode(scenario, copy)),
  id: scenario.job.isNamed ? 'job-1' : 'm-1',
});

/** True if nothing is left to do: no run is under way, the queue is empty, and no command has to be repeated. */
export const isAtRest = ({ actors, queue, people }: State): boolean =>
  actors.length === 0 && queue.messages.length === 0 && people.every(({ tries }) => tries === 0);

type Waiting = { readonly state: State; readonly index: number };

/** Explores all schedules, shortest first, until one breaks a rule. */
export async function explore(options: ExploreOptions): Promise<Explored> {
  const { scenario, copy, faults, maxStates = Number.POSITIVE_INFINITY, breaks = /./, onProgress } = options;
  const world = worldOf(scenario, copy);
  const keyOf = createKeys();
  const first = firstState(scenario);
  const seen = new Set([keyOf(first)]);
  /** How each state was reached: by its number, the number of the previous state and the index of the choice. */
  const parents = [-1];
  const places = [0];
  let [steps, depth, rests] = [0, 0, 0];
  let level: Waiting[] = [{ state: first, index: 0 }];
  const sofar = (violation?: Explored['violation']): Explored => ({
    states: parents.length,
    steps,
    depth,
    rests,
    histories: world.histories.count(),
    isWhole: violation === undefined && level.length === 0,
    ...(violation === undefined ? {} : { violation }),
  });
  const scheduleTo = (index: number): readonly number[] => {
    const parent = parents[index] ?? -1;
    return parent < 0 ? [] : [...scheduleTo(parent), places[index] ?? 0];
  };
  for (; level.length > 0; depth += 1) {
    const next: Waiting[] = [];
    for (const { state, index } of level) {
      if (isAtRest(state)) {
        rests += 1;
        const rest = checkRest(state, scenario);
        if (rest !== undefined && breaks.test(rest))
          return sofar({ broken: rest, schedule: scheduleTo(index) });
      }
      const choices = choicesIn(state, scenario, faults);
      for (const [place, choice] of choices.entries()) {
        steps += 1;
        const reached = await takeStep(state, choice, world);
        if (reached.broken !== undefined && breaks.test(reached.broken))
          return sofar({ broken: reached.broken, schedule: [...scheduleTo(index), place] });
        const key = keyOf(reached.state);
        if (seen.has(key)) continue;
        seen.add(key);
        places.push(place);
        next.push({ state: reached.state, index: parents.push(index) - 1 });
        if (seen.size >= maxStates) return sofar();
        if (onProgress !== undefined && seen.size % 100_000 === 0) onProgress(sofar());
      }
    }
    if (depth >= MAX_LENGTH && next[0] !== undefined)
      return sofar({ broken: `no end after ${MAX_LENGTH} steps`, schedule: scheduleTo(next[0].index) });
    level = next;
  }
  return sofar();
}

/** Replays the steps of a schedule with newly started code. */
export async function* follow(
  { scenario, copy = {}, faults }: ExploreOptions,
  schedule: readonly number[],
): AsyncGenerator<{ readonly before: State; readonly choice: Choice } & Reached> {
  const world = worldOf(scenario, copy);
  let before = firstState(scenario);
  for (const place of schedule) {
    const choice = choicesIn(before, scenario, faults)[place];
    if (choice === undefined) throw new Error(`there is no choice ${place} here`);
    const reached = await takeStep(before, choice, world);
    yield { before, choice, ...reached };
    before = reached.state;
  }
}
