import type * as z from 'zod/mini';
import { checkedBy, faultsOf, own, preview } from '../../base/index.ts';
import { type FieldRule, type GivenMessage, isObject } from './fields.ts';

/** How a message of one type is checked, and how a job gets its id if the message names none. */
export type MessageChecks<Message, Input = unknown> = {
  /** Checks each field on its own, and fills in defaults. */
  readonly schema: z.ZodMiniType<Message, Input>;
  /** Rules that involve several fields. */
  readonly rules?: readonly FieldRule[];
  /** The id of a job whose message names none: the queue's id of the message, or the hash of its content. */
  readonly defaultId: 'message-id' | 'content-hash';
  /** Makes the message that is checked of one that was written in another form. Default: it is checked as it is. */
  readonly expand?: (message: GivenMessage) => ExpandedMessage;
};

/** A message in the form that is checked, and what was wrong with the other form. */
export type ExpandedMessage = { readonly given: GivenMessage; readonly faults: readonly string[] };

/** A checked message, or everything that is wrong with it. */
export type CheckedMessage<Message> =
  | { readonly kind: 'message'; readonly message: Message }
  | { readonly kind: 'faults'; readonly faults: readonly string[] };

/** What fields are called where the message came from; by default they have the same names. */
export type FieldNames = Readonly<Partial<Record<string, string>>>;

/** Checks a message; every fault is reported at once, under the name that its field has in `names`. */
export function checkMessage<Message>(
  { schema, rules = [] }: Pick<MessageChecks<Message>, 'schema' | 'rules'>,
  given: GivenMessage,
  names: FieldNames = {},
): CheckedMessage<Message> {
  const nameOf = (field: string) => own(names, field) ?? field;
  const place = ([first = '', ...rest]: readonly PropertyKey[]) => [nameOf(String(first)), ...rest].join('.');
  const texts = textsIn(given['texts']);
  const hide = (text: string) => (texts.has(text) ? `${text.length} characters, not shown` : text);
  const { data, error } = checkedBy(schema, given);
  const faults = [
    ...(error === undefined ? [] : faultsOf(error, given, { place, hide })),
    ...rules
      .filter(({ holds }) => !holds(given))
      .map(({ at, expected }) => {
        const wanted = typeof expected === 'string' ? expected : expected(nameOf);
        return `${nameOf(at)}: expected ${wanted}, got ${preview(given[at], hide)}`;
      }),
  ];
  return data === undefined || faults.length > 0
    ? { kind: 'faults', faults }
    : { kind: 'message', message: data };
}

/** The texts to score, wherever under `texts` they are by mistake, in a message of any type; ids are not texts. */
function textsIn(texts: unknown): ReadonlySet<string> {
  const found = (Array.isArray(texts) ? texts : [texts]).flatMap((each) =>
    isObject(each) ? Object.entries(each).flatMap(([name, value]) => (name === 'id' ? [] : [value])) : [each],
  );
  return new Set(found.filter((each) => typeof each === 'string' && each.trim() !== ''));
}
