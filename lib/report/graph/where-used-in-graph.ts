import { adjacencyOf, type Reach, reach } from '../../model/graph/closure.ts';
import { collectEdges, eachWanted, type RunsToRead } from './collect-edges.ts';
import { describe, notDescribed } from './describe.ts';
import type { EdgeTable } from './edge-table.ts';
import { type Thing, thing } from './edges.ts';
import { type Kind, kinds } from './graph.ts';
import type { Hints } from './hints.ts';
import type { Description, UsedThing, Way } from './used-thing.ts';

export type InGraphOptions = RunsToRead & {
  readonly id: string;
  /** Among datasets, calculations and cards; default: all of them. */
  readonly kind: Kind | undefined;
  readonly hops: number;
  readonly most: number;
  readonly hints: Hints;
};

/**
 * The datasets, calculations and cards with an id, and what depends on each: one pass over the runs for the edges, in
 * typed arrays, and one for the names of what is listed. Memory: some 100 MB for a million calculations.
 */
export async function whereUsedInGraph(options: InGraphOptions): Promise<readonly UsedThing[]> {
  const { id, kind, hops, most, hints } = options;
  const table = await collectEdges(options, (own, record) => hints.see(own, record));
  const asked = kinds.flatMap((each) => (kind === undefined || kind === each ? (thing(each, id) ?? []) : []));
  const named = asked.flatMap((each) => {
    const node = table.things.find(each);
    return node === undefined ? [] : [{ thing: each, node }];
  });
  if (named.length === 0) return [];
  const users = adjacencyOf(table.edges());
  const found = named.map((each): Found => {
    const byKind = new Map<string, number>();
    const see = (node: number) => {
      const reachedKind = table.things.kindOf(node);
      byKind.set(reachedKind, (byKind.get(reachedKind) ?? 0) + 1);
    };
    return { ...each, reached: reach(users, [each.node], { hops, most, see }), byKind };
  });
  const known = await readNames(options, table, found);
  return found.map((each) => usedThing(each, table, known));
}

type Found = {
  readonly thing: Thing;
  readonly node: number;
  readonly reached: Reach;
  /** How many things are reached of each kind. */
  readonly byKind: ReadonlyMap<string, number>;
};

/** What is known of listed things, by their numbers. */
type Known = Map<number, { readonly id: string; readonly described: Description | undefined }>;

/** Reads the records of the things found and listed, for their names, and for the ids of those without a record. */
async function readNames(options: InGraphOptions, table: EdgeTable, found: readonly Found[]): Promise<Known> {
  const wanted = new Set(found.flatMap(({ node, reached }) => [node, ...reached.nodes]));
  const known: Known = new Map(found.map(({ thing: { id }, node }) => [node, { id, described: undefined }]));
  // A card in a drill may be named by any calculation, and by no record of what is listed.
  const nameless = new Set([...wanted].filter((node) => !table.things.isHeld(node) && !known.has(node)));
  const isWanted = (own: Thing) => nameless.size > 0 || wanted.has(table.things.find(own) ?? -1);
  await eachWanted(options, isWanted, (own, record, edges) => {
    const node = table.things.find(own);
    if (node !== undefined && wanted.has(node) && known.get(node)?.described === undefined)
      known.set(node, { id: own.id, described: describe(own.kind, record) });
    if (nameless.size === 0) return;
    for (const { user } of edges) {
      const named = table.things.find(user) ?? -1;
      if (nameless.delete(named)) known.set(named, { id: user.id, described: undefined });
    }
  });
  return known;
}

function usedThing({ thing: own, node, reached, byKind }: Found, table: EdgeTable, known: Known): UsedThing {
  const { nodes, hops, counts, isCut, edges } = reached;
  const ways = waysTo(edges, table, known);
  return {
    ...own,
    ...(known.get(node)?.described ?? notDescribed),
    inSnapshot: table.things.isHeld(node),
    ...table.namings(node),
    fileset: null,
    total: counts.reduce((sum, count) => sum + count, 0),
    hops: counts,
    kinds: Object.fromEntries(byKind),
    isCut,
    dependents: Array.from(nodes, (dependent, place) => ({
      hop: hops[place] ?? 0,
      kind: table.things.kindOf(dependent),
      id: known.get(dependent)?.id ?? null,
      ...(known.get(dependent)?.described ?? notDescribed),
      ...(ways.get(dependent) ?? { ways: [], waysTotal: 0 }),
    })),
  };
}

/** The most ways to a dependent that are named. */
const MOST_WAYS = 5;

/** How each thing was reached, by its number. */
function waysTo(edges: Uint32Array, table: EdgeTable, known: Known) {
  const ways = new Map<number, { ways: Way[]; waysTotal: number }>();
  for (const edge of edges) {
    const { user, used, relation, valid } = table.edgeAt(edge);
    const found = ways.get(user) ?? { ways: [], waysTotal: 0 };
    found.waysTotal += 1;
    const id = known.get(used)?.id;
    if (found.ways.length < MOST_WAYS && id !== undefined)
      found.ways.push({ kind: table.things.kindOf(used), id, relation, valid: valid ?? null });
    ways.set(user, found);
  }
  return ways;
}
