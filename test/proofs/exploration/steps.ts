import { hasEnded, type JobRow } from '../../../lib/jobs/ledger/job-row.ts';
import type { Ask, AskKind, Reply } from './asks.ts';
import type { Choice, Fate } from './choices.ts';
import { begin, deliver, ended, floated, moved, passed, tidied, type World, withActor } from './moves.ts';
import {
  checkDelay,
  checkDeleted,
  checkLeaving,
  checkObject,
  checkRow,
  checkRun,
  checkState,
  rowAt,
  type Verdict,
  type Writer,
} from './rules.ts';
import { applyAsk } from './services.ts';
import { type State, withNumber } from './state.ts';

/** A state, and the rule that the step to it broke. */
export type Reached = { readonly state: State; readonly broken: Verdict };

/** Takes the step of a choice. If a reply arrives in it, the explored code runs up to its next requests. */
export async function takeStep(state: State, choice: Choice, world: World): Promise<Reached> {
  const { state: after, broken } = await follow(charged(state, choice), choice, world);
  const settled = tidied(after);
  return { state: settled, broken: broken ?? checkState(settled, world.scenario) };
}

async function follow(state: State, choice: Choice, world: World): Promise<Reached> {
  switch (choice.kind) {
    case 'reply':
      return meet(state, choice, world);
    case 'late reply': {
      const late = state.actors[choice.actor]?.late.find(({ number }) => number === choice.number);
      return late === undefined ? impossible(choice) : arrive(state, { ...choice, ...late }, world);
    }
    case 'kill':
      return { state: ended(state, choice.actor), broken: undefined };
    case 'deliver':
      return { state: await deliver(state, choice.message, world), broken: undefined };
    case 'move':
      return { state: moved(state, choice.message), broken: undefined };
    case 'begin':
      return { state: await begin(state, choice.person, world), broken: undefined };
    case 'arrive': {
      const arriving = state.floating[choice.floating];
      if (arriving === undefined) return impossible(choice);
      const floating = state.floating.filter((each) => each !== arriving);
      return apply({ ...state, floating }, arriving.ask, { role: arriving.by, hasLooked: undefined }, world);
    }
    case 'pass':
      return { state: passed(state, choice.untilMs), broken: undefined };
    default:
      return choice satisfies never;
  }
}

function impossible(choice: Choice): never {
  throw new Error(`${JSON.stringify(choice)} cannot happen here`);
}

/** Counts the fault of a choice, and records whether it hides what the platform did. */
function charged(state: State, { fault, ...choice }: Choice): State {
  if (fault === undefined) return state;
  const actor = 'actor' in choice ? state.actors[choice.actor]?.history : undefined;
  const isCall = actor?.underWay.some(
    ({ number, ask }) => 'number' in choice && number === choice.number && ask.kind === 'call the platform',
  );
  const hides =
    fault === 'a pause' ||
    (fault === 'a kill' && actor?.start.role === 'delivery') ||
    (fault === 'no response' && isCall === true);
  const facts = hides ? { ...state.facts, isHidden: true } : state.facts;
  return { ...state, faults: state.faults + 1, facts };
}

type Met = { readonly actor: number; readonly number: number; readonly fate: Fate };

/** Applies what happens to a request in flight. */
function meet(state: State, { actor: place, number, fate }: Met, world: World): Promise<Reached> | Reached {
  const actor = state.actors[place];
  const ask = actor?.history.underWay.find((each) => each.number === number)?.ask;
  if (actor === undefined || ask === undefined) throw new Error(`no request ${number} is under way`);
  const { role } = actor.history.start;
  const by = { role, hasLooked: actor.history.hasLooked };
  const to = { actor: place, number };
  switch (fate) {
    case 'done': {
      const done = apply(state, ask, by, world);
      return arrive(done.state, { ...to, reply: { got: done.reply } }, world, done.broken);
    }
    case 'late response': {
      const { state: after, reply, broken } = apply(state, ask, by, world);
      const late = [...actor.late, { number, reply: { got: reply } }];
      return { state: withActor(after, place, { ...actor, late }), broken };
    }
    case 'no response':
      return arrive(floated(state, [ask], role), { ...to, reply: 'no response' }, world);
    case 'a 429':
      return arrive(state, { ...to, reply: { got: { kind: 'throttled' } } }, world);
    case 'a 400':
      return arrive(state, { ...to, reply: { got: { kind: 'rejected' } } }, world);
    case 'no slot':
      return arrive(state, { ...to, reply: { got: { isGranted: false } } }, world);
    default:
      return fate satisfies never;
  }
}

/** Applies a request to its service, and checks the rules. */
function apply(before: State, ask: Ask, by: Writer, { scenario }: World) {
  const { state, reply } = applyAsk<AskKind>(before, ask);
  switch (ask.kind) {
    case 'write the row': {
      const [from, to] = [rowAt(before, ask.key), rowAt(state, ask.key)];
      const after = to === undefined ? state : { ...state, facts: factsAfter(state, from, to) };
      return { state: after, reply, broken: checkRow(before, after, ask.key, by, scenario) };
    }
    case 'write an object':
      return { state, reply, broken: checkObject(before, state, ask) };
    case 'delete the message':
      return { state, reply, broken: checkDeleted(before, ask) };
    default:
      return { state, reply, broken: undefined };
  }
}

function factsAfter({ facts }: State, from: JobRow | undefined, to: JobRow): State['facts'] {
  const isReopened = from?.state === 'FAILED' && !hasEnded(to);
  const reopened = [...facts.reopened, { id: to.id, fence: to.fence }];
  return isReopened ? { ...facts, reopened } : facts;
}

type Arriving = { readonly actor: number; readonly number: number; readonly reply: Reply };

/** Delivers a reply to the code that waits for it, which then runs up to its next requests or to its end. */
async function arrive(
  state: State,
  { actor: place, number, reply }: Arriving,
  { scenario, histories }: World,
  brokenBefore?: Verdict,
): Promise<Reached> {
  const actor = state.actors[place];
  if (actor === undefined) throw new Error(`no run ${place}`);
  const { nowMs } = state;
  const history = await histories.after(actor.history, { number, reply, nowMs });
  const late = actor.late.filter((each) => history.underWay.some((still) => still.number === each.number));
  const now = { ...actor, history, late };
  const after = withActor(state, place, now);
  const broken = brokenBefore ?? checkRun(after, now, scenario);
  if (history.end !== undefined) return { state: ended(after, place), broken };
  const pending = history.underWay.filter(
    (each) => !actor.history.underWay.some((before) => before.number === each.number),
  );
  const leaving = pending.flatMap(({ ask }) =>
    ask.kind === 'take a slot' || ask.kind === 'call the platform'
      ? (checkLeaving(after, ask, scenario) ?? [])
      : ask.kind === 'delay the message'
        ? (checkDelay(after, ask, history.start.name) ?? [])
        : [],
  );
  const hasLeft = pending.some(({ ask }) => ask.kind === 'call the platform');
  return { state: hasLeft ? withLeft(after, history.fence) : after, broken: broken ?? leaving[0] };
}

const withLeft = (state: State, fence: number): State => ({
  ...state,
  facts: { ...state.facts, left: withNumber(state.facts.left, fence) },
});
