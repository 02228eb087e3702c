import {
  adjacencyOf,
  createThings,
  type Described,
  type Description,
  describedRecords,
  reach,
  type Things,
  type UsesGraph,
  usesOfRuns,
} from '../../model/index.ts';
import { namedCard, thing } from '../../model/rules/index.ts';
import {
  type FindableKind,
  kindOf,
  notDescribed,
  type Search,
  type UsedThing,
  type Way,
} from './used-thing.ts';

/** The kinds of things that the model knows by their ids. */
const kindsById = ['dataset', 'calculation', 'card', 'data-file'] as const;

/**
 * The datasets, calculations, cards and data files with an id, and what depends on each, by the uses of the runs. What is
 * listed is then described by the columns of its record.
 */
export async function whereUsedInGraph(search: Search): Promise<readonly UsedThing[]> {
  const { id, kind, hops, most } = search;
  const things = createThings();
  const asked = kindsById
    .filter((each) => kind === undefined || kind === each)
    .flatMap((each) => (each === 'card' ? namedCard(id).card : thing(each, id)) ?? [])
    .map((own) => things.nodeOf(own.kind, Buffer.from(own.id)));
  const graph = await usesOfRuns(search, things);
  const users = adjacencyOf({ nodes: things.count(), from: graph.used, to: graph.user });
  const found = asked.map((node) => {
    const kinds: Record<string, number> = {};
    const see = (each: number) => {
      const name = things.kindAt(each);
      kinds[name] = (kinds[name] ?? 0) + 1;
    };
    return { node, kinds, ...namings(graph, node), reached: reach(users, [node], { hops, most, see }) };
  });
  const shown = await describeNodes(
    search,
    things,
    found.flatMap(({ node, reached }) => [node, ...reached.nodes]),
  );
  return found
    .filter(({ node, isNamed }) => isNamed || shown(node).inSnapshot)
    .map(({ node, kinds, links, broken, reached: { counts, isCut, nodes, edges, hops: away } }) => {
      const ways = waysTo(edges, graph, shown);
      const total = counts.reduce((sum, count) => sum + count, 0);
      const dependents = Array.from(nodes, (each, place) => {
        const { inSnapshot: _, ...dependent } = shown(each);
        return { hop: away[place] ?? 0, ...dependent, ...(ways.get(each) ?? { ways: [], waysTotal: 0 }) };
      });
      return { ...shown(node), links, broken, fileset: null, total, hops: counts, kinds, isCut, dependents };
    });
}

/** Whether anything uses or names a thing, and how many other things' records name it, also by a link that is broken. */
function namings({ user, used, staterAt, isBrokenAt }: UsesGraph, node: number) {
  let [isNamed, links, broken] = [false, 0, 0];
  for (let edge = 0; edge < user.length; edge += 1) {
    if (user[edge] !== node && used[edge] !== node) continue;
    isNamed = true;
    if (staterAt(edge) === node || user[edge] === used[edge]) continue;
    links += 1;
    if (isBrokenAt(edge)) broken += 1;
  }
  return { isNamed, links, broken };
}

type Shown = Description & {
  readonly kind: FindableKind;
  readonly id: string;
  readonly inSnapshot: boolean;
};

const keyOf = (kind: string, id: string): string => `${kind} ${id}`;

/** What the first record of each node says of it. */
async function describeNodes(
  search: Search,
  things: Things,
  nodes: readonly number[],
): Promise<(node: number) => Shown> {
  const keyAt = (node: number) => keyOf(things.kindAt(node), things.thingAt(node).id);
  const wanted = new Set(nodes.map(keyAt));
  const known = new Map<string, Described>();
  const runs = search.runs.filter(({ source }) => source !== 'files');
  const isWanted = (source: Described['source'], id: string) => wanted.has(keyOf(kindOf[source], id));
  for await (const records of describedRecords({ ...search, runs, isWanted }))
    for (const record of records) {
      const key = keyOf(kindOf[record.source], record.id);
      if (!known.has(key)) known.set(key, record);
    }
  return (node) => {
    const { name, type, owner } = known.get(keyAt(node)) ?? notDescribed;
    // What was asked for, and what uses it: no other kinds.
    const { kind, id } = things.thingAt(node) as { readonly kind: FindableKind; readonly id: string };
    return { kind, id, name, type, owner, inSnapshot: known.has(keyAt(node)) };
  };
}

/** The most ways to a dependent that are named. */
const MOST_WAYS = 5;

/** How each thing was reached, by its node. */
function waysTo(edges: Uint32Array, graph: UsesGraph, shown: (node: number) => Shown) {
  const ways = new Map<number, { ways: Way[]; waysTotal: number }>();
  for (const edge of edges) {
    const user = graph.user[edge] ?? 0;
    const found = ways.get(user) ?? { ways: [], waysTotal: 0 };
    ways.set(user, found);
    found.waysTotal += 1;
    if (found.ways.length >= MOST_WAYS) continue;
    const { kind, id, name } = shown(graph.used[edge] ?? 0);
    const valid = graph.isBrokenAt(edge) ? graph.validityAt(edge) : null;
    found.ways.push({ kind, id, name, relation: graph.relationAt(edge), valid });
  }
  return ways;
}
