import { freeMemory } from '../../bytes/free-memory.ts';
import { growing } from '../../bytes/growing.ts';
import { createNumberedTexts } from '../columns/numbered-texts.ts';
import { type FlaggedKind, flagBits, HELD, WRONG } from '../flags.ts';
import { eachAffected } from '../graph/affected.ts';
import { type Adjacency, adjacencyOf } from '../graph/closure.ts';
import { createThings, type Things } from '../graph/things.ts';
import { createUsesCollector, type UsesGraph } from '../graph/uses-graph.ts';
import { groupsOf, type ModelColumns } from './columns-of.ts';
import { createOwners, type Owner } from './owners.ts';
import {
  type HeldCalculations,
  readCalculations,
  readCards,
  readOwned,
  type Spellings,
} from './read-records.ts';

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
  readonly spellings: Readonly<Record<FlaggedKind, Spellings>>;
  /** `flagBits` and `HELD` of each node. */
  readonly flags: Uint8Array;
  /** True of a node that a whole snapshot of its kind does not hold: what uses it has a missing target. */
  readonly isMissing: (node: number) => boolean;
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
  const flags = new Uint8Array(things.count());
  const isMissing = missingIn(flags, things, columns);
  addFlags(flags, graph, { held, cards: cards.nodes, isMissing });
  return {
    things,
    graph,
    calculations: held.nodes,
    cards: cards.nodes,
    spellings: { calculation: held.spellings, card: cards.spellings },
    flags,
    isMissing,
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

function missingIn(flags: Uint8Array, { kindAt }: Things, { calculations, cards }: ModelColumns) {
  const whole = { calculation: calculations?.isWhole, card: cards?.isWhole } as const;
  return (node: number): boolean => {
    const kind = kindAt(node);
    return (
      ((flags[node] ?? 0) & HELD) === 0 && (kind === 'calculation' || kind === 'card') && whole[kind] === true
    );
  };
}

type Read = Pick<Model, 'cards' | 'isMissing'> & { readonly held: HeldCalculations };

function addFlags(flags: Uint8Array, graph: UsesGraph, { held, cards, isMissing }: Read): void {
  const { nodes } = held;
  for (const node of nodes) add(flags, node, HELD | flagBits.unused);
  for (const node of cards) add(flags, node, HELD);
  for (const [place, node] of nodes.entries())
    if (held.isInvalid[place] === 1) add(flags, node, flagBits.invalid);
  addByEdges(flags, graph, isMissing);
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
}

function add(flags: Uint8Array, node: number, bits: number): void {
  flags[node] = (flags[node] ?? 0) | bits;
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
