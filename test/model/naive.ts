import type { Flag } from '../../lib/model/rules/index.ts';

/**
 * The model by the simplest code that is obviously right, over parsed records, in Sets and Maps. All other computations
 * are compared with it, so it shares no code with lib/model. A thing is a string: its kind, a space and its id.
 */

export type NaiveRecord = Readonly<Record<string, unknown>>;

export type NaiveStore = {
  /** Records as `parseJson` returns them. Undefined: no run of the source is published. */
  readonly calculations?: readonly unknown[] | undefined;
  readonly cards?: readonly unknown[] | undefined;
  readonly files?: readonly unknown[] | undefined;
  readonly dataFiles?: readonly unknown[] | undefined;
  /** The sources whose run is narrowed, so that a record it lacks may exist. */
  readonly narrowed?: readonly ('calculations' | 'cards')[];
};

export type NaiveUse = {
  readonly user: string;
  readonly used: string;
  readonly relation: string;
  readonly validity: string | null;
  /** The thing whose record states the use. */
  readonly by: string;
  readonly isOwn?: boolean;
};

export type NaiveOwner = {
  calculations: number;
  cards: number;
  files: number;
  dataFiles: number;
  brokenLinks: number;
  invalid: number;
  missingTarget: number;
  affected: number;
  unused: number;
  locked: number;
  oldest: number | null;
  name: string | null;
};

export type NaiveDataset = { cards: number; calculations: number; brokenLinks: number };

/** The canonical form of an id; undefined if the value is not an id. */
export function naiveId(value: unknown): string | undefined {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) return undefined;
  if (!['string', 'number', 'bigint'].includes(typeof value)) return undefined;
  const text = String(value).trim();
  if (text === '') return undefined;
  return /^-?[0-9]+$/.test(text) ? BigInt(text).toString() : text.toLowerCase();
}

const object = (value: unknown): NaiveRecord =>
  typeof value === 'object' && value !== null ? (value as NaiveRecord) : {};
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const isBad = (text: unknown): boolean =>
  typeof text === 'string' && text !== '' && text.toUpperCase() !== 'VALID';
const isTrue = (value: unknown): boolean => value === true;

/** `kind id`, or undefined. */
function named(kind: string, value: unknown): string | undefined {
  const id = naiveId(value);
  return id === undefined ? undefined : `${kind} ${id}`;
}

/** The card of a link, and the root that a drill drills from. */
function cardOf(value: unknown): { card: string | undefined; root: string | undefined } {
  if (naiveId(value) === undefined) return { card: undefined, root: undefined };
  const [first, second, third] = String(value).trim().split(':');
  if (first?.toLowerCase() === 'dr') return { card: named('card', second), root: named('card', third) };
  return { card: named('card', first), root: undefined };
}

type Stated = {
  user: string | undefined;
  used: string | undefined;
  relation: string;
  validity: string | null;
  /** True if the user's own record states that it uses another calculation. */
  isOwn?: boolean;
};

function statedByCalculation(record: NaiveRecord, own: string): Stated[] {
  const stated: Stated[] = [];
  const dependencies = list(record['functionTemplateDependencies']).map((id) => named('calculation', id));
  const dependsOn = (other: string | undefined) => other !== undefined && dependencies.includes(other);
  const state = (type: string, id: unknown, isHidden: boolean, validity: string | null) => {
    if (type === 'DATA_SOURCE')
      stated.push({
        user: own,
        used: named('dataset', id),
        relation: isHidden ? 'used on' : 'saved on',
        validity,
      });
    else if (type === 'FUNCTION_TEMPLATE') {
      const other = named('calculation', id);
      const pair = dependsOn(other) ? { user: own, used: other } : { user: other, used: own };
      stated.push({ ...pair, relation: 'refers to', validity, isOwn: pair.user === own });
    } else if (type === 'CARD') {
      const { card, root } = cardOf(id);
      stated.push({ user: card, used: own, relation: 'uses', validity });
      stated.push({ user: card, used: root, relation: 'drills from', validity: null });
    } else if (type !== '' && naiveId(id) !== undefined) {
      const used = named('other', `${type}:${String(id).trim()}`);
      stated.push({ user: own, used, relation: 'links to', validity });
    }
  };
  for (const link of list(record['links']).map(object)) {
    const { type, id } = object(link['resource']);
    const validity =
      typeof link['valid'] === 'string' && link['valid'] !== '' ? link['valid'].toLowerCase() : null;
    if (typeof type === 'string') state(type.toUpperCase(), id, link['visible'] === false, validity);
  }
  if (!Array.isArray(record['activeLinks']))
    for (const [type, ids] of Object.entries(object(record['activeLinks'])))
      for (const id of Array.isArray(ids) ? ids : [ids]) state(type.toUpperCase(), id, false, null);
  for (const id of list(record['functionTemplateDependencies'])) state('FUNCTION_TEMPLATE', id, false, null);
  return stated;
}

function statedByCard(record: NaiveRecord, own: string): Stated[] {
  const plain = { user: own, validity: null };
  // A drill inside a card names its dataset in another field.
  const isInside =
    named('dataset', record['datasourceId']) === undefined &&
    named('dataset', record['datasetId']) !== undefined;
  return [
    { ...plain, used: named('dataset', record['datasourceId']), relation: 'built on' },
    {
      ...plain,
      used: named('dataset', isInside ? record['datasetId'] : record['_datasetId']),
      relation: 'built on',
    },
    { ...plain, used: cardOf(record['urn']).root, relation: 'drills from' },
  ];
}

/** The uses that one record states, each pair once, in the order in which they are stated. */
export function naiveUsesOf(source: 'calculations' | 'cards', value: unknown): readonly NaiveUse[] {
  const record = object(value);
  const own = named(source === 'cards' ? 'card' : 'calculation', record['id']);
  if (own === undefined) return [];
  const stated = source === 'cards' ? statedByCard(record, own) : statedByCalculation(record, own);
  return once(
    stated.flatMap(({ user, used, ...said }) =>
      user === undefined || used === undefined ? [] : [{ user, used, ...said, by: own }],
    ),
  );
}

/** Each pair once: its first use, with the first broken validity or else the first one, and who states that. */
function once(uses: readonly NaiveUse[]): readonly NaiveUse[] {
  const pairs = new Map<string, NaiveUse[]>();
  for (const use of uses) {
    const pair = `${use.user}\n${use.used}`;
    pairs.set(pair, [...(pairs.get(pair) ?? []), use]);
  }
  return [...pairs.values()].map((same) => {
    const stated = same.filter(({ validity }) => validity !== null);
    const [first] = same as [NaiveUse];
    const { validity, by } = stated.find((use) => isBad(use.validity)) ?? stated[0] ?? first;
    return { ...first, validity, by };
  });
}

/** Everything that uses a thing over at most `steps` steps, with the number of steps; the thing itself is left out. */
export function naiveUsers(
  uses: readonly NaiveUse[],
  start: string,
  steps = Infinity,
): ReadonlyMap<string, number> {
  const reached = new Map<string, number>();
  let edge = [start];
  for (let step = 1; step <= steps && edge.length > 0; step += 1) {
    const next = new Set(
      edge.flatMap((used) => uses.filter((use) => use.used === used).map(({ user }) => user)),
    );
    edge = [...next].filter((user) => user !== start && !reached.has(user));
    for (const user of edge) reached.set(user, step);
  }
  return reached;
}

export type NaiveModel = ReturnType<typeof naiveModel>;

/** The sets of things with each flag. */
export const flagNames = {
  broken_links: 'brokenLinks',
  invalid: 'invalid',
  missing_target: 'missingTarget',
  affected: 'affected',
  unused: 'unused',
  same_name: 'sameName',
  same_links: 'sameLinks',
  same_formula: 'sameFormula',
} as const satisfies Record<Flag, keyof NaiveModel>;

/** The model of a store. Sets hold things: `calculation 7`. */
export function naiveModel(store: NaiveStore) {
  const { calculations = [], cards = [], files = [], dataFiles = [], narrowed = [] } = store;
  const byRecord = [
    ...calculations.flatMap((record) => naiveUsesOf('calculations', record)),
    ...cards.flatMap((record) => naiveUsesOf('cards', record)),
  ];
  const uses = once(byRecord);
  const records = new Map<string, NaiveRecord[]>();
  const hold = (own: string | undefined, record: unknown) => {
    if (own !== undefined) records.set(own, [...(records.get(own) ?? []), object(record)]);
  };
  for (const record of calculations) hold(named('calculation', object(record)['id']), record);
  for (const record of cards) hold(named('card', object(record)['id']), record);

  const held = [...records.keys()];
  const all = new Set(held.filter((own) => own.startsWith('calculation ')));
  const isKnownWhole = (own: string) =>
    (own.startsWith('calculation ') &&
      store.calculations !== undefined &&
      !narrowed.includes('calculations')) ||
    (own.startsWith('card ') && store.cards !== undefined && !narrowed.includes('cards'));

  const brokenLinks = new Set(byRecord.filter(({ validity }) => isBad(validity)).map(({ by }) => by));
  const invalid = new Set([...all].filter((own) => records.get(own)?.some(({ status }) => isBad(status))));
  const missingTarget = new Set(
    uses
      .filter(({ user, used }) => user !== used && isKnownWhole(used) && !records.has(used))
      .map(({ user }) => user),
  );
  const wrong = new Set([...brokenLinks, ...invalid, ...missingTarget]);
  const affected = new Set<string>();
  for (const each of wrong) for (const user of naiveUsers(uses, each).keys()) affected.add(user);
  // Each broken thing in a circle depends on itself.
  for (const { user, used } of uses)
    if (user !== used && (wrong.has(used) || affected.has(used))) affected.add(user);
  const isUsed = new Set(uses.filter(({ user, used }) => user !== used).map(({ used }) => used));
  // If only a link connects two calculations, either may refer to the other, so both count as used.
  const confirmed = new Set(byRecord.filter(({ isOwn }) => isOwn).map(({ user, used }) => `${user} ${used}`));
  for (const { user, used, relation } of uses)
    if (relation === 'refers to' && user !== used && !confirmed.has(`${user} ${used}`)) isUsed.add(user);
  const unused = new Set([...all].filter((own) => !isUsed.has(own)));

  const shared = (textOf: (own: string) => string | undefined) => {
    const groups = new Map<string, string[]>();
    for (const own of all) {
      const text = textOf(own);
      if (text !== undefined) groups.set(text, [...(groups.get(text) ?? []), own]);
    }
    return new Set([...groups.values()].filter((group) => group.length > 1).flat());
  };
  const sameName = shared((own) => {
    const name = records.get(own)?.[0]?.['name'];
    return typeof name === 'string' && name !== '' ? name : undefined;
  });
  const sameLinks = shared((own) => {
    const targets = uses.filter(({ user, used }) => user === own && used !== own).map(({ used }) => used);
    return targets.length < 2 ? undefined : targets.sort().join('\n');
  });

  const datasets = new Map<string, NaiveDataset>();
  for (const { user, used, validity } of uses.filter((use) => use.used.startsWith('dataset '))) {
    const counts = datasets.get(used) ?? { cards: 0, calculations: 0, brokenLinks: 0 };
    datasets.set(used, counts);
    if (user.startsWith('card ')) counts.cards += 1;
    else counts.calculations += 1;
    if (isBad(validity)) counts.brokenLinks += 1;
  }

  // These stores have no formulas.
  const sameFormula = new Set<string>();
  const flags = { brokenLinks, invalid, missingTarget, affected, unused, sameName, sameLinks, sameFormula };
  const owners = naiveOwners({ records, files, dataFiles, flags });
  return { uses, held: new Set(held), ...flags, datasets, owners };
}

type Owned = {
  readonly records: ReadonlyMap<string, readonly NaiveRecord[]>;
  readonly files: readonly unknown[];
  readonly dataFiles: readonly unknown[];
  readonly flags: Readonly<
    Record<'brokenLinks' | 'invalid' | 'missingTarget' | 'affected' | 'unused', ReadonlySet<string>>
  >;
};

function naiveOwners({ records, files, dataFiles, flags }: Owned): ReadonlyMap<string, NaiveOwner> {
  const owners = new Map<string, NaiveOwner>();
  const ownerAt = (value: unknown): NaiveOwner | undefined => {
    const id = naiveId(value);
    if (id === undefined) return undefined;
    const none = { calculations: 0, cards: 0, files: 0, dataFiles: 0, brokenLinks: 0, invalid: 0 };
    const more = { missingTarget: 0, affected: 0, unused: 0, locked: 0, oldest: null, name: null };
    const owner = owners.get(id) ?? { ...none, ...more };
    owners.set(id, owner);
    return owner;
  };
  for (const [own, [record = {}]] of records) {
    const isCard = own.startsWith('card ');
    const people = list(record['owners'])
      .map(object)
      .filter(({ type }) => String(type).toUpperCase() !== 'GROUP');
    const ids = isCard ? [record['ownerId'], ...people.map(({ id }) => id)] : [record['owner']];
    for (const { id, displayName } of isCard ? people : []) {
      const owner = ownerAt(id);
      if (owner !== undefined && typeof displayName === 'string' && displayName !== '')
        owner.name ??= displayName;
    }
    for (const owner of new Set(ids.map(ownerAt))) {
      if (owner === undefined) continue;
      owner[isCard ? 'cards' : 'calculations'] += 1;
      for (const name of ['brokenLinks', 'invalid', 'missingTarget', 'affected', 'unused'] as const)
        if (flags[name].has(own)) owner[name] += 1;
      if (!isCard && isTrue(record['locked'])) owner.locked += 1;
      const modified = isCard ? undefined : record['lastModified'];
      if (typeof modified === 'number') owner.oldest = Math.min(owner.oldest ?? Infinity, modified);
    }
  }
  for (const file of files.map(object)) add(ownerAt(file['createdBy']), 'files');
  for (const file of dataFiles.map(object)) add(ownerAt(file['responsibleUserId']), 'dataFiles');
  return owners;
}

function add(owner: NaiveOwner | undefined, name: 'files' | 'dataFiles'): void {
  if (owner !== undefined) owner[name] += 1;
}
