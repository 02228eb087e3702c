import { printJson } from '../../../base/index.ts';
import { type FoundField, fieldAt } from './event-path.ts';
import { type Reference, referenceIn, type ValueFault } from './event-values.ts';

/** A field that an event lacks: where it was to go, its path, and how far that leads. */
export type MissingField = {
  readonly at: ValueFault['path'];
  readonly path: string;
  readonly found: Extract<FoundField, { kind: 'missing' }>;
};

/** A value with the fields of an event filled in, or why they could not be. */
export type FilledValue =
  /** Undefined if the value is left out. */
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'missing'; readonly fields: readonly MissingField[] }
  /** The fields are longer than `mostBytes` of JSON. */
  | { readonly kind: 'too-large' };

/**
 * Puts the fields of an event into a value in which `valueFaults` finds none. Their sizes are counted, since paths may
 * repeat a field any number of times.
 */
export function fillValue(value: unknown, event: unknown, mostBytes: number): FilledValue {
  const filling: Filling = { event, missing: [], bytesLeft: mostBytes };
  const filled = fill(value, [], filling);
  if (filling.bytesLeft < 0) return { kind: 'too-large' };
  return filling.missing.length > 0
    ? { kind: 'missing', fields: filling.missing }
    : { kind: 'value', value: filled };
}

type Filling = { readonly event: unknown; readonly missing: MissingField[]; bytesLeft: number };

/** The value, or undefined if it is left out: no JSON is undefined. */
function fill(value: unknown, at: MissingField['at'], filling: Filling): unknown {
  const reference = referenceIn(value);
  switch (reference.kind) {
    case 'field':
      return fillField(reference, at, filling);
    case 'list':
      return reference.entries.map((entry, index) => fill(entry, [...at, index], filling));
    case 'object': {
      const members = reference.members.map(
        ([name, each]) => [name, fill(each, [...at, name], filling)] as const,
      );
      return Object.fromEntries(members.filter(([, each]) => each !== undefined));
    }
    case 'constant':
      return reference.value;
    case 'fault':
      return undefined;
    default:
      return reference satisfies never;
  }
}

function fillField(
  { path, otherwise }: Extract<Reference, { kind: 'field' }>,
  at: MissingField['at'],
  filling: Filling,
): unknown {
  if (filling.bytesLeft < 0) return undefined;
  const found = fieldAt(filling.event, path);
  if (found.kind === 'field') {
    filling.bytesLeft -= Buffer.byteLength(printJson(found.value));
    return found.value;
  }
  if (otherwise === undefined) filling.missing.push({ at, path, found });
  return otherwise?.[0];
}
