import { listed, own, shortened } from '../../../base/index.ts';
import { isObject } from '../../message/check-message.ts';

/*
 * What an event rule passes to its function: JSON in which these stand for fields of the event.
 *
 *   "$.detail.key"                                the field, which every event must have
 *   {"$path": "$.detail.size", "$default": null}  the field, or this constant if the event has no such field
 *   {"$path": "$.detail.size", "$optional": true} the field, or nothing: the variable is left out
 *   {"$constant": "$5"}                           this value as it is
 *
 * Every other text, number, list and object is itself. Only these objects may have names that begin with `$`, so none of
 * them is ever mistaken for a constant.
 */

export type ValuePath = readonly (string | number)[];

/** What is wrong with a value: where in it, and what was expected there. */
export type ValueFault = { readonly path: ValuePath; readonly expected: string };

/** What a value stands for. */
type Reference =
  | {
      readonly kind: 'field';
      readonly path: string;
      /** What stands in for a missing field, in a list of one; empty if nothing does; undefined if it must be there. */
      readonly otherwise?: readonly unknown[] | undefined;
    }
  | { readonly kind: 'constant'; readonly value: unknown }
  | { readonly kind: 'list'; readonly entries: readonly unknown[] }
  | { readonly kind: 'object'; readonly members: readonly (readonly [string, unknown])[] }
  | { readonly kind: 'fault'; readonly expected: string };

const PATH = 'a path such as $.detail.object.key';
const NOTATION =
  'one of {"$path": …}, {"$path": …, "$default": …}, {"$path": …, "$optional": true} and {"$constant": …}, since a name begins with $';

/** What a value stands for, by the notation above. Its parts are looked at only once they are asked for. */
function referenceIn(value: unknown): Reference {
  if (typeof value === 'string' && value.startsWith('$')) return fieldOf(value);
  if (Array.isArray(value)) return { kind: 'list', entries: value };
  if (typeof value !== 'object' || value === null) return { kind: 'constant', value };
  const members = Object.entries(value);
  const names = members.map(([name]) => name);
  if (!names.some((name) => name.startsWith('$'))) return { kind: 'object', members };
  const given = Object.fromEntries(members);
  switch (names.sort().join(' ')) {
    case '$constant':
      return { kind: 'constant', value: given['$constant'] };
    case '$path':
      return fieldOf(given['$path']);
    case '$default $path':
      return fieldOf(given['$path'], [given['$default']]);
    case '$optional $path':
      if (given['$optional'] === true) return fieldOf(given['$path'], []);
      return { kind: 'fault', expected: NOTATION };
    default:
      return { kind: 'fault', expected: NOTATION };
  }
}

const fieldOf = (path: unknown, otherwise?: readonly unknown[]): Reference =>
  typeof path === 'string' && isEventPath(path)
    ? { kind: 'field', path, otherwise }
    : { kind: 'fault', expected: `${PATH}; {"$constant": …} passes on a text that begins with $` };

const IN_LIST = 'a field with a default: an entry that is left out would move those after it';

/** What stands for a field of the event, and what is told of each fault. */
export type Visit = {
  readonly field: (reference: Extract<Reference, { readonly kind: 'field' }>, at: ValuePath) => unknown;
  readonly fault: (fault: ValueFault) => void;
};

/** The value with each reference replaced by what `field` returns; a member of which that is undefined is left out. */
export function replaced(value: unknown, visit: Visit, at: ValuePath = []): unknown {
  const reference = referenceIn(value);
  switch (reference.kind) {
    case 'constant':
      return reference.value;
    case 'field':
      return visit.field(reference, at);
    case 'fault':
      return visit.fault({ path: at, expected: reference.expected });
    case 'list':
      return reference.entries.map((entry, index) => {
        const place = [...at, index];
        if (isOptional(entry)) visit.fault({ path: place, expected: IN_LIST });
        return replaced(entry, visit, place);
      });
    case 'object': {
      const members = reference.members.map(
        ([name, each]) => [name, replaced(each, visit, [...at, name])] as const,
      );
      return Object.fromEntries(members.filter(([, each]) => each !== undefined));
    }
    default:
      return reference satisfies never;
  }
}

/** What is wrong with a value, whatever the event will be. */
export function valueFaults(value: unknown): readonly ValueFault[] {
  const faults: ValueFault[] = [];
  replaced(value, { field: () => undefined, fault: (fault) => faults.push(fault) });
  return faults;
}

function isOptional(value: unknown): boolean {
  const reference = referenceIn(value);
  return reference.kind === 'field' && reference.otherwise?.length === 0;
}

/** What a path leads to: the field's value, or how far it leads, and the value that has no such field. */
export type FoundField =
  | { readonly kind: 'field'; readonly value: unknown }
  | { readonly kind: 'missing'; readonly reached: string; readonly value: unknown };

const STEP = /\.([A-Za-z0-9_-]+)|\[(\d+)\]|\['([^']+)'\]/g;

/**
 * Whether a text is a path to a field of an event: `$` is the whole event, `.name` and `['name']` a field of an object,
 * `[0]` an entry of a list.
 */
const isEventPath = (text: string): boolean => /^\$(\.[A-Za-z0-9_-]+|\[\d+\]|\['[^']+'\])*$/.test(text);

/** The field at a path of an event. A field that is null is not missing. */
export function fieldAt(event: unknown, path: string): FoundField {
  let value = event;
  let reached = '$';
  for (const [step, name, index, quoted] of path.matchAll(STEP)) {
    const next = index === undefined ? memberOf(value, name ?? quoted ?? '') : entryOf(value, Number(index));
    if (next === undefined) return { kind: 'missing', reached, value };
    value = next;
    reached += step;
  }
  return { kind: 'field', value };
}

const memberOf = (value: unknown, name: string): unknown => (isObject(value) ? own(value, name) : undefined);

const entryOf = (value: unknown, index: number): unknown => (Array.isArray(value) ? value[index] : undefined);

/** What the event has where a field is missing, without the values themselves, which may be secret. */
export const whatIsThere = ({ reached, value }: Extract<FoundField, { kind: 'missing' }>): string =>
  `${shortened(reached, LONGEST)} ${is(value)}`;

const LONGEST = 300;

function is(value: unknown): string {
  if (value === null) return 'is null';
  if (Array.isArray(value)) return `is a list of ${value.length}`;
  if (!isObject(value)) return KINDS[typeof value] ?? 'is something else';
  const names = Object.keys(value);
  return names.length === 0 ? 'is an empty object' : `has only ${listed(names)}`;
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'is text',
  number: 'is a number',
  bigint: 'is a number',
  boolean: 'is true or false',
};
