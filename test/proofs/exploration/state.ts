import type { StoredRow } from '../../../lib/table/table.ts';
import type { Ask, Reply, Sender } from './asks.ts';
import type { Begun } from './explored-code.ts';
import type { History } from './histories.ts';
import type { Person } from './scenario.ts';

export type Queued = {
  readonly messageId: string;
  readonly body: string;
  readonly receives: number;
  readonly visibleAtMs: number;
};

/** A run that is under way. `late`: replies that were sent but have not arrived yet. */
export type Actor = {
  readonly history: History<Begun>;
  readonly late: readonly { readonly number: number; readonly reply: Reply }[];
  /** When the run is killed at the latest, in epoch milliseconds. */
  readonly diesAtMs: number;
};

/** Facts that only the rules need. */
type Facts = {
  /** The claims under which the platform executed the function. */
  readonly executed: readonly Sender[];
  /** The fences under which a request may have left, and those of runs that were killed before they could record it. */
  readonly left: readonly number[];
  readonly dead: readonly number[];
  /** The fences that a job got when it was reopened. */
  readonly reopened: readonly Sender[];
  /** The statuses with which the end of the job was reported. */
  readonly reported: readonly string[];
  /** A fault has happened after which it may be unknown whether the function ran. */
  readonly isHidden: boolean;
};

/** The whole world at one moment: plain values, and the histories of the runs under way. */
export type State = {
  readonly nowMs: number;
  readonly rows: Readonly<Record<string, StoredRow>>;
  readonly objects: Readonly<Record<string, string>>;
  readonly queue: { readonly sent: number; readonly messages: readonly Queued[] };
  readonly actors: readonly Actor[];
  /** Changes for whose response no run waits any more: each is applied at any later time, or never. */
  readonly floating: readonly { readonly by: Begun['role']; readonly ask: Ask }[];
  /** People who have not begun, with how often they were killed or failed. */
  readonly people: readonly { readonly role: Person; readonly tries: number }[];
  readonly faults: number;
  readonly facts: Facts;
};

/** Creates a function that numbers values: equal values get equal numbers. */
function createNumbers() {
  const known = new WeakMap<object, number>();
  const byText = new Map<string, number>();
  return (value: object): number => {
    const there = known.get(value);
    if (there !== undefined) return there;
    const text = JSON.stringify(value);
    const number = byText.get(text) ?? byText.size;
    byText.set(text, number);
    known.set(value, number);
    return number;
  };
}

/**
 * Creates a function that returns the key of a state. Two states with the same key are equal in everything that can
 * matter from then on.
 */
export function createKeys(): (state: State) => string {
  const numberOf = createNumbers();
  const actorKey = ({ history, late, diesAtMs }: Actor) =>
    `${history.id}.${diesAtMs}${late.length === 0 ? '' : JSON.stringify(late)}`;
  return ({ nowMs, rows, objects, queue, actors, floating, people, faults, facts }) =>
    `${nowMs} ${numberOf(rows)} ${numberOf(objects)} ${numberOf(queue)} ${actors.map(actorKey)} ${numberOf(floating)} ${numberOf(people)} ${faults} ${numberOf(facts)}`;
}

/** Adds a number to a sorted list without duplicates. */
export const withNumber = (numbers: readonly number[], number: number): readonly number[] =>
  numbers.includes(number) ? numbers : [...numbers, number].sort((a, b) => a - b);

/** Sets a member of a record, with its names sorted so that equal records have equal JSON. */
export const withMember = <T>(record: Readonly<Record<string, T>>, name: string, value: T) =>
  Object.fromEntries(Object.entries({ ...record, [name]: value }).sort(([a], [b]) => (a < b ? -1 : 1)));
