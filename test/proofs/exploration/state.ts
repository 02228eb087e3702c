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

/** A run that is under way. `late`: replies that exist already, and have not arrived. */
export type Actor = {
  readonly history: History<Begun>;
  readonly late: readonly { readonly number: number; readonly reply: Reply }[];
  /** When it is killed at the latest, in epoch milliseconds. */
  readonly diesAtMs: number;
};

/** Facts that only the rules need. */
type Facts = {
  /** The claims under which the platform executed the function. */
  readonly executed: readonly Sender[];
  /** The fences under which a request may have left, and those of runs that died and can say nothing more. */
  readonly left: readonly number[];
  readonly dead: readonly number[];
  /** The fences that a job got when it was reopened. */
  readonly reopened: readonly Sender[];
  /** The statuses with which its end was reported. */
  readonly reported: readonly string[];
  /** Something has happened after which it may be unknown whether the function ran. */
  readonly isHidden: boolean;
};

/** The whole world at one moment: values, and the histories of the runs that are under way. */
export type State = {
  readonly nowMs: number;
  readonly rows: Readonly<Record<string, StoredRow>>;
  readonly objects: Readonly<Record<string, string>>;
  readonly queue: { readonly sent: number; readonly messages: readonly Queued[] };
  readonly actors: readonly Actor[];
  /** Changes whose response nobody waits for: each is applied at any later time, or never. */
  readonly floating: readonly { readonly by: Begun['role']; readonly ask: Ask }[];
  /** People who have not begun, with how often they were killed or failed. */
  readonly people: readonly { readonly role: Person; readonly tries: number }[];
  readonly faults: number;
  readonly facts: Facts;
};

/** Numbers values: equal ones get equal numbers. */
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

/** Makes the key of a state: two states have the same one if they are equal in all that can matter from there on. */
export function createKeys(): (state: State) => string {
  const numberOf = createNumbers();
  const actorKey = ({ history, late, diesAtMs }: Actor) =>
    `${history.id}.${diesAtMs}${late.length === 0 ? '' : JSON.stringify(late)}`;
  return ({ nowMs, rows, objects, queue, actors, floating, people, faults, facts }) =>
    `${nowMs} ${numberOf(rows)} ${numberOf(objects)} ${numberOf(queue)} ${actors.map(actorKey)} ${numberOf(floating)} ${numberOf(people)} ${faults} ${numberOf(facts)}`;
}

/** The numbers with one more, in order, each once. */
export const withNumber = (numbers: readonly number[], number: number): readonly number[] =>
  numbers.includes(number) ? numbers : [...numbers, number].sort((a, b) => a - b);

/** A record with one member more or changed, its names in order, so that equal records have equal JSON. */
export const withMember = <T>(record: Readonly<Record<string, T>>, name: string, value: T) =>
  Object.fromEntries(Object.entries({ ...record, [name]: value }).sort(([a], [b]) => (a < b ? -1 : 1)));
