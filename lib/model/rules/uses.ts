import { idText, namedCard, type Thing, thing } from './thing.ts';

/**
 * How one thing uses another, read as USER RELATION USED: a calculation is saved on a dataset, or used on it by a card
 * that it is saved on; a calculation refers to another; a card uses a calculation; a card is built on a dataset; the card
 * of a drill drills from the root card; `links to` is all that is known of a link of another type.
 */
export const relations = [
  'saved on',
  'used on',
  'refers to',
  'uses',
  'built on',
  'drills from',
  'links to',
] as const;

export type Relation = (typeof relations)[number];

/** The fields that state uses. */
export const statements = [
  'links',
  'activeLinks',
  'functionTemplateDependencies',
  'datasourceId',
  '_datasetId',
  'urn',
] as const;

export type Statement = (typeof statements)[number];

/** `user` breaks if `used` is deleted. */
export type Use = {
  readonly user: Thing;
  readonly used: Thing;
  readonly relation: Relation;
  /** What the link says of itself, as sent; null if it says nothing. */
  readonly validity: string | null;
  /** The field that states it first. */
  readonly statedBy: Statement;
};

/** The source of records that state uses, and the fields of them that it takes. */
export const statingFields = {
  calculations: ['id', 'links', 'activeLinks', 'functionTemplateDependencies'],
  cards: ['id', 'datasourceId', '_datasetId', 'urn'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type StatingSource = keyof typeof statingFields;

/** True if what a link says of itself makes it a broken one: anything but VALID, whatever its case. */
export const isBroken = (validity: string | null): boolean =>
  validity !== null && validity.toUpperCase() !== 'VALID';

/** True if the status of a calculation, as received in JSON, makes it invalid. */
export const isInvalid = (status: unknown): boolean =>
  typeof status === 'string' && status !== '' && status.toUpperCase() !== 'VALID';

/**
 * Calls `see` with what a record, as `parseJson` returns it, says of who uses whom, in the order of its links: the same pair
 * of things may come again. Nothing if it has no id. Links of any other shape are skipped and hide none of the rest.
 */
export function eachUse(source: StatingSource, record: unknown, see: (use: Use) => void): void {
  const add = ({ user, used, ...said }: Said) => {
    if (user !== undefined && used !== undefined) see({ user, used, ...said });
  };
  const members = membersOf(record);
  if (source === 'calculations') addCalculation(members, add);
  else addCard(members, add);
}

/** The ids of the datasets that a calculation's record uses, spelled as sent: cards of these are fetched. */
export function datasetsUsed(record: unknown): readonly string[] {
  const found = new Map<string, string>();
  eachLink(membersOf(record), ({ type, target }) => {
    const used = type === 'DATA_SOURCE' ? thing('dataset', target) : undefined;
    if (used !== undefined && !found.has(used.id)) found.set(used.id, idText(target) ?? used.id);
  });
  return [...found.values()];
}

type Members = Readonly<Record<string, unknown>>;

/** A link, from whichever field. */
type Link = {
  /** In upper case. */
  readonly type: string;
  readonly target: unknown;
  /** True of a dataset that the calculation is not itself saved on. */
  readonly isHidden: boolean;
  readonly validity: string | null;
  readonly statedBy: Statement;
};

type Said = Omit<Use, 'user' | 'used'> & {
  readonly user: Thing | undefined;
  readonly used: Thing | undefined;
};

type Add = (use: Said) => void;

function addCalculation(record: Members, add: Add): void {
  const own = thing('calculation', record['id']);
  if (own !== undefined) eachLink(record, (link) => addLink(own, link, add));
}

function addCard({ id, datasourceId, _datasetId, urn }: Members, add: Add): void {
  const user = thing('card', id);
  const { root } = namedCard(urn);
  const said = { user, validity: null } as const;
  add({ ...said, used: thing('dataset', datasourceId), relation: 'built on', statedBy: 'datasourceId' });
  // A drill of the card uses the dataset in whose list it stood.
  add({ ...said, used: thing('dataset', _datasetId), relation: 'built on', statedBy: '_datasetId' });
  add({ ...said, used: root, relation: 'drills from', statedBy: 'urn' });
}

/** All links of a calculation, those with a validity first. */
function eachLink(record: Members, see: (link: Link) => void): void {
  const { links, activeLinks, functionTemplateDependencies } = record;
  for (const each of listIn(links)) {
    const { resource, visible, valid } = membersOf(each);
    const { type, id: target } = membersOf(resource);
    const validity = typeof valid === 'string' && valid !== '' ? valid : null;
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

function addLink(own: Thing, { type, target, isHidden, validity, statedBy }: Link, add: Add): void {
  const said = { user: own, validity, statedBy } as const;
  switch (type) {
    case 'DATA_SOURCE':
      add({ ...said, used: thing('dataset', target), relation: isHidden ? 'used on' : 'saved on' });
      break;
    case 'FUNCTION_TEMPLATE':
      add({ ...said, used: thing('calculation', target), relation: 'refers to' });
      break;
    case 'CARD': {
      const { card, root } = namedCard(target);
      add({ ...said, user: card, used: own, relation: 'uses' });
      add({ ...said, user: card, used: root, relation: 'drills from', validity: null });
      break;
    }
    default: {
      const id = idText(target);
      const used = id === undefined || type === '' ? undefined : thing('other', `${type}:${id}`);
      add({ ...said, used, relation: 'links to' });
    }
  }
}

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The members of any value; none if it is not an object. */
const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null ? (value as Members) : {};
