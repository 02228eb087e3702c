/*
 * The rules that read a single record. They import nothing from other rooms, so that every room may use them.
 */

/**
 * The kinds of things. `other` is the target of a link of unknown type; its id is `TYPE:ID`. Their order is
 * not stored, so it may change.
 */
export const kinds = [
  'calculation',
  'card',
  'dataset',
  'data-file',
  'fileset',
  'file',
  'user',
  'column',
  'other',
] as const;

export type Kind = (typeof kinds)[number];

/** A thing by its kind and its id, in the form of `canonicalId`: two things are the same if both are equal. */
export type Thing = { readonly kind: Kind; readonly id: string };

const INTEGER = /^(-?)0*(\d+)$/;
/** Matches most ids, which are already canonical, so that this fast test suffices for them. */
export const CANONICAL_DIGITS = /^[1-9]\d*$/;

/**
 * An id from JSON in canonical form: equal ids become equal strings. Integers become digits without leading zeros, other
 * strings become lower case. Undefined if the value is not an id: another type, a fraction, or only white space.
 */
export function canonicalId(value: unknown): string | undefined {
  const text = idString(value);
  if (text === undefined || CANONICAL_DIGITS.test(text)) return text;
  const [, sign = '', digits] = INTEGER.exec(text) ?? [];
  if (digits === undefined) return text.toLowerCase();
  return digits === '0' ? '0' : `${sign}${digits}`;
}

/** An id from JSON as a string in its own spelling, as requests send it. Undefined if the value is not an id. */
function idString(value: unknown): string | undefined {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined;
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  return text === '' ? undefined : text;
}

/** The thing with this kind and an id from JSON; undefined if the value is not an id. */
export function thing(kind: Kind, value: unknown): Thing | undefined {
  const id = canonicalId(value);
  return id === undefined ? undefined : { kind, id };
}

/** Parses `CARD`, `CARD:PAGE` or `dr:DRILL:ROOT`. */
export function parseCardName(value: unknown): Record<'card' | 'root', Thing | undefined> {
  const text = idString(value) ?? '';
  if (!DRILL.test(text)) return { card: thing('card', text.split(':', 1)[0]), root: undefined };
  const [, card, root] = text.split(':', 3);
  return { card: thing('card', card), root: thing('card', root) };
}

const DRILL = /^dr(?::|$)/i;

/**
 * How one thing uses another, read as USER RELATION USED:
 * - A calculation is saved on a dataset, or used on it by a card that it is saved on.
 * - A calculation refers to another calculation in its formula. If the formula's text is known, it decides.
 * - A card uses a calculation.
 * - A card is built on a dataset.
 * - The card of a drill drills from the root card.
 * - A thing links to another thing, with a link of unknown type.
 * - A calculation reads a column in its formula, if the formula's text is known.
 */
export const relations = [
  'saved on',
  'used on',
  'refers to',
  'uses',
  'built on',
  'drills from',
  'links to',
  'reads',
] as const;

export type Relation = (typeof relations)[number];

export const statements = [
  'links',
  'activeLinks',
  'functionTemplateDependencies',
  'datasourceId',
  'datasetId',
  '_datasetId',
  'urn',
  'formula',
] as const;

export type Statement = (typeof statements)[number];

/** `user` breaks if `used` is deleted. */
export type Use = {
  readonly user: Thing;
  readonly used: Thing;
  readonly relation: Relation;
  /** The validity that the link states, in lower case; null without a validity. */
  readonly validity: string | null;
  /** The first field that states the use. */
  readonly statedBy: Statement;
};

/** The dataset and the name of a column, from its id. */
export function partsOfColumn(id: string): { readonly dataset: string; readonly column: string } {
  const end = id.indexOf(':');
  return { dataset: id.slice(0, end), column: id.slice(end + 1) };
}

/** The sources whose records state uses, with the fields that state them. */
export const linkFields = {
  calculations: ['id', 'links', 'activeLinks', 'functionTemplateDependencies'],
  cards: ['id', 'datasourceId', 'datasetId', '_datasetId', 'urn'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type LinkSource = keyof typeof linkFields;

/**
 * The lower-case form of a value such as a status or a sentiment, as SQL, files and commands show it, since
 * the platform's case varies. A value that is not a string is returned unchanged.
 */
export const lowerCase = <Value>(value: Value): Spelled<Value> =>
  (typeof value === 'string' ? value.toLowerCase() : value) as Spelled<Value>;

type Spelled<Value> = Value extends string ? Lowercase<Value> : Value;

/** Whether a link's validity is anything but VALID, in any case. */
export const isBroken = (validity: string | null): boolean =>
  validity !== null && lowerCase(validity) !== VALID;

export const isInvalid = (status: unknown): boolean =>
  typeof status === 'string' && status !== '' && lowerCase(status) !== VALID;

const VALID = 'valid';

/**
 * Calls `visit` with each use that a record (a value of `parseJson`) states, in the order of its links; a pair
 * of things may repeat. Links of unknown shape are skipped. Returns the record's own thing; a record without
 * an id states no uses.
 */
export function forEachUse(
  source: LinkSource,
  record: unknown,
  visit: (use: Use) => void,
): Thing | undefined {
  const members = membersOf(record);
  const own = thing(source === 'cards' ? 'card' : 'calculation', members['id']);
  if (own === undefined) return undefined;
  const add = createAdd(visit);
  if (source === 'calculations') {
    const templates = new Set(listIn(members['functionTemplateDependencies']).map(canonicalId));
    eachLink(members, (link) => addLink(own, link, { add, templates }));
  } else {
    const { datasourceId, datasetId, _datasetId, urn } = members;
    const built = thing('dataset', datasourceId);
    // A drill inside a card names its dataset in this member.
    const drilled = built === undefined ? thing('dataset', datasetId) : undefined;
    add(own, 'built on', built, 'datasourceId');
    add(own, 'built on', drilled, 'datasetId');
    // A drill of the card uses the dataset in whose list it was found.
    if (drilled === undefined) add(own, 'built on', thing('dataset', _datasetId), '_datasetId');
    add(own, 'drills from', parseCardName(urn).root, 'urn');
  }
  return own;
}

/** An id that a record links to, as sent. `isGone`: the link states that its target does not exist. */
export type LinkedId = { readonly id: string; readonly isGone: boolean };

/** The ids of the datasets that a calculation's record uses, whose cards are to be fetched. */
export function datasetsUsed(record: unknown): readonly LinkedId[] {
  const found = new Map<string, LinkedId>();
  // Links with a validity come first. A link without a validity adds nothing to a dataset that is already found.
  eachLink(membersOf(record), ({ type, target, validity }) => {
    const used = type === 'DATA_SOURCE' ? thing('dataset', target) : undefined;
    if (used === undefined) return;
    const { id = idString(target) ?? used.id, isGone = true } = found.get(used.id) ?? {};
    const isKnown = found.has(used.id) && validity === null;
    found.set(used.id, { id, isGone: isGone && (isKnown || validity === ILLEGAL_REFERENCE) });
  });
  return [...found.values()];
}

/** The validity of a link to a deleted thing. */
const ILLEGAL_REFERENCE = 'illegal_reference';

const createAdd =
  (visit: (use: Use) => void): Add =>
  (user, relation, used, statedBy, validity = null) => {
    if (user !== undefined && used !== undefined) visit({ user, used, relation, validity, statedBy });
  };

type Members = Readonly<Record<string, unknown>>;

type Link = {
  readonly type: string;
  readonly target: unknown;
  /** Whether the calculation is not saved on the dataset, but only used on it through a card. */
  readonly isHidden: boolean;
  readonly validity: string | null;
  readonly statedBy: Statement;
};

/** A link's `valid` as a validity. */
const validityIn = (valid: unknown): string | null =>
  typeof valid === 'string' && valid !== '' ? lowerCase(valid) : null;

type Add = (
  user: Thing | undefined,
  relation: Relation,
  used: Thing | undefined,
  statedBy: Statement,
  validity?: string | null,
) => void;

/** Calls `visit` with all links of a calculation, links with a validity first. */
function eachLink(record: Members, visit: (link: Link) => void): void {
  const { links, activeLinks, functionTemplateDependencies } = record;
  for (const each of listIn(links)) {
    const { resource, visible, valid } = membersOf(each);
    const { type, id: target } = membersOf(resource);
    const validity = validityIn(valid);
    const isHidden = visible === false;
    if (typeof type === 'string')
      visit({ type: type.toUpperCase(), target, isHidden, validity, statedBy: 'links' });
  }
  const plain = { isHidden: false, validity: null };
  if (!Array.isArray(activeLinks))
    for (const [type, ids] of Object.entries(membersOf(activeLinks)))
      for (const target of Array.isArray(ids) ? ids : [ids])
        visit({ ...plain, type: type.toUpperCase(), target, statedBy: 'activeLinks' });
  for (const target of listIn(functionTemplateDependencies))
    visit({ ...plain, type: 'FUNCTION_TEMPLATE', target, statedBy: 'functionTemplateDependencies' });
}

/**
 * What a type of link means: the kind of its target, and the relation. The user is the card. `hidden`: the
 * relation of hidden links.
 */
type LinkType = { readonly kind: Kind; readonly relation: Relation; readonly hidden: Relation };

const linkTypes: ReadonlyMap<string, LinkType> = new Map([
  ['DATA_SOURCE', { kind: 'dataset', relation: 'saved on', hidden: 'used on' }],
  ['FUNCTION_TEMPLATE', { kind: 'calculation', relation: 'refers to', hidden: 'refers to' }],
  ['CARD', { kind: 'card', relation: 'uses', hidden: 'uses' }],
]);
const OTHER_TYPE: LinkType = { kind: 'other', relation: 'links to', hidden: 'links to' };

/** The meaning of a link's type, given in upper case. */
const linkTypeOf = (type: string): LinkType => linkTypes.get(type) ?? OTHER_TYPE;

/**
 * Adds the use that a link of a calculation states. The link names where the calculation is used: a card or
 * another calculation. `templates`: the canonical ids of the calculations that it depends on itself; its full
 * record may link to these as well.
 */
function addLink(
  own: Thing,
  { type, target, isHidden, validity, statedBy }: Link,
  { add, templates }: { readonly add: Add; readonly templates: ReadonlySet<string | undefined> },
): void {
  const { kind, relation, hidden } = linkTypeOf(type);
  if (kind === 'card') {
    const { card, root } = parseCardName(target);
    add(card, relation, own, statedBy, validity);
    add(card, 'drills from', root, statedBy);
  } else if (kind === 'calculation') {
    const other = thing(kind, target);
    if (templates.has(other?.id)) add(own, relation, other, 'functionTemplateDependencies', validity);
    else add(other, relation, own, statedBy, validity);
  } else if (kind !== 'other')
    add(own, isHidden ? hidden : relation, thing(kind, target), statedBy, validity);
  else if (type !== '' && idString(target) !== undefined)
    add(own, relation, thing(kind, `${type}:${idString(target)}`), statedBy, validity);
}

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null ? (value as Members) : {};
