import { freeMemory } from '../../bytes/free-memory.ts';
import { growing } from '../../bytes/growing.ts';
import { createNumberedTexts } from '../columns/numbered-texts.ts';
import { flagBits, HELD, WRONG } from '../flags.ts';
import { eachAffected } from '../graph/affected.ts';
import { type Adjacency, adjacencyOf } from '../graph/closure.ts';
import { createThings, type Things } from '../graph/things.ts';
import { createUsesCollector, type UsesGraph } from '../graph/uses-graph.ts';
import { groupsOf, type ModelColumns } from './columns-of.ts';
import { createOwners, type Owner } from './owners.ts';
import { type HeldCalculations, readCalculations, readCards, readOwned } from './read-records.ts';

/** What uses a dataset. */
type DatasetCounts = {
  readonly dataset_id: string;
  readonly cards: number;
  readonly calculations: number;
  /** How many of them do so by a link that is not VALID. */
  readonly broken_links: number;
};

/** What is said of things across records. */
export type Model = {
  readonly things: Things;
  readonly graph: UsesGraph;
  /** The nodes of the things whose records are held, in the order of these. */
  readonly calculations: Uint32Array;
  readonly cards: Uint32Array;
  /** `flagBits` and `HELD` of each node. */
  readonly flags: Uint8Array;
  /** In the order in which they are first used. */
  readonly datasets: readonly DatasetCounts[];
  readonly owners: readonly Owner[];
};

/**
 * Computes the model. Memory: some 120 bytes a calculation with three uses, and one file with its columns. Throws
 * `StoredObjectError` that names a file that is damaged.
 */
export async function computeModel(columns: ModelColumns): Promise<Model> {
  const things = createThings();
  const owners = createOwners();
  const held = await readCalculations(columns.calculations, things, owners);
  const cards = await readCards(columns.cards, things, owners);
  await readOwned(columns.files, owners, { column: 'createdby', what: 'files' });
  await readOwned(columns['data-files'], owners, { column: 'responsibleuserid', what: 'data_files' });
  const graph = await readUses(columns, things);
  const flags = flagsOf(things, graph, { held, cards, columns });
  return {
    things,
    graph,
    calculations: held.nodes,
    cards,
    flags,
    datasets: countDatasets(things, graph),
    owners: owners.counted(flags),
  };
}

/** Who uses whom, by all records. */
export async function readUses(columns: ModelColumns, things: Things): Promise<UsesGraph> {
  const uses = createUsesCollector(things);
  for (const source of [columns.calculations, columns.cards])
    for await (const group of groupsOf(source, 'uses')) await uses.add(group);
  return uses.graph();
}

type Read = {
  readonly held: HeldCalculations;
  readonly cards: Uint32Array;
  readonly columns: ModelColumns;
};

function flagsOf(things: Things, graph: UsesGraph, { held, cards, columns }: Read): Uint8Array {
  const flags = new Uint8Array(things.count());
  const { nodes } = held;
  for (const node of nodes) add(flags, node, HELD | flagBits.unused);
  for (const node of cards) add(flags, node, HELD);
  for (const [place, node] of nodes.entries())
    if (held.isInvalid[place] === 1) add(flags, node, flagBits.invalid);
  addByEdges(flags, things, graph, columns);
  addRepeated(flags, nodes, (place) => held.names[place] ?? 0, flagBits.same_name);
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
  return flags;
}

function add(flags: Uint8Array, node: number, bits: number): void {
  flags[node] = (flags[node] ?? 0) | bits;
}

/** What each use says of both of its things. */
function addByEdges(
  flags: Uint8Array,
  { kindAt }: Things,
  { user, used, isBrokenAt, relationAt }: UsesGraph,
  { calculations, cards }: ModelColumns,
): void {
  for (let edge = 0; edge < user.length; edge += 1) {
    const [by, of] = [user[edge] ?? 0, used[edge] ?? 0];
    // The record of a calculation states which cards use it.
    if (isBrokenAt(edge)) add(flags, relationAt(edge) === 'uses' ? of : by, flagBits.broken_links);
    if (by === of) continue;
    const bits = flags[of] ?? 0;
    flags[of] = bits & ~flagBits.unused;
    if ((bits & HELD) !== 0) continue;
    const kind = kindAt(of);
    const isKnown = kind === 'calculation' ? calculations?.isWhole : kind === 'card' && cards?.isWhole;
    if (isKnown === true) add(flags, by, flagBits.missing_target);
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
  sets.free();
}

function countDatasets(things: Things, { user, used, isBrokenAt }: UsesGraph): readonly DatasetCounts[] {
  const found = new Map<number, { cards: number; calculations: number; broken_links: number }>();
  for (let edge = 0; edge < user.length; edge += 1) {
    const node = used[edge] ?? 0;
    if (things.kindAt(node) !== 'dataset') continue;
    const counts = found.get(node) ?? { cards: 0, calculations: 0, broken_links: 0 };
    found.set(node, counts);
    counts[things.kindAt(user[edge] ?? 0) === 'card' ? 'cards' : 'calculations'] += 1;
    if (isBrokenAt(edge)) counts.broken_links += 1;
  }
  return [...found].map(([node, counts]) => ({ dataset_id: things.thingAt(node).id, ...counts }));
}
