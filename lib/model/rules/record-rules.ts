/* The rules that read one record. They import nothing of the other rooms, so that every room may use them. */

/** `other` is the target of a link of unknown type; its id is `TYPE:ID`. The order is stored nowhere. */
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

/** A thing by its kind and its id as `canonicalId` writes it: two things are the same if both are equal. */
export type Thing = { readonly kind: Kind; readonly id: string };

const INTEGER = /^(-?)0*(\d+)$/;
/** Most ids look like this, and are canonical already: they cost only this test. */
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

/** An id from JSON as the text that a request sends: its spelling is kept. Undefined if the value is no id. */
function idText(value: unknown): string | undefined {
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

/** Parses `CARD`, `CARD:PAGE` or `dr:DRILL:ROOT`. */
export function namedCard(value: unknown): Record<'card' | 'root', Thing | undefined> {
  const text = idText(value) ?? '';
  if (!DRILL.test(text)) return { card: thing('card', text.split(':', 1)[0]), root: undefined };
  const [, card, root] = text.split(':', 3);
  return { card: thing('card', card), root: thing('card', root) };
}

const DRILL = /^dr(?::|$)/i;

/**
 * How one thing uses another, read as USER RELATION USED:
 * - A calculation is saved on a dataset, or used on it by a card that it is saved on.
 * - A calculation refers to another, by its formula: as its own text says where that is known.
 * - A card uses a calculation.
 * - A card is built on a dataset.
 * - The card of a drill drills from the root card.
 * - A thing links to another: nothing more is known of a link of another type.
 * - A calculation reads a column, by its formula where the text of that is known.
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
  /** The validity that the link states, in lower case; null if it states none. */
  readonly validity: string | null;
  /** The first field that states it. */
  readonly statedBy: Statement;
};

/** The dataset and the name in the id of a column. */
export function partsOfColumn(id: string): { readonly dataset: string; readonly column: string } {
  const end = id.indexOf(':');
  return { dataset: id.slice(0, end), column: id.slice(end + 1) };
}

/** The sources whose records state uses, with the fields that do. */
export const linkFields = {
  calculations: ['id', 'links', 'activeLinks', 'functionTemplateDependencies'],
  cards: ['id', 'datasourceId', 'datasetId', '_datasetId', 'urn'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type LinkSource = keyof typeof linkFields;

/**
 * A value of a list, such as a status or a sentiment, as SQL, files and commands show it: in lower case, since the
 * platform's case varies. Anything but text is returned unchanged.
 */
export const lowerCase = <Value>(value: Value): Spelled<Value> =>
  (typeof value === 'string' ? value.toLowerCase() : value) as Spelled<Value>;

type Spelled<Value> = Value extends string ? Lowercase<Value> : Value;

/** True if a link's validity is anything but VALID, in any case. */
export const isBroken = (validity: string | null): boolean =>
  validity !== null && lowerCase(validity) !== VALID;

export const isInvalid = (status: unknown): boolean =>
  typeof status === 'string' && status !== '' && lowerCase(status) !== VALID;

const VALID = 'valid';

/**
 * Calls `see` with each use that a record (a value of `parseJson`) states, in the order of its links; a pair of things
 * may repeat. Links of any other shape are skipped. Returns the record's own thing: if it has no id, it states nothing.
 */
export function forEachUse(source: LinkSource, record: unknown, see: (use: Use) => void): Thing | undefined {
  const members = membersOf(record);
  const own = thing(source === 'cards' ? 'card' : 'calculation', members['id']);
  if (own === undefined) return undefined;
  const add = adding(see);
  if (source === 'calculations') {
    const templates = new Set(listIn(members['functionTemplateDependencies']).map(canonicalId));
    eachLink(members, (link) => addLink(own, link, { add, templates }));
  } else {
    const { datasourceId, datasetId, _datasetId, urn } = members;
    const built = thing('dataset', datasourceId);
    // A drill inside a card names its dataset like this.
    const drilled = built === undefined ? thing('dataset', datasetId) : undefined;
    add(own, 'built on', built, 'datasourceId');
    add(own, 'built on', drilled, 'datasetId');
    // A drill of the card uses the dataset in whose list it stood.
    if (drilled === undefined) add(own, 'built on', thing('dataset', _datasetId), '_datasetId');
    add(own, 'drills from', namedCard(urn).root, 'urn');
  }
  return own;
}

/** An id that a record links to, as sent. `isGone`: the link says that its target does not exist. */
export type LinkedId = { readonly id: string; readonly isGone: boolean };

/** The ids of the datasets that a calculation's record uses: their cards are fetched. */
export function datasetsUsed(record: unknown): readonly LinkedId[] {
  const found = new Map<string, LinkedId>();
  // Links with a validity come first: one without adds nothing about the same dataset.
  eachLink(membersOf(record), ({ type, target, validity }) => {
    const used = type === 'DATA_SOURCE' ? thing('dataset', target) : undefined;
    if (used === undefined) return;
    const { id = idText(target) ?? used.id, isGone = true } = found.get(used.id) ?? {};
    const isKnown = found.has(used.id) && validity === null;
    found.set(used.id, { id, isGone: isGone && (isKnown || validity === ILLEGAL_REFERENCE) });
  });
  return [...found.values()];
}

/** The validity of a link to a deleted thing. */
const ILLEGAL_REFERENCE = 'illegal_reference';

const adding =
  (see: (use: Use) => void): Add =>
  (user, relation, used, statedBy, validity = null) => {
    if (user !== undefined && used !== undefined) see({ user, used, relation, validity, statedBy });
  };

type Members = Readonly<Record<string, unknown>>;

type Link = {
  readonly type: string;
  readonly target: unknown;
  /** True of a dataset that the calculation is not itself saved on. */
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

/** All links of a calculation, those with a validity first. */
function eachLink(record: Members, see: (link: Link) => void): void {
  const { links, activeLinks, functionTemplateDependencies } = record;
  for (const each of listIn(links)) {
    const { resource, visible, valid } = membersOf(each);
    const { type, id: target } = membersOf(resource);
    const validity = validityIn(valid);
    const isHidden = visible === false;
    if (typeof type === 'string')
      see({ type: type.toUpperCase(), target, isHidden, validity, statedBy: 'links' });
  }
  const plain = { isHidden: false, validity: null };
  if (!Array.isArray(activeLinks))
    for (const [type, ids] of Object.entries(membersOf(activeLinks)))
      for (const target of Array.isArray(ids) ? ids : [ids])
        see({ ...plain, type: type.toUpperCase(), target, statedBy: 'activeLinks' });
  for (const target of listIn(functionTemplateDependencies))
    see({ ...plain, type: 'FUNCTION_TEMPLATE', target, statedBy: 'functionTemplateDependencies' });
}

/** The target of links of a type, and the relation: a card is the user. `hidden`: the relation of hidden links. */
type LinkType = { readonly kind: Kind; readonly relation: Relation; readonly hidden: Relation };

const linkTypes: ReadonlyMap<string, LinkType> = new Map([
  ['DATA_SOURCE', { kind: 'dataset', relation: 'saved on', hidden: 'used on' }],
  ['FUNCTION_TEMPLATE', { kind: 'calculation', relation: 'refers to', hidden: 'refers to' }],
  ['CARD', { kind: 'card', relation: 'uses', hidden: 'uses' }],
]);
const OTHER_TYPE: LinkType = { kind: 'other', relation: 'links to', hidden: 'links to' };

/** `type`: in upper case. */
const linkTypeOf = (type: string): LinkType => linkTypes.get(type) ?? OTHER_TYPE;

/**
 * Adds a link of a calculation: it names where the calculation is used, a card or another calculation. `templates`: the
 * canonical ids of the calculations that it depends on itself, to which its full record may link as well.
 */
function addLink(
  own: Thing,
  { type, target, isHidden, validity, statedBy }: Link,
  { add, templates }: { readonly add: Add; readonly templates: ReadonlySet<string | undefined> },
): void {
  const { kind, relation, hidden } = linkTypeOf(type);
  if (kind === 'card') {
    const { card, root } = namedCard(target);
    add(card, relation, own, statedBy, validity);
    add(card, 'drills from', root, statedBy);
  } else if (kind === 'calculation') {
    const other = thing(kind, target);
    if (templates.has(other?.id)) add(own, relation, other, 'functionTemplateDependencies', validity);
    else add(other, relation, own, statedBy, validity);
  } else if (kind !== 'other')
    add(own, isHidden ? hidden : relation, thing(kind, target), statedBy, validity);
  else if (type !== '' && idText(target) !== undefined)
    add(own, relation, thing(kind, `${type}:${idText(target)}`), statedBy, validity);
}

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null ? (value as Members) : {};
