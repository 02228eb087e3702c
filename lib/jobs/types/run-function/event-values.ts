import { isEventPath } from './event-path.ts';

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
