import { jobTimes } from '../../../lib/jobs/job-times.ts';
import { rowsIn } from './rules.ts';
import type { Fault, Scenario } from './scenario.ts';
import { receiptOf } from './services.ts';
import type { Actor, Queued, State } from './state.ts';

/** What happens to a request in flight. */
export type Fate = 'done' | 'no response' | 'late response' | 'a 429' | 'a 400' | 'no slot';

/** One event that can happen next. Actors, messages and so on are named by their indexes in the state. */
export type Choice = { readonly fault?: Fault } & (
  | { readonly kind: 'reply'; readonly actor: number; readonly number: number; readonly fate: Fate }
  | { readonly kind: 'late reply'; readonly actor: number; readonly number: number }
  | { readonly kind: 'kill'; readonly actor: number }
  | { readonly kind: 'deliver'; readonly message: number }
  | { readonly kind: 'move'; readonly message: number }
  | { readonly kind: 'begin'; readonly person: number }
  | { readonly kind: 'arrive'; readonly floating: number }
  | { readonly kind: 'pass'; readonly untilMs: number }
);

/** How many deliveries are handled at the same time. */
const WORKERS = 2;

/** Every event that can happen next. Faults are among them only while the bound allows another one. */
export function choicesIn(state: State, scenario: Scenario, bound: number): readonly Choice[] {
  const mayFail = state.faults < bound;
  const work = [...actorChoices(state), ...queueChoices(state)];
  const isAtRest = !work.some(({ fault }) => fault === undefined);
  const all: readonly Choice[] = [
    ...work,
    ...state.people.map((_, person): Choice => ({ kind: 'begin', person })),
    ...state.floating.map((_, floating): Choice => ({ kind: 'arrive', floating })),
    ...timeChoices(state, isAtRest),
  ];
  return all.filter(
    ({ fault }) => fault === undefined || (mayFail && scenario.only?.includes(fault) !== false),
  );
}

function actorChoices({ actors, nowMs }: State): readonly Choice[] {
  return actors.flatMap(({ history: { underWay }, late }, actor) => [
    ...underWay.flatMap(({ number, ask }): readonly Choice[] => {
      if (ask.kind === 'sleep')
        return ask.untilMs <= nowMs ? [{ kind: 'reply', actor, number, fate: 'done' }] : [];
      if (late.some((each) => each.number === number)) return [{ kind: 'late reply', actor, number }];
      const reply = (fate: Fate): Choice => ({
        kind: 'reply',
        actor,
        number,
        fate,
        ...(fate === 'done' ? {} : { fault: fate }),
      });
      if (ask.kind === 'take a slot') return [reply('done'), reply('no slot')];
      return [
        reply('done'),
        reply('no response'),
        ...(ask.kind === 'call the platform' ? [reply('a 429'), reply('a 400')] : []),
        ...(ask.kind === 'write the row' ? [reply('late response')] : []),
      ];
    }),
    { kind: 'kill', actor, fault: 'a kill' } as const,
  ]);
}

function queueChoices(state: State): readonly Choice[] {
  const { actors, queue, nowMs } = state;
  const deliveries = actors.flatMap(({ history: { start } }) =>
    start.role === 'delivery' ? [start.message] : [],
  );
  return queue.messages.flatMap((each, message): readonly Choice[] => {
    const isVisible = each.visibleAtMs <= nowMs;
    const isHandled = deliveries.some(({ receipt }) => receipt === receiptOf(each));
    if (deliveries.length >= WORKERS) return [];
    return [
      ...(isVisible ? [{ kind: 'deliver', message } as const] : []),
      ...(isHandled && !isVisible ? [{ kind: 'deliver', message, fault: 'a second delivery' } as const] : []),
      ...(isVisible && mayMove(state, each) ? [{ kind: 'move', message, fault: 'another id' } as const] : []),
    ];
  });
}

/**
 * Whether the queue may give a message another message id. It may not if the body names no job id and a replacement
 * message exists or may exist: then only the message id shows that both are one job (docs/jobs.md).
 */
function mayMove(state: State, { messageId, receives }: Queued): boolean {
  if (receives === 0) return false;
  const { queue, floating, actors } = state;
  const underWay = actors.flatMap(({ history }) => history.underWay);
  const pending = [...floating, ...underWay].flatMap(({ ask }) =>
    ask.kind === 'send a message' ? [ask.body] : [],
  );
  const isHandled = rowsIn(state).some(({ id, fence }) => id === messageId && fence > 0);
  const bodies = [...pending, ...queue.messages.map(({ body }) => body)];
  return !isHandled && !bodies.some((body) => body.includes(`"id":"${messageId}"`));
}

/** A wait of at most this length may end before or after anything else that happens, since requests can take as long. */
const SHORT_MS = 10_000;

/**
 * How time may pass: to the next timer or message when nothing else is left to do; to the end of a short wait that is
 * all that its run waits for; and, as a fault, to anything that time ends.
 */
function timeChoices(state: State, isAtRest: boolean): readonly Choice[] {
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

/** The first timer of a run that waits only for timers. */
const shortWaitOf = (actor: Actor): readonly number[] =>
  actor.history.underWay.every(({ ask }) => ask.kind === 'sleep') ? [Math.min(...timersOf(actor))] : [];

/** The time at which the run is killed, and the first moment at which it may no longer begin a call. */
const limitsOf = ({ diesAtMs }: Actor): readonly number[] =>
  diesAtMs === Number.POSITIVE_INFINITY
    ? []
    : [diesAtMs, diesAtMs - jobTimes.toRespondMs - jobTimes.codeFunctionMs + 1];

const unique = (times: readonly number[]) => [...new Set(times)].sort((a, b) => a - b);
