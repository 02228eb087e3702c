import { idText, namedCard, type Thing, thing, thingKey } from './thing.ts';

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
 * What a record, as `parseJson` returns it, says of who uses whom: each pair of things once. None if it has no id. Links
 * of any other shape are skipped and hide none of the rest. Of several links between the same two, the first counts, with
 * the first validity that is not VALID.
 */
export function usesOf(source: StatingSource, record: unknown): readonly Use[] {
  const members = membersOf(record);
  const found = new Map<string, Use>();
  if (source === 'calculations') addCalculation(found, members);
  else addCard(found, members);
  return [...found.values()];
}

/** The ids of the datasets that a calculation's record uses, spelled as sent: cards of these are fetched. */
export function datasetsUsed(record: unknown): readonly string[] {
  const found = new Map<string, string>();
  for (const { type, target } of linksIn(membersOf(record))) {
    const used = type === 'DATA_SOURCE' ? thing('dataset', target) : undefined;
    if (used !== undefined && !found.has(used.id)) found.set(used.id, idText(target) ?? used.id);
  }
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

function addCalculation(found: Map<string, Use>, record: Members): void {
  const own = thing('calculation', record['id']);
  if (own === undefined) return;
  for (const link of linksIn(record)) addLink(found, own, link);
}

function addCard(found: Map<string, Use>, { id, datasourceId, _datasetId, urn }: Members): void {
  const user = thing('card', id);
  const { root } = namedCard(urn);
  const said = { user, validity: null } as const;
  add(found, {
    ...said,
    used: thing('dataset', datasourceId),
    relation: 'built on',
    statedBy: 'datasourceId',
  });
  // A drill of the card uses the dataset in whose list it stood.
  add(found, { ...said, used: thing('dataset', _datasetId), relation: 'built on', statedBy: '_datasetId' });
  add(found, { ...said, used: root, relation: 'drills from', statedBy: 'urn' });
}

/** All links of a calculation, those with a validity first. */
function* linksIn({ links, activeLinks, functionTemplateDependencies }: Members): Generator<Link> {
  for (const each of listIn(links)) {
    const { resource, visible, valid } = membersOf(each);
    const { type, id: target } = membersOf(resource);
    const validity = typeof valid === 'string' && valid !== '' ? valid : null;
    const isHidden = visible === false;
    if (typeof type === 'string')
      yield { type: type.toUpperCase(), target, isHidden, validity, statedBy: 'links' };
  }
  const plain = { isHidden: false, validity: null };
  if (!Array.isArray(activeLinks))
    for (const [type, ids] of Object.entries(membersOf(activeLinks)))
      for (const target of Array.isArray(ids) ? ids : [ids])
        yield { ...plain, type: type.toUpperCase(), target, statedBy: 'activeLinks' };
  for (const target of listIn(functionTemplateDependencies))
    yield { ...plain, type: 'FUNCTION_TEMPLATE', target, statedBy: 'functionTemplateDependencies' };
}

function addLink(found: Map<string, Use>, own: Thing, link: Link): void {
  const { type, target, isHidden, validity, statedBy } = link;
  const said = { user: own, validity, statedBy } as const;
  switch (type) {
    case 'DATA_SOURCE':
      add(found, { ...said, used: thing('dataset', target), relation: isHidden ? 'used on' : 'saved on' });
      break;
    case 'FUNCTION_TEMPLATE':
      add(found, { ...said, used: thing('calculation', target), relation: 'refers to' });
      break;
    case 'CARD': {
      const { card, root } = namedCard(target);
      add(found, { ...said, user: card, used: own, relation: 'uses' });
      add(found, { ...said, user: card, used: root, relation: 'drills from', validity: null });
      break;
    }
    default: {
      const id = idText(target);
      const used = id === undefined || type === '' ? undefined : thing('other', `${type}:${id}`);
      add(found, { ...said, used, relation: 'links to' });
    }
  }
}

type Said = Omit<Use, 'user' | 'used'> & {
  readonly user: Thing | undefined;
  readonly used: Thing | undefined;
};

function add(found: Map<string, Use>, { user, used, ...said }: Said): void {
  if (user === undefined || used === undefined) return;
  const key = `${thingKey(user)}\n${thingKey(used)}`;
  const before = found.get(key);
  if (before === undefined) found.set(key, { user, used, ...said });
  else found.set(key, { ...before, validity: worse(before.validity, said.validity) });
}

/** Of what two links between the same things say, the first that is broken, or else the first that says anything. */
const worse = (first: string | null, second: string | null): string | null =>
  isBroken(second) && !isBroken(first) ? second : (first ?? second);

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The members of any value; none if it is not an object. */
const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null ? (value as Members) : {};
