import { freeMemory, growing } from '../../base/index.ts';
import { createNumberedTexts } from '../columns/numbered-texts.ts';
import type { ModelColumns } from '../columns/run-columns.ts';
import { flagBits, HELD, WRONG } from '../flags.ts';
import { type Adjacency, adjacencyOf } from '../graph/closure.ts';
import { type Things, thingsIn } from '../graph/things.ts';
import { createUsesCollector, graphIn, type PackedUses, type UsesGraph } from '../graph/uses-graph.ts';
import { createOwners, type Owner } from './owners.ts';
import {
  type HeldThings,
  type ReadCalculations,
  readCalculations,
  readCards,
  readOwned,
} from './read-records.ts';

/** What uses a dataset. */
type DatasetCounts = {
  readonly cards: number;
  readonly calculations: number;
  /** How many of them do so by a link that is not VALID. */
  readonly broken_links: number;
};

export type Dataset = DatasetCounts & { readonly dataset_id: string; readonly node: number };

/** What is said of things across records, as it is stored. */
export type PackedModel = {
  readonly uses: PackedUses;
  readonly calculations: HeldThings;
  readonly cards: HeldThings;
  /** `flagBits` and `HELD` of each node. */
  readonly flags: Uint8Array;
  /** The kinds of which a whole snapshot was read. */
  readonly whole: readonly string[];
  /** In the order in which they are first used: their nodes, and what uses them. */
  readonly datasets: Readonly<Record<'node' | keyof DatasetCounts, Uint32Array>>;
  readonly owners: readonly Owner[];
  /** Who owns cards: of each card in turn its node, and the place of each owner in `owners`. */
  readonly cardOwners: { readonly node: Uint32Array; readonly owner: Uint32Array };
};

/** The same, to be asked. */
export type Model = Omit<PackedModel, 'uses' | 'datasets'> & {
  readonly datasets: () => readonly Dataset[];
  readonly things: Things;
  readonly graph: UsesGraph;
  /** True of a node that a whole snapshot of its kind does not hold: what uses it has a missing target. */
  readonly isMissing: (node: number) => boolean;
};

export function modelOf({ uses, datasets, ...packed }: PackedModel): Model {
  const things = thingsIn(uses.things);
  const datasetAt = (node: number, at: number): Dataset => ({
    ...{ node, dataset_id: things.thingAt(node).id, cards: datasets.cards[at] ?? 0 },
    ...{ calculations: datasets.calculations[at] ?? 0, broken_links: datasets.broken_links[at] ?? 0 },
  });
  return {
    ...packed,
    ...{ things, graph: graphIn(uses), isMissing: missingIn(packed, things) },
    datasets: () => Array.from(datasets.node, datasetAt),
  };
}

const missingIn =
  ({ flags, whole }: Pick<PackedModel, 'flags' | 'whole'>, { kindAt }: Things) =>
  (node: number): boolean =>
    ((flags[node] ?? 0) & HELD) === 0 && whole.includes(kindAt(node));

/** What was computed, with the other ways in which records write their ids. */
export type ComputedModel = {
  readonly packed: PackedModel;
  readonly spellings: Readonly<Record<'calculation' | 'card', ReadonlyMap<string, number>>>;
};

/**
 * Computes the model. Memory: some 150 bytes a calculation with three uses, and one file with its columns. Throws
 * `StoredObjectError` that names a file that is damaged, unless the columns say so.
 */
export async function computeModel(columns: ModelColumns): Promise<ComputedModel> {
  const collector = createUsesCollector();
  const owners = createOwners();
  const calculations = await readCalculations(columns.calculations, collector, owners);
  const cards = await readCards(columns.cards, collector, owners);
  await readOwned(columns.files, owners, { column: 'createdby', what: 'files' });
  await readOwned(columns['data-files'], owners, { column: 'responsibleuserid', what: 'data_files' });
  const uses = collector.pack();
  const [things, graph] = [thingsIn(uses.things), graphIn(uses)];
  const whole = [
    ...(columns.calculations?.isWhole === true && calculations.isSound ? ['calculation'] : []),
    ...(columns.cards?.isWhole === true && cards.isSound ? ['card'] : []),
  ];
  const flags = new Uint8Array(things.count);
  addFlags(flags, graph, {
    calculations,
    cards: cards.nodes,
    isMissing: missingIn({ flags, whole }, things),
  });
  return {
    packed: {
      uses,
      calculations: { nodes: calculations.nodes, rows: calculations.rows },
      cards: { nodes: cards.nodes, rows: cards.rows },
      flags,
      whole,
      datasets: countDatasets(things, graph),
      owners: owners.counted(flags),
      cardOwners: owners.ofCards(),
    },
    spellings: { calculation: calculations.spellings, card: cards.spellings },
  };
}

type Read = Pick<Model, 'isMissing'> & {
  readonly calculations: ReadCalculations;
  readonly cards: Uint32Array;
};

function addFlags(flags: Uint8Array, graph: UsesGraph, { calculations, cards, isMissing }: Read): void {
  const { nodes, isInvalid, names } = calculations;
  for (const node of nodes) add(flags, node, HELD | flagBits.unused);
  for (const node of cards) add(flags, node, HELD);
  for (const [place, node] of nodes.entries()) if (isInvalid[place] === 1) add(flags, node, flagBits.invalid);
  addByEdges(flags, graph, isMissing);
  addRepeated(flags, nodes, (place) => names[place] ?? 0, flagBits.same_name);
  const { user: from, used: to } = graph;
  const targets = adjacencyOf({ nodes: flags.length, from, to });
  addSameLinks(flags, nodes, targets);
  for (const memory of [targets.starts, targets.edges]) freeMemory(memory);
  const users = adjacencyOf({ nodes: flags.length, from: to, to: from });
  eachAffected(
    users,
    (node) => ((flags[node] ?? 0) & WRONG) !== 0,
    (node) => add(flags, node, flagBits.affected),
  );
  for (const memory of [users.starts, users.edges]) freeMemory(memory);
}

function add(flags: Uint8Array, node: number, bits: number): void {
  flags[node] = (flags[node] ?? 0) | bits;
}

/**
 * Calls `see` with each node from which another node that is wrong can be reached, once or twice. `users` leads from each
 * node to those that use it. A wrong node counts only if another one reaches it, so two are followed to each node: with
 * that many, whichever of them it may be itself, there is another. Linear in time and memory.
 */
function eachAffected(
  users: Adjacency,
  isWrong: (node: number) => boolean,
  see: (node: number) => void,
): void {
  // Of each node the first two that reach it, and 1 more: 0 is none.
  const origins = [new Uint32Array(users.nodes), new Uint32Array(users.nodes)] as const;
  const queue = { nodes: growing(Uint32Array), origins: growing(Uint32Array) };
  function reach(node: number, origin: number): void {
    const [first, second] = origins;
    if (first[node] === origin || second[node] === origin || second[node] !== 0) return;
    if (first[node] === 0) first[node] = origin;
    else second[node] = origin;
    if (node !== origin - 1) see(node);
    queue.nodes.push(node);
    queue.origins.push(origin);
  }
  for (let node = 0; node < users.nodes; node += 1) if (isWrong(node)) reach(node, node + 1);
  for (let at = 0; at < queue.nodes.length(); at += 1) {
    const node = queue.nodes.at(at);
    for (let edge = users.starts[node] ?? 0; edge < (users.starts[node + 1] ?? 0); edge += 1)
      reach(users.to[users.edges[edge] ?? 0] ?? 0, queue.origins.at(at));
  }
  for (const memory of origins) freeMemory(memory);
  queue.nodes.free();
  queue.origins.free();
}

/** What each use says of both of its things. */
function addByEdges(
  flags: Uint8Array,
  { user, used, isBrokenAt, staterAt }: UsesGraph,
  isMissing: Model['isMissing'],
): void {
  for (let edge = 0; edge < user.length; edge += 1) {
    const [by, of] = [user[edge] ?? 0, used[edge] ?? 0];
    if (isBrokenAt(edge)) add(flags, staterAt(edge), flagBits.broken_links);
    if (by === of) continue;
    flags[of] = (flags[of] ?? 0) & ~flagBits.unused;
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
  { count, kindAt }: Things,
  { user, used, isBrokenAt }: UsesGraph,
): PackedModel['datasets'] {
  const numbers = () => growing(Uint32Array);
  const [node, cards, calculations, broken_links] = [numbers(), numbers(), numbers(), numbers()];
  // Of each node its place, and 1 more: 0 is none.
  const places = new Uint32Array(count);
  const increment = (counts: typeof node, place: number) => counts.set(place, counts.at(place) + 1);
  // Not by entries: each would be an object.
  for (let edge = 0; edge < used.length; edge += 1) {
    const of = used[edge] ?? 0;
    if (kindAt(of) !== 'dataset') continue;
    if (places[of] === 0) {
      node.push(of);
      places[of] = node.length();
      for (const counts of [cards, calculations, broken_links]) counts.push(0);
    }
    const place = (places[of] ?? 0) - 1;
    increment(kindAt(user[edge] ?? 0) === 'card' ? cards : calculations, place);
    if (isBrokenAt(edge)) increment(broken_links, place);
  }
  freeMemory(places);
  const values = { cards: cards.values(), calculations: calculations.values() };
  return { node: node.values(), ...values, broken_links: broken_links.values() };
}
