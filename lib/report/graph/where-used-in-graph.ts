import {
  adjacencyOf,
  type Description,
  describeNodes,
  HELD,
  type Model,
  reach,
  type UsesGraph,
} from '../../model/index.ts';
import { namedCard, thing } from '../../model/rules/index.ts';
import { type FindableKind, notDescribed, type Search, type UsedThing, type Way } from './used-thing.ts';

/** The kinds of things that use one another. */
const kindsById = ['dataset', 'calculation', 'card'] as const;

/**
 * The datasets, calculations and cards with an id, and what depends on each. What is listed is then described by the columns
 * of its record.
 */
export async function whereUsedInGraph(model: Model, search: Search): Promise<readonly UsedThing[]> {
  const { id, kind, hops, most, columns } = search;
  const { things, graph } = model;
  const asked = kindsById
    .filter((each) => kind === undefined || kind === each)
    .flatMap((each) => (each === 'card' ? namedCard(id).card : thing(each, id)) ?? [])
    .flatMap((own) => things.find(own) ?? []);
  const users = adjacencyOf({ nodes: things.count, from: graph.used, to: graph.user });
  const found = asked.map((node) => {
    const kinds: Record<string, number> = {};
    const see = (each: number) => {
      const name = things.kindAt(each);
      kinds[name] = (kinds[name] ?? 0) + 1;
    };
    return { node, kinds, ...namings(graph, node), reached: reach(users, [node], { hops, most, see }) };
  });
  const listed = found.flatMap(({ node, reached }) => [node, ...reached.nodes]);
  const said = await describeNodes(model, columns, listed);
  const shown = (node: number): Shown => ({
    ...(said.get(node) ?? notDescribed),
    // What was asked for, and what uses it: no other kinds.
    ...(things.thingAt(node) as Pick<Shown, 'kind' | 'id'>),
    inSnapshot: ((model.flags[node] ?? 0) & HELD) !== 0,
  });
  return found.map(({ node, kinds, links, broken, reached: { counts, isCut, nodes, edges, hops: away } }) => {
    const ways = waysTo(edges, graph, shown);
    const total = counts.reduce((sum, count) => sum + count, 0);
    const dependents = Array.from(nodes, (each, place) => {
      const { inSnapshot: _, ...dependent } = shown(each);
      return { hop: away[place] ?? 0, ...dependent, ...(ways.get(each) ?? { ways: [], waysTotal: 0 }) };
    });
    return { ...shown(node), links, broken, fileset: null, total, hops: counts, kinds, isCut, dependents };
  });
}

/** How many other things' records name a thing, also by a link that is broken. */
function namings({ user, used, staterAt, isBrokenAt }: UsesGraph, node: number) {
  let [links, broken] = [0, 0];
  for (let edge = 0; edge < user.length; edge += 1) {
    if (user[edge] !== node && used[edge] !== node) continue;
    if (staterAt(edge) === node || user[edge] === used[edge]) continue;
    links += 1;
    if (isBrokenAt(edge)) broken += 1;
  }
  return { links, broken };
}

type Shown = Description & {
  readonly kind: FindableKind;
  readonly id: string;
  readonly inSnapshot: boolean;
};

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
