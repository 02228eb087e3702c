/**
 * The kinds of things that records name. `other` is what a link of a type without a kind names: its id is
 * `TYPE:ID`. The order is stored nowhere.
 */
export const kinds = [
  'calculation',
  'card',
  'dataset',
  'data-file',
  'fileset',
  'file',
  'user',
  'other',
] as const;

export type Kind = (typeof kinds)[number];

/** A thing by its kind and its id as `canonicalId` writes it: two things are the same if both are equal. */
export type Thing = { readonly kind: Kind; readonly id: string };

const INTEGER = /^(-?)0*(\d+)$/;
/** Most ids are like this, and canonical already: they cost no more than the test. */
export const CANONICAL_DIGITS = /^[1-9]\d*$/;

/**
 * An id as received in JSON in the one form in which equal ids are equal texts: the digits of an integer without leading
 * zeros, any other text in lower case. Undefined if the value is no id: another type, a fraction, or nothing but space.
 */
export function canonicalId(value: unknown): string | undefined {
  const text = idText(value);
  if (text === undefined || CANONICAL_DIGITS.test(text)) return text;
  const [, sign = '', digits] = INTEGER.exec(text) ?? [];
  if (digits === undefined) return text.toLowerCase();
  return digits === '0' ? '0' : `${sign}${digits}`;
}

/** An id as received in JSON as the text that a request sends: its spelling is kept. Undefined if the value is no id. */
export function idText(value: unknown): string | undefined {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined;
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  return text === '' ? undefined : text;
}

/** The thing of a kind with an id as received in JSON; undefined if that is no id. */
export function thing(kind: Kind, value: unknown): Thing | undefined {
  const id = canonicalId(value);
  return id === undefined ? undefined : { kind, id };
}

/** A text that no other thing has. */
export const thingKey = ({ kind, id }: Thing): string => `${kind} ${id}`;

/** The card that the id of a link names, and of a drill the card that it drills from. */
export type NamedCard = { readonly card: Thing | undefined; readonly root: Thing | undefined };

/** Reads `CARD`, `CARD:PAGE` and `dr:DRILL:ROOT`. */
export function namedCard(value: unknown): NamedCard {
  const [first = '', second, third] = (idText(value) ?? '').split(':', 3);
  if (first.toLowerCase() !== 'dr') return { card: thing('card', first), root: undefined };
  return { card: thing('card', second), root: thing('card', third) };
}
