import type { Ask } from './asks.ts';
import type { Choice } from './choices.ts';
import { type ExploreOptions, follow, isAtRest } from './explore.ts';
import { checkRest } from './rules.ts';
import type { State } from './state.ts';

/** The steps of a schedule, one readable line each, and the rule that it breaks in the end. */
export async function storyOf(
  options: ExploreOptions,
  schedule: readonly number[],
): Promise<readonly string[]> {
  const lines: string[] = [];
  let startMs: number | undefined;
  let last: State | undefined;
  for await (const { before, choice, state, broken } of follow(options, schedule)) {
    startMs ??= before.nowMs;
    const seconds = ((before.nowMs - startMs) / 1_000).toFixed(1).padStart(7);
    lines.push(
      `${seconds} s  ${describe(before, choice)}${choice.fault === undefined ? '' : `  (${choice.fault})`}`,
    );
    if (broken !== undefined) lines.push(`BROKEN: ${broken}`);
    last = state;
  }
  const isBroken = lines.at(-1)?.startsWith('BROKEN');
  const rest = last && !isBroken && isAtRest(last) ? checkRest(last, options.scenario) : undefined;
  if (rest !== undefined) lines.push(`BROKEN: ${rest}`);
  return lines;
}

function describe(state: State, choice: Choice): string {
  const actorAt = (place: number) => state.actors[place]?.history;
  switch (choice.kind) {
    case 'reply':
    case 'late reply': {
      const actor = actorAt(choice.actor);
      const ask = actor?.underWay.find(({ number }) => number === choice.number)?.ask;
      if (choice.kind === 'late reply') return `${actor?.start.name}: the response arrives, ${named(ask)}`;
      const fate = choice.fate === 'done' ? replyTo(state, ask) : `: ${choice.fate}`;
      return `${actor?.start.name}: ${named(ask)}${fate}`;
    }
    case 'kill':
      return `${actorAt(choice.actor)?.start.name} is killed`;
    case 'deliver':
      return `the queue delivers ${state.queue.messages[choice.message]?.messageId}`;
    case 'move':
      return `the queue moves ${state.queue.messages[choice.message]?.messageId}`;
    case 'begin':
      return `a person begins: ${state.people[choice.person]?.role}`;
    case 'arrive':
      return `what nobody waits for arrives: ${named(state.floating[choice.floating]?.ask)}`;
    case 'pass':
      return `${((choice.untilMs - state.nowMs) / 1_000).toFixed(1)} s pass`;
    default:
      return choice satisfies never;
  }
}

/** A few words on whether a conditional write fails in this state. */
function replyTo({ rows, objects }: State, ask: Ask | undefined): string {
  if (ask?.kind === 'write the row')
    return (rows[ask.key]?.token ?? null) === ask.expected ? '' : ': another row is there';
  if (ask?.kind === 'write an object' && ask.condition !== undefined && ask.key in objects)
    return ': there is an object';
  return '';
}

function named(ask: Ask | undefined): string {
  if (ask === undefined) return 'nothing';
  switch (ask.kind) {
    case 'write the row': {
      const { state, fence, cancelled } = ask.row;
      return `${ask.kind} (${state}, fence ${fence}${cancelled === true ? ', cancelled' : ''})`;
    }
    case 'read an object':
    case 'delete an object':
    case 'write an object':
      return `${ask.kind} (${ask.key})`;
    case 'delete the message':
      return `${ask.kind} (${ask.receipt})`;
    case 'delay the message':
      return `${ask.kind} (${ask.receipt}, ${ask.delayMs / 1_000} s)`;
    case 'take a slot':
    case 'call the platform':
      return `${ask.kind} (fence ${ask.fence})`;
    case 'report the end':
      return `${ask.kind} (${ask.status})`;
    default:
      return ask.kind;
  }
}
