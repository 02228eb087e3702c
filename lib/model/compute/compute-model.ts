import { freeMemory, growing } from '../../base/index.ts';
import { createNumberedTexts } from '../columns/numbered-texts.ts';
import { flagBits, HELD, WRONG } from '../flags.ts';
import { type Adjacency, adjacencyOf, reach } from '../graph/closure.ts';
import {
  createUsesCollector,
  graphIn,
  type PackedUses,
  type Things,
  thingsIn,
  type UsesGraph,
} from '../graph/uses-graph.ts';
import type { ModelColumns } from '../stored/runs.ts';
import { type KnownFormulas, withColumns } from '../uses/formula-columns.ts';
import { createOwners, type Owner } from './owners.ts';
import {
  type HeldThings,
  type ReadCalculations,
  readCalculations,
  readCards,
  readOwned,
} from './read-records.ts';

/** A dataset, with how many things use it. */
export type Dataset = {
  readonly dataset_id: string;
  readonly node: number;
  readonly cards: number;
  readonly calculations: number;
  /** How many of them use it by a link that is not VALID. */
  readonly broken_links: number;
};

/** The model as it is computed and stored: in arrays of numbers, over the nodes of `uses`. */
export type PackedModel = {
  readonly uses: PackedUses;
  /** Of how many calculations the text of the formula is known: `uses` has the columns that these read. */
  readonly formulas: number;
  readonly calculations: HeldThings;
  readonly cards: HeldThings;
  /** `flagBits` and `HELD` of each node. */
  readonly flags: Uint8Array;
  readonly whole: readonly string[];
  readonly datasets: readonly Dataset[];
  readonly owners: readonly Owner[];
  /** Who owns cards: of each card in turn its node, and the place of each owner in `owners`. */
  readonly cardOwners: Readonly<Record<'node' | 'owner', Uint32Array>>;
};

/** The model as it is asked. */
export type Model = Omit<PackedModel, 'uses'> & {
  readonly things: Things;
  readonly graph: UsesGraph;
  /** True of a node that a whole snapshot of its kind does not hold: what uses it has a missing target. */
  readonly isMissing: (node: number) => boolean;
};

/** Makes a stored model ready to be asked. */
export function modelOf({ uses, ...packed }: PackedModel): Model {
  const things = thingsIn(uses.things);
  return { ...packed, things, graph: graphIn(uses), isMissing: missingIn(packed, things) };
}

const missingIn =
  ({ flags, whole }: Pick<PackedModel, 'flags' | 'whole'>, { kindAt }: Things) =>
  (node: number): boolean =>
    ((flags[node] ?? 0) & HELD) === 0 && whole.includes(kindAt(node));

/**
 * Computes what spans records from the columns of the last runs. Memory: some 150 bytes a calculation with three uses, and
 * one file with its columns. Default of `known`: no columns. Throws `StoredObjectError`.
 */
export async function computeModel(columns: ModelColumns, known?: KnownFormulas): Promise<PackedModel> {
  const collector = createUsesCollector();
  const owners = createOwners();
  const calculations = await readCalculations(columns.calculations, collector, owners);
  const cards = await readCards(columns.cards, collector, owners);
  await readOwned(columns.files, owners, { column: 'createdby', what: 'files' });
  await readOwned(columns['data-files'], owners, { column: 'responsibleuserid', what: 'data_files' });
  const uses = collector.pack();
  const [things, graph] = [thingsIn(uses.things), graphIn(uses)];
  const whole = [
    ...(columns.calculations?.isWhole === true ? ['calculation'] : []),
    ...(columns.cards?.isWhole === true ? ['card'] : []),
  ];
  const flags = new Uint8Array(things.count);
  addFlags(flags, graph, { calculations, cards, isMissing: missingIn({ flags, whole }, things) });
  const all = known === undefined ? { uses, formulas: 0 } : await withColumns(uses, known);
  const ofAll = new Uint8Array(all.uses.things.starts.length - 1);
  ofAll.set(flags);
  return {
    uses: all.uses,
    formulas: all.formulas,
    calculations: calculations.held,
    cards,
    flags: ofAll,
    whole,
    datasets: countDatasets(things, graph),
    owners: owners.counted(flags),
    cardOwners: owners.ofCards(),
  };
}

type Read = Pick<Model, 'isMissing' | 'cards'> & { readonly calculations: ReadCalculations };

function addFlags(flags: Uint8Array, graph: UsesGraph, { calculations, cards, isMissing }: Read): void {
  const { isInvalid, names } = calculations;
  const { nodes } = calculations.held;
  for (const node of nodes) add(flags, node, HELD | flagBits.unused);
  for (const node of cards.nodes) add(flags, node, HELD);
  for (const [place, node] of nodes.entries()) if (isInvalid[place] === 1) add(flags, node, flagBits.invalid);
  addByEdges(flags, graph, isMissing);
  addRepeated(flags, nodes, (place) => names[place] ?? 0, flagBits.same_name);
  const targets = adjacencyOf({ nodes: flags.length, from: graph.user, to: graph.used });
  addSameLinks(flags, nodes, targets);
  for (const memory of [targets.starts, targets.edges]) freeMemory(memory);
  addAffected(flags, graph);
}

function add(flags: Uint8Array, node: number, bits: number): void {
  flags[node] = (flags[node] ?? 0) | bits;
}

/** Flags whatever depends on what is wrong; in a circle, what is wrong depends on itself. */
function addAffected(flags: Uint8Array, { user, used }: UsesGraph): void {
  const users = adjacencyOf({ nodes: flags.length, from: used, to: user });
  const wrong = flags.keys().filter((node) => ((flags[node] ?? 0) & WRONG) !== 0);
  reach(users, wrong, { most: 0, see: (node) => add(flags, node, flagBits.affected) });
  for (const memory of [users.starts, users.edges]) freeMemory(memory);
  // What is wrong is not reached from itself.
  const isBad = (node: number) => ((flags[node] ?? 0) & (WRONG | flagBits.affected)) !== 0;
  for (let edge = 0; edge < user.length; edge += 1) {
    const [by, of] = [user[edge] ?? 0, used[edge] ?? 0];
    if (by !== of && isBad(of)) add(flags, by, flagBits.affected);
  }
}

function addByEdges(
  flags: Uint8Array,
  { user, used, isBrokenByUser, isBrokenByUsed, isByLinkAlone }: UsesGraph,
  isMissing: Model['isMissing'],
): void {
  for (let edge = 0; edge < user.length; edge += 1) {
    const [by, of] = [user[edge] ?? 0, used[edge] ?? 0];
    if (isBrokenByUser(edge)) add(flags, by, flagBits.broken_links);
    if (isBrokenByUsed(edge)) add(flags, of, flagBits.broken_links);
    if (by === of) continue;
    flags[of] = (flags[of] ?? 0) & ~flagBits.unused;
    if (isByLinkAlone(edge)) flags[by] = (flags[by] ?? 0) & ~flagBits.unused;
    if (isMissing(of)) add(flags, by, flagBits.missing_target);
  }
}

/** Flags the calculations at places with the same number; 0 is the number of none. */
function addRepeated(
  flags: Uint8Array,
  nodes: Uint32Array,
  numberAt: (place: number) => number,
  bit: number,
): void {
  // By number: the place where it came first, and 1 more.
  const firsts = growing(Uint32Array);
  for (const [place, node] of nodes.entries()) {
    const number = numberAt(place);
    if (number === 0) continue;
    while (firsts.length() <= number) firsts.push(0);
    const before = firsts.at(number);
    if (before === 0) firsts.set(number, place + 1);
    else {
      add(flags, node, bit);
      add(flags, nodes[before - 1] ?? 0, bit);
    }
  }
  firsts.free();
}

/** Flags the calculations that use the same things, two at least besides themselves. */
function addSameLinks(flags: Uint8Array, nodes: Uint32Array, { starts, edges, to }: Adjacency): void {
  const sets = createNumberedTexts();
  addRepeated(
    flags,
    nodes,
    (place) => {
      const node = nodes[place] ?? 0;
      const [start, end] = [starts[node] ?? 0, starts[node + 1] ?? 0];
      if (end - start < 2) return 0;
      const targets = Uint32Array.from(edges.subarray(start, end), (edge) => to[edge] ?? 0).sort();
      const others = targets.includes(node) ? targets.filter((target) => target !== node) : targets;
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
  // Not by entries: each would be an object.
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
