import { freeMemory, growing } from '../base/json/index.ts';
import { asText, type RowGroup, rowGroupsOf } from '../tables/parquet/index.ts';
import { describedNodes, type RecordedThings } from './described.ts';
import { withFormulas } from './formulas/formula-uses.ts';
import type { KnownFormula, KnownFormulas } from './formulas/known-formulas.ts';
import { type Adjacency, adjacencyOf, reach } from './rules/closure.ts';
import { flagBits, IN_SNAPSHOT, ownedNames, WRONG, wrongFlags } from './rules/flags.ts';
import { canonicalId, isInvalid } from './rules/record-rules.ts';
import { groupsOf, type ModelColumns, type SourceColumns } from './runs.ts';
import {
  createStringNumbers,
  createUsesCollector,
  graphIn,
  type PackedUses,
  thingsIn,
  type UsesGraph,
} from './uses-graph.ts';

type UsesCollector = ReturnType<typeof createUsesCollector>;

type Things = ReturnType<typeof thingsIn>;

/** A dataset, and how many things use it. */
type Dataset = {
  readonly dataset_id: string;
  readonly node: number;
  readonly cards: number;
  readonly calculations: number;
  /** How many of these use it through a link that is not VALID. */
  readonly broken_links: number;
};

/** The model as it is computed and stored: arrays of numbers, indexed by the nodes of `uses`. */
export type PackedModel = {
  readonly uses: PackedUses;
  /**
   * The formulas whose text is known. `uses` includes the columns that they read and the calculations that they refer
   * to.
   */
  readonly formulas: Awaited<ReturnType<typeof withFormulas>>['formulas'];
  readonly calculations: RecordedThings;
  readonly cards: RecordedThings;
  /** The bits of `flagBits` and `IN_SNAPSHOT`, by node. */
  readonly flags: Uint16Array;
  /**
   * The kinds of things of which a complete snapshot exists: a thing of such a kind without a record does not exist.
   */
  readonly whole: readonly string[];
  readonly datasets: readonly Dataset[];
  readonly owners: readonly Owner[];
  /** The owners of cards, as pairs: the card at `node[i]` belongs to `owners[owner[i]]`. */
  readonly cardOwners: Readonly<Record<'node' | 'owner', Uint32Array>>;
};

/** The model, opened for queries. */
export type Model = Omit<PackedModel, 'uses'> & {
  readonly things: Things;
  readonly graph: UsesGraph;
  /** Whether a thing does not exist: a complete snapshot of its kind lacks it. What uses it has a missing target. */
  readonly isMissing: (node: number) => boolean;
};

/** Opens a stored model for queries. */
export function modelOf({ uses, ...packed }: PackedModel): Model {
  const things = thingsIn(uses.things);
  return { ...packed, things, graph: graphIn(uses), isMissing: missingIn(packed, things) };
}

const missingIn =
  ({ flags, whole }: Pick<PackedModel, 'flags' | 'whole'>, { kindAt }: Things) =>
  (node: number): boolean =>
    ((flags[node] ?? 0) & IN_SNAPSHOT) === 0 && whole.includes(kindAt(node));

/**
 * Computes the model from the columns of the last runs. `known`: the known formulas; by default none. Memory: about 150
 * bytes for a calculation with three uses, plus one file and its columns. Throws `StoredObjectError`.
 */
export async function computeModel(columns: ModelColumns, known?: KnownFormulas): Promise<PackedModel> {
  const collector = createUsesCollector();
  const owners = createOwners();
  const calculations = await readCalculations(columns.calculations, collector, owners);
  const cards = await readCards(columns.cards, collector, owners);
  await readOwned(columns.files, owners, { column: 'createdby', what: 'files' });
  await readOwned(columns['data-files'], owners, { column: 'responsibleuserid', what: 'data_files' });
  const linked = collector.pack();
  const read = {
    source: columns.calculations,
    nodes: calculations.recorded.nodes,
    things: thingsIn(linked.things),
  };
  const existing = await existingFormulas(known, read);
  const named = await withNames(existing, {
    ...read,
    columns,
    recorded: { calculations: calculations.recorded, cards },
  });
  const { uses, formulas } = await withFormulas(linked, named);
  const things = thingsIn(uses.things);
  const graph = graphIn(uses);
  const whole = [
    ...(columns.calculations?.isWhole === true ? ['calculation'] : []),
    ...(columns.cards?.isWhole === true ? ['card'] : []),
  ];
  const flags = new Uint16Array(things.count);
  addFlags(
    flags,
    { graph, things },
    { calculations, cards, formulas, isMissing: missingIn({ flags, whole }, things) },
  );
  return {
    uses,
    formulas,
    calculations: calculations.recorded,
    cards,
    flags,
    whole,
    datasets: countDatasets(things, graph),
    owners: owners.counted(flags),
    cardOwners: owners.ofCards(),
  };
}

/**
 * The known formulas of calculations that still exist. A calculation was deleted if it is missing from a whole snapshot
 * that began after its formula was stored.
 */
async function existingFormulas(
  known: KnownFormulas | undefined,
  options: Pick<Model, 'things'> & {
    readonly source: SourceColumns | undefined;
    /** The calculations that have a record. */
    readonly nodes: Uint32Array;
  },
) {
  const { source, nodes, things } = options;
  const all = (await known?.read()) ?? new Map();
  if (all.size === 0 || source?.isWhole !== true) return all;
  const recorded = new Set<string>();
  for (const node of nodes) recorded.add(things.thingAt(node).id);
  return new Map([...all].filter(([id, { atMs }]) => recorded.has(id) || atMs >= source.startedAtMs));
}

/** Gives each formula the name that its calculation's record has. Without a record, the formula keeps its own name. */
async function withNames(
  formulas: ReadonlyMap<string, KnownFormula>,
  options: Pick<Model, 'things'> & {
    readonly columns: ModelColumns;
    readonly recorded: Pick<Model, 'calculations' | 'cards'>;
  },
): Promise<ReadonlyMap<string, KnownFormula>> {
  if (formulas.size === 0) return formulas;
  const { columns, recorded, things } = options;
  const isWanted = (node: number) => formulas.has(things.thingAt(node).id);
  const named = new Map(formulas);
  for await (const described of describedNodes(recorded, columns, 'calculations', isWanted))
    for (const [node, { name }] of described) {
      const { id } = things.thingAt(node);
      const formula = formulas.get(id);
      if (formula !== undefined) named.set(id, { ...formula, name: name ?? formula.name });
    }
  return named;
}

function addFlags(
  flags: Uint16Array,
  { graph, things }: Pick<Model, 'graph' | 'things'>,
  options: Pick<Model, 'isMissing' | 'cards' | 'formulas'> & { readonly calculations: ReadCalculations },
): void {
  const { calculations, cards, formulas, isMissing } = options;
  const { isInvalid, names } = calculations;
  const { nodes } = calculations.recorded;
  for (const node of nodes) add(flags, node, IN_SNAPSHOT | flagBits.unused);
  for (const node of cards.nodes) add(flags, node, IN_SNAPSHOT);
  for (const [index, node] of nodes.entries()) if (isInvalid[index] === 1) add(flags, node, flagBits.invalid);
  addByEdges(flags, graph, isMissing);
  addRepeated(flags, nodes, (index) => names[index] ?? 0, flagBits.same_name);
  const targets = adjacencyOf({ nodes: flags.length, from: graph.user, to: graph.used });
  addSameLinks(flags, nodes, { ...targets, isLink: (node) => things.kindAt(node) !== 'column' });
  addRepeated(flags, formulas.nodes, (index) => (formulas.same[index] ?? 0) + 1, flagBits.same_formula);
  for (const memory of [targets.starts, targets.edges]) freeMemory(memory);
  addAffected(flags, graph);
}

function add(flags: Uint16Array, node: number, bits: number): void {
  flags[node] = (flags[node] ?? 0) | bits;
}

/** Sets the flag `affected` of things that depend, directly or through others, on another thing that is wrong. */
function addAffected(flags: Uint16Array, { user, used }: UsesGraph): void {
  const users = adjacencyOf({ nodes: flags.length, from: used, to: user });
  const wrong = flags.keys().filter((node) => ((flags[node] ?? 0) & WRONG) !== 0);
  reach(users, wrong, { maxListed: 0, visit: (node) => add(flags, node, flagBits.affected) });
  for (const memory of [users.starts, users.edges]) freeMemory(memory);
  // `reach` leaves out the wrong things that it starts from. If one of these depends on another thing that is wrong or
  // affected, its flag is set here.
  const isBad = (node: number) => ((flags[node] ?? 0) & (WRONG | flagBits.affected)) !== 0;
  for (let edge = 0; edge < user.length; edge += 1) {
    const by = user[edge] ?? 0;
    const of = used[edge] ?? 0;
    if (by !== of && isBad(of)) add(flags, by, flagBits.affected);
  }
}

function addByEdges(
  flags: Uint16Array,
  { user, used, isBrokenByUser, isBrokenByUsed, isByLinkAlone }: UsesGraph,
  isMissing: Model['isMissing'],
): void {
  for (let edge = 0; edge < user.length; edge += 1) {
    const by = user[edge] ?? 0;
    const of = used[edge] ?? 0;
    if (isBrokenByUser(edge)) add(flags, by, flagBits.broken_links);
    if (isBrokenByUsed(edge)) add(flags, of, flagBits.broken_links);
    if (by === of) continue;
    flags[of] = (flags[of] ?? 0) & ~flagBits.unused;
    if (isByLinkAlone(edge)) flags[by] = (flags[by] ?? 0) & ~flagBits.unused;
    if (isMissing(of)) add(flags, by, flagBits.missing_target);
  }
}

/** Sets a flag of all calculations whose number another calculation also has; 0 means no number. */
function addRepeated(
  flags: Uint16Array,
  nodes: Uint32Array,
  numberAt: (index: number) => number,
  bit: number,
): void {
  // For each number: the index of its first entry, plus 1.
  const firsts = growing(Uint32Array);
  for (const [index, node] of nodes.entries()) {
    const number = numberAt(index);
    if (number === 0) continue;
    while (firsts.length() <= number) firsts.push(0);
    const before = firsts.at(number);
    if (before === 0) firsts.set(number, index + 1);
    else {
      add(flags, node, bit);
      add(flags, nodes[before - 1] ?? 0, bit);
    }
  }
  firsts.free();
}

/** Sets the flag `same_links` of calculations that use the same things: at least two, not counting themselves. */
function addSameLinks(
  flags: Uint16Array,
  nodes: Uint32Array,
  { starts, edges, to, isLink }: Adjacency & { readonly isLink: (node: number) => boolean },
): void {
  const sets = createStringNumbers();
  addRepeated(
    flags,
    nodes,
    (index) => {
      const node = nodes[index] ?? 0;
      const start = starts[node] ?? 0;
      const end = starts[node + 1] ?? 0;
      if (end - start < 2) return 0;
      const targets = Uint32Array.from(edges.subarray(start, end), (edge) => to[edge] ?? 0).sort();
      const others = targets.filter((target) => target !== node && isLink(target));
      return others.length < 2 ? 0 : sets.numberOf(new Uint8Array(others.buffer)) + 1;
    },
    flagBits.same_links,
  );
  freeMemory(sets.pack().bytes);
}

function countDatasets(
  { kindAt, thingAt }: Things,
  { user, used, isBrokenAt }: UsesGraph,
): readonly Dataset[] {
  const found = new Map<number, { -readonly [Name in keyof Dataset]: Dataset[Name] }>();
  // Not with `entries()`, which would allocate an object for each edge.
  for (let edge = 0; edge < used.length; edge += 1) {
    const node = used[edge] ?? 0;
    if (kindAt(node) !== 'dataset') continue;
    let dataset = found.get(node);
    if (dataset === undefined) {
      dataset = { dataset_id: thingAt(node).id, node, cards: 0, calculations: 0, broken_links: 0 };
      found.set(node, dataset);
    }
    dataset[kindAt(user[edge] ?? 0) === 'card' ? 'cards' : 'calculations'] += 1;
    if (isBrokenAt(edge)) dataset.broken_links += 1;
  }
  return [...found.values()];
}

type ReadCalculations = {
  readonly recorded: RecordedThings;
  /** For each calculation: 1 if one of its records has a status that is not VALID. */
  readonly isInvalid: Uint8Array;
  /** For each calculation: the number of its name plus 1; 0 if it has no name. */
  readonly names: Uint32Array;
};

/** Reads the calculations: adds their uses to the collector, and counts what their owners have. */
async function readCalculations(
  source: SourceColumns | undefined,
  uses: UsesCollector,
  owners: Owners,
): Promise<ReadCalculations> {
  const texts = createStringNumbers();
  const numberOf = (utf8: Uint8Array) => (utf8.length === 0 ? 0 : texts.numberOf(utf8) + 1);
  const isBad = growing(Uint8Array);
  const names = growing(Uint32Array);
  const recorded = await readRecords(source, uses, (group) => {
    const status = group.texts('status', (utf8) => isInvalid(asText(utf8)));
    const name = group.texts('name', numberOf);
    const owner = group.texts('owner', userOf);
    const locked = group.values('locked');
    const modified = group.values('lastmodified');
    return (row, index, node) => {
      if (index < isBad.length()) {
        if (status(row) === true) isBad.set(index, 1);
        return;
      }
      isBad.push(status(row) === true ? 1 : 0);
      names.push(name(row) ?? 0);
      const user = owner(row) ?? undefined;
      if (user === undefined) return;
      const counts = owners.add(user, 'calculations', node);
      if (locked(row) === true) counts.locked += 1;
      const time = modified(row);
      if (typeof time === 'bigint')
        counts.oldest_modified = Math.min(counts.oldest_modified ?? Number(time), Number(time));
    };
  });
  freeMemory(texts.pack().bytes);
  return { recorded, isInvalid: isBad.values(), names: names.values() };
}

/**
 * Reads the cards: adds their uses to the collector, and counts what their owners have. Several datasets may list the
 * same card.
 */
function readCards(
  source: SourceColumns | undefined,
  uses: UsesCollector,
  owners: Owners,
): Promise<RecordedThings> {
  let count = 0;
  return readRecords(source, uses, (group) => {
    const owner = group.texts('ownerid', userOf);
    const userOwners = userOwnersIn(group);
    return (row, index, node) => {
      if (index < count) return;
      count += 1;
      const named = userOwners(row).flatMap(({ id, name }) => {
        const user = canonicalId(id);
        if (user !== undefined && name) owners.of(user).name ??= name;
        return user ?? [];
      });
      for (const user of new Set([owner(row) ?? [], named].flat())) owners.add(user, 'cards', node);
    };
  });
}

/** Returns a function that finds the owners of a card, except groups. */
function userOwnersIn(group: RowGroup) {
  const read = (name: string) => group.lists(`owners.list.element.${name}`);
  const ids = read('id');
  const names = read('displayname');
  const types = read('type');
  return (row: number) => {
    const name = names(row);
    const type = types(row);
    return ids(row).flatMap((id, at) =>
      type[at]?.toUpperCase() === 'GROUP' ? [] : { id, name: name[at] ?? null },
    );
  };
}

async function readOwned(
  source: SourceColumns | undefined,
  owners: Owners,
  { column, what }: { readonly column: string; readonly what: 'files' | 'data_files' },
): Promise<void> {
  for await (const { group } of groupsOf(source)) {
    const owner = group.texts(column, userOf);
    for (let row = 0; row < group.rows; row += 1) {
      const user = owner(row) ?? undefined;
      if (user !== undefined) owners.of(user)[what] += 1;
    }
  }
}

/**
 * Reads the records of a source. `open` is called with each row group, and the function that it returns with each
 * record: with its row, its thing's index, and its thing's node. The first record of a thing gives it the next index.
 */
async function readRecords(
  source: SourceColumns | undefined,
  collector: UsesCollector,
  open: (group: RowGroup) => (row: number, index: number, node: number) => void,
): Promise<RecordedThings> {
  const nodes = growing(Uint32Array);
  const rows = growing(Uint32Array);
  // For each node: the index of its thing, plus 1.
  const indexes = growing(Uint32Array);
  const spellings = new Map<string, number>();
  let start = 0;
  for (const part of source?.parts ?? []) {
    const uses = await part.uses();
    if (uses === undefined) continue;
    const numbers = collector.addPacked(uses);
    const nodeAt = (record: number) => numbers[(uses.own[record] ?? 0) - 1];
    let record = 0;
    for await (const group of rowGroupsOf(part.key, await part.records())) {
      const see = open(group);
      for (let row = 0; row < group.rows; row += 1, record += 1) {
        const node = nodeAt(record);
        if (node === undefined) continue;
        while (indexes.length() <= node) indexes.push(0);
        if (indexes.at(node) === 0) {
          nodes.push(node);
          rows.push(start + record);
          indexes.set(node, nodes.length());
        }
        see(row, indexes.at(node) - 1, node);
      }
    }
    for (const [at, spelling] of uses.spellings) {
      const node = nodeAt(at);
      if (node !== undefined) spellings.set(spelling, node);
    }
    freeMemory(uses.user);
    start += part.count;
  }
  indexes.free();
  return { nodes: nodes.values(), rows: rows.values(), spellings: [...spellings] };
}

const userOf = (utf8: Uint8Array) => canonicalId(asText(utf8));

/** How many things a user owns, and how many of them have each flag. `locked`: the number of locked calculations. */
type Owner = Readonly<Record<(typeof ownedNames)[number] | (typeof wrongFlags)[number], number>> & {
  readonly user_id: string;
  /** The name; null unless a card has it. */
  readonly name: string | null;
  /** When the calculation that has been unchanged for longest was last changed, in epoch milliseconds. */
  readonly oldest_modified: number | null;
};

type MutableOwner = { -readonly [K in keyof Owner]: Owner[K] };

type Owners = ReturnType<typeof createOwners>;

/** Creates a counter of what users own. `user`: an id in the form of `canonicalId`. */
function createOwners() {
  const owners = new Map<string, { readonly index: number; readonly counts: MutableOwner }>();
  const pairs = () => ({ node: growing(Uint32Array), owner: growing(Uint32Array) });
  const owned = { calculations: pairs(), cards: pairs() };

  function ownerOf(user: string) {
    const known = owners.get(user);
    if (known !== undefined) return known;
    const owner = { index: owners.size, counts: { user_id: user, ...NO_COUNTS } };
    owners.set(user, owner);
    return owner;
  }

  return {
    of: (user: string): MutableOwner => ownerOf(user).counts,
    add(user: string, what: keyof typeof owned, node: number): MutableOwner {
      const { index, counts } = ownerOf(user);
      counts[what] += 1;
      owned[what].node.push(node);
      owned[what].owner.push(index);
      return counts;
    },
    /** All users, in the order of their first appearance. Call it once the flags of all nodes are known. */
    counted(flags: Uint16Array): readonly Owner[] {
      const found = Array.from(owners.values(), ({ counts }) => counts);
      for (const { node, owner } of Object.values(owned))
        for (let at = 0; at < node.length(); at += 1) {
          const bits = flags[node.at(at)] ?? 0;
          const of = found[owner.at(at)];
          if (of !== undefined)
            for (const flag of wrongFlags) if ((bits & flagBits[flag]) !== 0) of[flag] += 1;
        }
      return found;
    },
    ofCards: () => ({ node: owned.cards.node.values(), owner: owned.cards.owner.values() }),
  };
}

const zeros = <Name extends string>(names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, 0])) as Readonly<Record<Name, number>>;

const NO_COUNTS = { name: null, ...zeros(ownedNames), oldest_modified: null, ...zeros(wrongFlags) };
