import { type Ask, CHANGES } from './asks.ts';
import { type Begun, HIDDEN_MS, TIMEOUT_MS } from './explored-code.ts';
import type { Histories } from './histories.ts';
import type { Scenario } from './scenario.ts';
import { mayMatter, receiptOf } from './services.ts';
import { type Actor, type State, withNumber } from './state.ts';

/** What does not change while a scenario is explored. `id`: the id of its job. */
export type World = {
  readonly scenario: Scenario;
  readonly histories: Histories<Begun>;
  readonly id: string;
};

/** The queue delivers a message, and a worker begins to handle it. */
export async function deliver(state: State, place: number, { scenario, histories }: World): Promise<State> {
  const { nowMs, queue } = state;
  const visibleAtMs = nowMs + HIDDEN_MS[scenario.worker];
  const messages = queue.messages.map((each, index) =>
    index === place ? { ...each, receives: each.receives + 1, visibleAtMs } : each,
  );
  const received = messages[place];
  if (received === undefined) throw new Error(`no message ${place}`);
  const { messageId, body, receives } = received;
  const receipt = receiptOf(received);
  const message = { messageId, body, receives, receipt, sender: 'AIDAEXAMPLE' };
  const history = await histories.begin({ name: receipt, role: 'delivery', nowMs, message });
  const diesAtMs = scenario.worker === 'invocation' ? nowMs + TIMEOUT_MS : Number.POSITIVE_INFINITY;
  const actor = { history, late: [], diesAtMs };
  return { ...state, queue: { ...queue, messages }, actors: [...state.actors, actor] };
}

/** A person begins a command. */
export async function begin(state: State, place: number, { histories, id }: World): Promise<State> {
  const person = state.people[place];
  if (person === undefined) throw new Error(`nobody ${place}`);
  const { role, tries } = person;
  const history = await histories.begin({ name: `${role} ${tries}`, role, nowMs: state.nowMs, id });
  const actor = { history, late: [], diesAtMs: Number.POSITIVE_INFINITY };
  const people = state.people.filter((each) => each !== person);
  return { ...state, people, actors: [...state.actors, actor] };
}

/** The state after the end of a run. Its last requests may still take effect. A person repeats a failed command. */
export function ended(state: State, place: number): State {
  const actor = state.actors[place];
  if (actor === undefined) throw new Error(`no run ${place}`);
  const { start, underWay, end } = actor.history;
  const asks = underWay.flatMap(({ number, ask }) =>
    actor.late.some((each) => each.number === number) ? [] : [ask],
  );
  const next = floated({ ...state, actors: state.actors.filter((each) => each !== actor) }, asks, start.role);
  // A pending claim may still be stored, without any run knowing that it holds it.
  const fences = underWay.flatMap(({ ask }) =>
    ask.kind === 'write the row' ? [Number(ask.row['fence'])] : [],
  );
  if (start.role === 'delivery')
    // At its deadline a run ends without waiting for its last write, as if it had been killed.
    return end === undefined || fences.length > 0
      ? [actor.history.fence, ...fences].reduce(withDead, next)
      : next;
  if (end?.kind === 'returned') return next;
  const tries = Number(start.name.slice(start.role.length)) + 1;
  return { ...next, people: [...next.people, { role: start.role, tries }] };
}

const withDead = (state: State, fence: number): State => ({
  ...state,
  facts: { ...state.facts, dead: withNumber(state.facts.dead, fence) },
});

/** Moves the changes among these requests to `floating`: no run waits for their responses any more. */
export const floated = (state: State, asks: readonly Ask[], by: Begun['role']): State => ({
  ...state,
  floating: [...state.floating, ...asks.filter(({ kind }) => CHANGES.has(kind)).map((ask) => ({ by, ask }))],
});

/** The queue gives a message another id, as when it is redriven from the dead-letter queue. */
export function moved({ queue, ...state }: State, place: number): State {
  const sent = queue.sent + 1;
  const messages = queue.messages.map((each, index) =>
    index === place ? { ...each, messageId: `m-${sent}`, receives: 0 } : each,
  );
  return { ...state, queue: { sent, messages } };
}

/** Advances time, and ends the invocations that reach their time limit. */
export function passed(state: State, nowMs: number): State {
  const later = { ...state, nowMs };
  const place = later.actors.findIndex(({ diesAtMs }) => diesAtMs <= nowMs);
  return place < 0 ? later : passed(ended(later, place), nowMs);
}

/** The same state with another run at this index. */
export const withActor = (state: State, place: number, actor: Actor): State => ({
  ...state,
  actors: state.actors.map((each, index) => (index === place ? actor : each)),
});

function inOrder<T>(list: readonly T[], nameOf: (each: T) => string): readonly T[] {
  const named = list.map((each) => ({ each, name: nameOf(each) }));
  return named.sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ each }) => each);
}

/** The same state without facts that no longer matter, in a canonical order that does not depend on the schedule. */
export function tidied(state: State): State {
  const { actors, floating, people } = state;
  const byName = (a: Actor, b: Actor) => (a.history.start.name < b.history.start.name ? -1 : 1);
  const isTidy = floating.every(({ ask }) => mayMatter(state, ask)) && floating.length < 2;
  return {
    ...state,
    actors: actors.length < 2 ? actors : actors.toSorted(byName),
    floating: isTidy
      ? floating
      : inOrder(
          floating.filter(({ ask }) => mayMatter(state, ask)),
          JSON.stringify,
        ),
    people: people.length < 2 ? people : inOrder(people, ({ role }) => role),
  };
}
