import { own, preview, printJson, shortened } from '../../../base/index.ts';
import { type ExpandedMessage, type GivenMessage, isObject } from '../../message/check-message.ts';
import { MOST_MESSAGE_BYTES } from '../../queue/queue.ts';
import { fieldAt, replaced } from './event-values.ts';

/*
 * The message of an event rule: that of a function, with the whole event in `event` and the rule's name in `rule`. Its
 * `inputVariables` name fields of the event, which are filled in here rather than by EventBridge: what EventBridge makes
 * of a field that is missing is not JSON.
 */

/**
 * Fills in `inputVariables` from `event`, and the id: the rule's name, a dot, and the event's id, so that two rules make
 * two jobs of one event, and an event that is delivered twice by one rule is one job. A message without `event` stays as
 * it is.
 */
export function fromEvent(message: GivenMessage): ExpandedMessage {
  if (!Object.hasOwn(message, 'event')) return { given: message, faults: [] };
  const { rule, event, ...given } = message;
  if (!isName(rule)) return { given, faults: [`rule: expected ${A_NAME}, got ${preview(rule)}`] };
  if (!isObject(event)) return { given, faults: [`event: expected an object, got ${kindOf(event)}`] };
  const named = withId(given, rule, event);
  const filled = withVariables(named.given, rule, event);
  return { given: filled.given, faults: [...named.faults, ...filled.faults] };
}

const A_NAME = 'the name of an event rule: 1 to 64 of A-Z a-z 0-9 _ -';
const isName = (value: unknown): value is string =>
  typeof value === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(value);

/** An id has at most 128 characters: the rule's name, a dot, and this one. Neither has a dot, so no two ids are equal. */
const isEventId = (value: unknown) => isName(value) && value.length <= 63;

function withId(given: GivenMessage, rule: string, event: GivenMessage): ExpandedMessage {
  if (given['id'] !== undefined) return { given, faults: [] };
  const id = own(event, 'id');
  return isEventId(id)
    ? { given: { ...given, id: `${rule}.${id}` }, faults: [] }
    : { given, faults: [`event.id: expected 1 to 63 of A-Z a-z 0-9 _ -, got ${kindOf(id)}`] };
}

function withVariables(message: GivenMessage, rule: string, event: GivenMessage): ExpandedMessage {
  const { inputVariables, ...given } = message;
  if (inputVariables === undefined) return { given: message, faults: [] };
  const faults: string[] = [];
  const missing: string[] = [];
  // Counted, since paths may repeat a field any number of times.
  let bytesLeft = MOST_MESSAGE_BYTES;
  const value = replaced(inputVariables, {
    field({ path, otherwise }, at) {
      if (bytesLeft < 0) return undefined;
      const found = fieldAt(event, path);
      if ('value' in found) {
        bytesLeft -= Buffer.byteLength(printJson(found.value));
        return found.value;
      }
      const expected = `${shortened(path, LONGEST)} in the event of rule ${rule}`;
      if (otherwise === undefined)
        missing.push(`${place(at)}: expected ${expected}, got nothing: ${found.there}`);
      return otherwise?.[0];
    },
    fault: ({ path, expected }) => faults.push(`${place(path)}: expected ${expected}`),
  });
  if (faults.length > 0) return { given, faults: firstOf(faults) };
  if (bytesLeft < 0) {
    const most = `at most ${MOST_MESSAGE_BYTES} bytes of fields of the event of rule ${rule}`;
    return { given, faults: [`inputVariables: expected ${most}, got more`] };
  }
  if (missing.length > 0) return { given, faults: firstOf(missing) };
  return { given: value === undefined ? given : { ...given, inputVariables: value }, faults: [] };
}

const place = (path: readonly PropertyKey[]): string =>
  shortened(['inputVariables', ...path].join('.'), LONGEST);

/** The message's other faults are listed beside these. */
const MOST_FAULTS = 25;
const LONGEST = 300;

const firstOf = (faults: readonly string[]): readonly string[] =>
  faults.length <= MOST_FAULTS
    ? faults
    : [...faults.slice(0, MOST_FAULTS), `and ${faults.length - MOST_FAULTS} more`];

const kindOf = (value: unknown) => (typeof value === 'string' ? 'other text' : preview(value));
