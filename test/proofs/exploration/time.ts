import { jobTimes } from '../../../lib/jobs/job-times.ts';
import type { Choice } from './choices.ts';
import { TIMEOUT_MS } from './explored-code.ts';
import { rowsIn } from './rules.ts';
import type { Actor, State } from './state.ts';

/** A wait of this length may end at any time, whatever others do meanwhile: requests may take as long. */
const SHORT_MS = 10_000;

/**
 * How time may pass: to the next timer or message when nothing else is left to do; to the end of a short wait that is
 * all that its run waits for; and, as a fault, to anything that time ends.
 */
export function timeChoices(state: State, isAtRest: boolean): readonly Choice[] {
  const { nowMs, actors, queue } = state;
  const later = (times: readonly number[]) => times.filter((each) => each > nowMs);
  const visible = queue.messages.map(({ visibleAtMs }) => visibleAtMs);
  const next = later([...actors.flatMap(timersOf), ...visible]);
  const free = isAtRest
    ? next.length === 0
      ? []
      : [Math.min(...next)]
    : later(actors.flatMap(shortWaitOf)).filter((each) => each <= nowMs + SHORT_MS);
  const leases = rowsIn(state).map(({ leaseUntilMs }) => leaseUntilMs ?? 0);
  const isIdle = actors.every(({ history }) => history.start.role !== 'delivery');
  const jumps = isIdle ? [] : later([...next, ...leases, ...actors.flatMap(limitsOf)]);
  return [
    ...unique(free).map((untilMs): Choice => ({ kind: 'pass', untilMs })),
    ...unique(jumps)
      .filter((each) => !free.includes(each))
      .map((untilMs): Choice => ({ kind: 'pass', untilMs, fault: 'a pause' })),
  ];
}

const timersOf = ({ history: { underWay } }: Actor) =>
  underWay.flatMap(({ ask }) => (ask.kind === 'sleep' ? [ask.untilMs] : []));

/** The first timer of a run that waits for nothing else. */
const shortWaitOf = (actor: Actor): readonly number[] =>
  actor.history.underWay.every(({ ask }) => ask.kind === 'sleep') ? [Math.min(...timersOf(actor))] : [];

/** When it is killed, and the first moment when it may not begin a call any more. */
const limitsOf = ({ diesAtMs }: Actor): readonly number[] =>
  diesAtMs === Number.POSITIVE_INFINITY
    ? []
    : [diesAtMs, diesAtMs - jobTimes.toAnswerMs - jobTimes.codeFunctionMs + 1];

const unique = (times: readonly number[]) => [...new Set(times)].sort((a, b) => a - b);

/** When a delivery that begins now is killed. */
export const deathOf = (worker: 'invocation' | 'process', nowMs: number): number =>
  worker === 'invocation' ? nowMs + TIMEOUT_MS : Number.POSITIVE_INFINITY;
