import { listed, own, preview, shortened } from '../../../base/index.ts';
import { printJson } from '../../../base/json/index.ts';
import { type ExpandedMessage, isObject, type UncheckedMessage } from '../../message/check-message.ts';
import { MAX_MESSAGE_BYTES } from '../../queue/queue.ts';

/*
 * The message of an event rule: a `run-function` message, with the whole event in `event` and the rule's name in
 * `rule`. Its `inputVariables` refer to fields of the event. They are filled in here, because EventBridge would send invalid
 * JSON if a field were missing.
 */

/**
 * Fills in `inputVariables` from `event`, and the id: the rule's name, a dot, and the event's id. So one event becomes
 * one job for each rule, even if a rule delivers it twice. A message without `event` is returned unchanged.
 */
export function fromEvent(message: UncheckedMessage): ExpandedMessage {
  if (!Object.hasOwn(message, 'event')) return { message, faults: [] };
  const { rule, event, ...others } = message;
  if (!isName(rule))
    return { message: others, faults: [`rule: expected ${RULE_NAME}, got ${preview(rule)}`] };
  if (!isObject(event))
    return { message: others, faults: [`event: expected an object, got ${kindOf(event)}`] };
  const identified = withId(others, rule, event);
  const filled = withVariables(identified.message, rule, event);
  return { message: filled.message, faults: [...identified.faults, ...filled.faults] };
}

const RULE_NAME = 'the name of an event rule: 1 to 64 characters from A-Z a-z 0-9 _ -';
const isName = (value: unknown): value is string =>
  typeof value === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(value);

/**
 * Whether a value may be an event's id in a job's id, which has at most 128 characters: the rule's name, a dot, and the
 * event's id. Neither part contains a dot, so no two pairs have the same job id.
 */
const isEventId = (value: unknown) => isName(value) && value.length <= 63;

function withId(message: UncheckedMessage, rule: string, event: UncheckedMessage): ExpandedMessage {
  if (message['id'] !== undefined) return { message, faults: [] };
  const id = own(event, 'id');
  if (isEventId(id)) return { message: { ...message, id: `${rule}.${id}` }, faults: [] };
  const got = typeof id === 'string' ? 'another string' : preview(id);
  return { message, faults: [`event.id: expected 1 to 63 characters from A-Z a-z 0-9 _ -, got ${got}`] };
}

function withVariables(message: UncheckedMessage, rule: string, event: UncheckedMessage): ExpandedMessage {
  const { inputVariables, ...others } = message;
  if (inputVariables === undefined) return { message, faults: [] };
  const faults: string[] = [];
  const missing: string[] = [];
  // The bytes are limited, since paths may repeat a large field any number of times.
  let bytesLeft = MAX_MESSAGE_BYTES;
  const value = replaced(inputVariables, {
    field({ path, fallback }, at) {
      if (bytesLeft < 0) return undefined;
      const found = fieldAt(event, path);
      if ('value' in found) {
        bytesLeft -= Buffer.byteLength(printJson(found.value));
        return found.value;
      }
      const expected = `${shortened(path, MAX_PATH_LENGTH)} in the event of rule ${rule}`;
      if (fallback === undefined)
        missing.push(`${describePath(at)}: expected ${expected}, got nothing: ${found.there}`);
      return fallback?.kind === 'value' ? fallback.value : undefined;
    },
    fault: ({ path, expected }) => faults.push(`${describePath(path)}: expected ${expected}`),
  });
  if (faults.length > 0) return { message: others, faults: firstOf(faults) };
  if (bytesLeft < 0) {
    const limit = `at most ${MAX_MESSAGE_BYTES} bytes of fields of the event of rule ${rule}`;
    return { message: others, faults: [`inputVariables: expected ${limit}, got more`] };
  }
  if (missing.length > 0) return { message: others, faults: firstOf(missing) };
  return { message: value === undefined ? others : { ...others, inputVariables: value }, faults: [] };
}

const describePath = (path: readonly PropertyKey[]): string =>
  shortened(['inputVariables', ...path].join('.'), MAX_PATH_LENGTH);

/** Maximum faults of event fields to list. Faults of the rest of the message are listed in addition. */
const MAX_FAULTS = 25;
/** Maximum characters of a path in a fault. */
const MAX_PATH_LENGTH = 300;

const firstOf = (faults: readonly string[]): readonly string[] =>
  faults.length <= MAX_FAULTS
    ? faults
    : [...faults.slice(0, MAX_FAULTS), `and ${faults.length - MAX_FAULTS} more`];

const kindOf = (value: unknown) => (typeof value === 'string' ? 'a string' : preview(value));

/*
 * What an event rule passes to its function: JSON in which these stand for fields of the event.
 *
 *   "$.detail.key"                                the field, which every event must have
 *   {"$path": "$.detail.size", "$default": null}  the field, or this constant if the event has no such field
 *   {"$path": "$.detail.size", "$optional": true} the field, or nothing: the variable is left out
 *   {"$constant": "$5"}                           this value as it is
 *
 * Every other string, number, list and object stands for itself. An object that is not in one of these forms must not
 * have names that begin with `$`, so that it is not mistaken for one of them.
 */

type ValuePath = readonly (string | number)[];

type ValueFault = { readonly path: ValuePath; readonly expected: string };

/** A field of the event. Without a `fallback`, every event must have the field. */
type Field = { readonly path: string; readonly fallback?: Fallback | undefined };

/** What happens if the event has no such field: this value is used, or the variable is left out. */
type Fallback = { readonly kind: 'value'; readonly value: unknown } | { readonly kind: 'omit' };

type Reference = Field | { readonly constant: unknown } | { readonly expected: string };

const EXPECTED_PATH = 'a path such as $.detail.object.key';
const EXPECTED_NOTATION =
  'one of {"$path": …}, {"$path": …, "$default": …}, {"$path": …, "$optional": true} and {"$constant": …}, since a name begins with $';
const EXPECTED_IN_LIST =
  'a field with a `$default`, since leaving out a list entry would shift the entries after it';

/** The reference that a value stands for in the notation above, or the fault in it; undefined for a plain value. */
function referenceIn(value: unknown): Reference | undefined {
  if (typeof value === 'string') return value.startsWith('$') ? fieldOf(value) : undefined;
  const names = isObject(value) ? Object.keys(value) : [];
  if (!isObject(value) || !names.some((name) => name.startsWith('$'))) return undefined;
  switch (names.sort().join(' ')) {
    case '$constant':
      return { constant: value['$constant'] };
    case '$path':
      return fieldOf(value['$path']);
    case '$default $path':
      return fieldOf(value['$path'], { kind: 'value', value: value['$default'] });
    case '$optional $path':
      return value['$optional'] === true
        ? fieldOf(value['$path'], { kind: 'omit' })
        : { expected: EXPECTED_NOTATION };
    default:
      return { expected: EXPECTED_NOTATION };
  }
}

const fieldOf = (path: unknown, fallback?: Fallback): Reference =>
  typeof path === 'string' && isEventPath(path)
    ? { path, fallback }
    : { expected: `${EXPECTED_PATH}; to pass a string that begins with $ as it is, use {"$constant": …}` };

/**
 * Copies a value, with each reference replaced by the result of `field`. A member that becomes undefined is left out.
 */
function replaced(
  value: unknown,
  /** Called for each reference to a field of the event, and for each fault. */
  visit: {
    readonly field: (field: Field, at: ValuePath) => unknown;
    readonly fault: (fault: ValueFault) => void;
  },
  at: ValuePath = [],
): unknown {
  const reference = referenceIn(value);
  if (reference !== undefined) {
    if ('path' in reference) return visit.field(reference, at);
    return 'constant' in reference ? reference.constant : visit.fault({ path: at, ...reference });
  }
  if (Array.isArray(value))
    return value.map((entry, index) => {
      const path = [...at, index];
      if (isOptional(referenceIn(entry))) visit.fault({ path, expected: EXPECTED_IN_LIST });
      return replaced(entry, visit, path);
    });
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(
    ([name, each]) => [name, replaced(each, visit, [...at, name])] as const,
  );
  return Object.fromEntries(members.filter(([, each]) => each !== undefined));
}

const isOptional = (reference: Reference | undefined) =>
  reference !== undefined && 'path' in reference && reference.fallback?.kind === 'omit';

/** The faults in the notation of a value, which can be checked without an event. */
export function valueFaults(value: unknown): readonly ValueFault[] {
  const faults: ValueFault[] = [];
  replaced(value, { field: () => undefined, fault: (fault) => faults.push(fault) });
  return faults;
}

const STEP = /\.([A-Za-z0-9_-]+)|\[(\d+)\]|\['([^']+)'\]/g;

/**
 * Whether a string is a path to a field of an event: `$` is the whole event, `.name` and `['name']` a field of an object,
 * `[0]` an entry of a list.
 */
const isEventPath = (text: string): boolean => /^\$(\.[A-Za-z0-9_-]+|\[\d+\]|\['[^']+'\])*$/.test(text);

/**
 * The value at a path of an event. If it is missing: how far the path leads, and what is there. Null counts as a value.
 */
function fieldAt(event: unknown, path: string): { readonly value: unknown } | { readonly there: string } {
  let value = event;
  let reached = '$';
  for (const [step, name, index, quoted] of path.matchAll(STEP)) {
    const next = index === undefined ? memberOf(value, name ?? quoted ?? '') : entryOf(value, Number(index));
    if (next === undefined) return { there: `${shortened(reached, MAX_PATH_LENGTH)} ${describeType(value)}` };
    value = next;
    reached += step;
  }
  return { value };
}

const memberOf = (value: unknown, name: string): unknown => (isObject(value) ? own(value, name) : undefined);

const entryOf = (value: unknown, index: number): unknown => (Array.isArray(value) ? value[index] : undefined);

/** Describes a value by its type, without the value itself, which may be secret. */
function describeType(value: unknown): string {
  if (value === null) return 'is null';
  if (Array.isArray(value)) return `is a list of ${value.length}`;
  if (isObject(value)) {
    const names = Object.keys(value);
    return names.length === 0 ? 'is an empty object' : `has only ${listed(names)}`;
  }
  if (typeof value === 'string') return 'is text';
  return typeof value === 'boolean' ? 'is true or false' : 'is a number';
}
