import { idDigits } from '../../platform/id.ts';
import type { Kind, Relation } from './graph.ts';

/** A thing by its kind and id: an id that is an integer is its digits, any other is as the platform sent it. */
export type Thing = { readonly kind: Kind; readonly id: string };

/** `user` breaks if `used` is deleted. `valid`: what the link says instead of VALID; undefined if it says that, or nothing. */
export type Edge = {
  readonly user: Thing;
  readonly used: Thing;
  readonly relation: Relation;
  readonly valid: string | undefined;
};

/**
 * What a calculation's record, as `parseJson` returns it, says of who uses whom: by its `links`, and by those of its
 * `activeLinks` that they lack. Each pair of things once; links of any other shape or type are skipped. None if the
 * record has no id.
 */
export function calculationEdges(record: unknown): readonly Edge[] {
  const { id, links, activeLinks } = membersOf(record);
  const own = thing('calculation', id);
  if (own === undefined) return [];
  const found = new Map<string, Edge>();
  if (Array.isArray(links)) for (const link of links) addLink(found, own, link);
  for (const [type, ids] of Object.entries(membersOf(activeLinks)))
    for (const target of Array.isArray(ids) ? ids : [ids])
      addEdges(found, own, { type: type.toUpperCase(), target, isHidden: false, valid: undefined });
  return [...found.values()];
}

/**
 * What a card's record says: the dataset that it is built on, and the one in whose list it stood if that is another one,
 * since a drill of it uses that. None if the record has no id.
 */
export function cardEdges(record: unknown): readonly Edge[] {
  const { id, datasourceId, _datasetId } = membersOf(record);
  const user = thing('card', id);
  const used = [thing('dataset', datasourceId), thing('dataset', _datasetId)];
  if (user === undefined) return [];
  const found = new Map<string, Edge>();
  for (const each of used) add(found, user, each, 'built on', undefined);
  return [...found.values()];
}

/** The thing with an id as received in JSON; undefined if that is not an id. */
export function thing(kind: Kind, id: unknown): Thing | undefined {
  const text = kind === 'dataset' ? textOf(id) : digitsOf(id);
  return text === undefined || text === '' ? undefined : { kind, id: text };
}

/** A text of `kind` and id that no other thing has. */
export const thingKey = ({ kind, id }: Thing): string => `${kind} ${id}`;

/** Most ids are texts of digits as they should be, which cost nothing. */
const PLAIN_DIGITS = /^[1-9]\d{0,63}$/;

const digitsOf = (id: unknown): string | undefined =>
  typeof id === 'string' && PLAIN_DIGITS.test(id) ? id : (idDigits(id) ?? textOf(id));

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : idDigits(value));

type Link = {
  /** In upper case. */
  readonly type: string;
  readonly target: unknown;
  /** True of a dataset that the calculation is not itself saved on. */
  readonly isHidden: boolean;
  readonly valid: string | undefined;
};

function addLink(found: Map<string, Edge>, own: Thing, link: unknown): void {
  const { resource, visible, valid } = membersOf(link);
  const { type, id: target } = membersOf(resource);
  if (typeof type !== 'string') return;
  const isValid = typeof valid !== 'string' || valid.toUpperCase() === 'VALID';
  const said = { isHidden: visible === false, valid: isValid ? undefined : valid };
  addEdges(found, own, { type: type.toUpperCase(), target, ...said });
}

function addEdges(found: Map<string, Edge>, own: Thing, { type, target, isHidden, valid }: Link): void {
  switch (type) {
    case 'DATA_SOURCE':
      add(found, own, thing('dataset', target), isHidden ? 'used on' : 'saved on', valid);
      break;
    case 'FUNCTION_TEMPLATE':
      add(found, own, thing('calculation', target), 'refers to', valid);
      break;
    case 'CARD': {
      const { card, root } = cardsOf(target);
      add(found, card, own, 'uses', valid);
      add(found, card, root, 'drills from', undefined);
    }
  }
}

/** The card that `CARD:PAGE` or `dr:DRILL:ROOT` names, and of a drill its root card. */
function cardsOf(target: unknown): { readonly card: Thing | undefined; readonly root: Thing | undefined } {
  const text = textOf(target) ?? '';
  const end = text.indexOf(':');
  const first = end === -1 ? text : text.slice(0, end);
  if (first.toLowerCase() !== 'dr') return { card: thing('card', first), root: undefined };
  const [, second, third] = text.split(':', 3);
  return { card: thing('card', second), root: thing('card', third) };
}

/** Of several links between the same things, the first counts, and the first of them that is not valid. */
function add(
  found: Map<string, Edge>,
  user: Thing | undefined,
  used: Thing | undefined,
  relation: Relation,
  valid: string | undefined,
): void {
  if (user === undefined || used === undefined) return;
  const key = `${thingKey(user)}\n${thingKey(used)}`;
  const before = found.get(key);
  if (before === undefined) found.set(key, { user, used, relation, valid });
  else if (before.valid === undefined && valid !== undefined) found.set(key, { ...before, valid });
}

/** The members of any value; none if it is not an object. */
const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
