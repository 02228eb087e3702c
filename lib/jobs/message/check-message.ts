import type * as z from 'zod/mini';
import { faultsOf, preview } from '../../json/faults.ts';
import { type FieldRule, type GivenMessage, isObject } from './fields.ts';

/** What a message of one type is checked by, and how a job that names no id gets one. */
export type MessageChecks<Message, Input = unknown> = {
  /** Checks every field by itself, and fills in defaults. */
  readonly schema: z.ZodMiniType<Message, Input>;
  /** What several fields must agree on. */
  readonly rules: readonly FieldRule[];
  /** The id of a job whose message names none: the queue's id of the message, or the hash of its content. */
  readonly defaultId: 'message-id' | 'content-hash';
};

/** A message as it was checked, or everything that is wrong with it. */
export type CheckedMessage<Message> =
  | { readonly kind: 'message'; readonly message: Message }
  | { readonly kind: 'faults'; readonly faults: readonly string[] };

/** What fields are called where the message came from; by default as they are. */
export type FieldNames = Readonly<Partial<Record<string, string>>>;

/** Checks a message; every fault is reported at once, under the name that its field has in `names`. */
export function checkMessage<Message>(
  { schema, rules }: Pick<MessageChecks<Message>, 'schema' | 'rules'>,
  given: GivenMessage,
  names: FieldNames = {},
): CheckedMessage<Message> {
  const nameOf = (field: string) => names[field] ?? field;
  const place = ([first = '', ...rest]: readonly PropertyKey[]) => [nameOf(String(first)), ...rest].join('.');
  const texts = textsIn(given['texts']);
  const hide = (text: string) => (texts.has(text) ? `${text.length} characters, not shown` : text);
  const { data, error } = schema.safeParse(given);
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

/** The texts to score, wherever below `texts` they stand by mistake, in a message of whatever type; ids are no texts. */
function textsIn(texts: unknown): ReadonlySet<string> {
  const found = (Array.isArray(texts) ? texts : [texts]).flatMap((each) =>
    isObject(each) ? Object.entries(each).flatMap(([name, value]) => (name === 'id' ? [] : [value])) : [each],
  );
  return new Set(found.filter((each) => typeof each === 'string' && each.trim() !== ''));
}
