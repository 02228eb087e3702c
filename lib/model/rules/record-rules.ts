/*
 * The rules that read a single record. They import nothing from other rooms, so that every room may use them.
 */

/**
 * The kinds of things. `other` is the target of a link of unknown type; its id is `TYPE:ID`. The order may change: it
 * is part of `USES_FORMAT`.
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

/** The kind of a thing: see `kinds`. */
export type Kind = (typeof kinds)[number];

/** A thing by its kind and its id, in the form of `canonicalId`: two things are the same if both are equal. */
export type Thing = { readonly kind: Kind; readonly id: string };

const INTEGER = /^(-?)0*(\d+)$/;
/** Matches integers that are already canonical. Most ids are, so this fast test is tried first. */
export const CANONICAL_DIGITS = /^[1-9]\d*$/;

/**
 * The canonical form of an id from JSON: equal ids become equal strings. Integers become digits without leading zeros;
 * other strings become lower case. Undefined if the value is not an id: another type, a fraction, or only white space.
 */
export function canonicalId(value: unknown): string | undefined {
  const text = idString(value);
  if (text === undefined || CANONICAL_DIGITS.test(text)) return text;
  const [, sign = '', digits] = INTEGER.exec(text) ?? [];
  if (digits === undefined) return text.toLowerCase();
  return digits === '0' ? '0' : `${sign}${digits}`;
}

/** An id from JSON as a string, spelled as it was received, for requests. Undefined if the value is not an id. */
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

/** Parses the name of a card: `CARD`, `CARD:PAGE` or `dr:DRILL:ROOT`. `root`: the card that the drill opens from. */
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
 * - A calculation refers to another calculation in its formula. If the formula's text is known, that decides.
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

/** How one thing uses another: see `relations`. */
export type Relation = (typeof relations)[number];

/** The fields of a record that state uses; `formula` is the text of a known formula. */
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

/** A field that states uses. */
export type Statement = (typeof statements)[number];

/** `user` breaks if `used` is deleted. */
export type Use = {
  readonly user: Thing;
  readonly used: Thing;
  readonly relation: Relation;
  /** The validity that the link has, in lower case; null if it has none. */
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

/** A source whose records state uses. */
export type LinkSource = keyof typeof linkFields;

/**
 * A value such as a status or a sentiment in lower case. SQL, files and commands show it so, since the platform's case
 * varies. A value that is not a string is returned unchanged.
 */
export const lowerCase = <Value>(value: Value): Spelled<Value> =>
  (typeof value === 'string' ? value.toLowerCase() : value) as Spelled<Value>;

type Spelled<Value> = Value extends string ? Lowercase<Value> : Value;

/** Whether a link's validity is anything but VALID, in any case. */
export const isBroken = (validity: string | null): boolean =>
  validity !== null && lowerCase(validity) !== VALID;

/** Whether a status is anything but VALID, in any case; false without a status. */
export const isInvalid = (status: unknown): boolean =>
  typeof status === 'string' && status !== '' && lowerCase(status) !== VALID;

const VALID = 'valid';

/**
 * Calls `visit` with each use that a record (a result of `parseJson`) states, in the order of its links; the same pair
 * of things may occur again. Links of unknown shape are skipped. Returns the thing that the record describes;
 * undefined, without uses, if the record has no id.
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
    // A drill that was listed inside a card has its dataset in `datasetId`.
    const drilled = built === undefined ? thing('dataset', datasetId) : undefined;
    add(own, 'built on', built, 'datasourceId');
    add(own, 'built on', drilled, 'datasetId');
    // Otherwise the card, or one of its drills, uses the dataset that listed the card.
    if (drilled === undefined) add(own, 'built on', thing('dataset', _datasetId), '_datasetId');
    add(own, 'drills from', parseCardName(urn).root, 'urn');
  }
  return own;
}

/** An id that a record links to, as sent. `isGone`: the link states that its target does not exist. */
export type LinkedId = { readonly id: string; readonly isGone: boolean };

/** The ids of the datasets that a calculation's record links to, whose cards a run fetches. */
export function datasetsUsed(record: unknown): readonly LinkedId[] {
  const found = new Map<string, LinkedId>();
  // Links with a validity come first. If a dataset is already found, a link without a validity does not change it.
  eachLink(membersOf(record), ({ type, target, validity }) => {
    const used = type === 'DATA_SOURCE' ? thing('dataset', target) : undefined;
    if (used === undefined) return;
    const { id = idString(target) ?? used.id, isGone = true } = found.get(used.id) ?? {};
    const isKnown = found.has(used.id) && validity === null;
    found.set(used.id, { id, isGone: isGone && (isKnown || validity === ILLEGAL_REFERENCE) });
  });
  return [...found.values()];
}

/** The validity of a link to a thing that was deleted. */
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

/** The validity in a link's member `valid`. */
const validityIn = (valid: unknown): string | null =>
  typeof valid === 'string' && valid !== '' ? lowerCase(valid) : null;

type Add = (
  user: Thing | undefined,
  relation: Relation,
  used: Thing | undefined,
  statedBy: Statement,
  validity?: string | null,
) => void;

/** Calls `visit` with all links of a calculation; links that may have a validity come first. */
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
 * What a type of link means: the kind of its target, and the relation. `hidden`: the relation for links that are not
 * visible.
 */
type LinkType = { readonly kind: Kind; readonly relation: Relation; readonly hidden: Relation };

const linkTypes: ReadonlyMap<string, LinkType> = new Map([
  ['DATA_SOURCE', { kind: 'dataset', relation: 'saved on', hidden: 'used on' }],
  ['FUNCTION_TEMPLATE', { kind: 'calculation', relation: 'refers to', hidden: 'refers to' }],
  ['CARD', { kind: 'card', relation: 'uses', hidden: 'uses' }],
]);
const OTHER_TYPE: LinkType = { kind: 'other', relation: 'links to', hidden: 'links to' };

/** What a type of link means. `type`: in upper case. */
const linkTypeOf = (type: string): LinkType => linkTypes.get(type) ?? OTHER_TYPE;

/**
 * Adds the use that a link of a calculation states. A link to a card or to another calculation means that the linked
 * thing uses the calculation. `templates`: the canonical ids of the calculations to which its own formula refers; its
 * full record may link to these as well, and then the direction is the opposite.
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
