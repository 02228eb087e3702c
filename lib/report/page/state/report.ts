import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { type Adjacency, adjacencyOf, reach, relations } from '../../../model/rules/index.ts';
import type { Graph, Kind, ReportFacts } from '../../facts.ts';

/** A dataset, calculation or card. `name` is empty if it is unknown; `isKnown` is false if no snapshot contains it. */
type Node = {
  readonly kind: Kind;
  readonly id: string;
  readonly name: string;
  readonly isKnown: boolean;
};

/** The number of entries of each list. */
export const totalsOf = ({ calculations, cards, datasets, owners, files, dataFiles }: ReportFacts) => ({
  calculations: calculations?.total,
  cards: cards?.total,
  datasets: datasets?.total,
  owners: owners?.total,
  files: files?.total,
  'data-files': dataFiles?.total,
});

/** The facts, and values that are computed from them only once. */
export type Report = ReturnType<typeof createReport>;

/** Adds the computed values to the facts. */
export function createReport(facts: ReportFacts) {
  const { graph } = facts;
  const nodes = nodesOf(facts);
  const { id: owners = [], name = [] } = facts.owners?.list.columns ?? {};
  const { id: ids = [], brokenSince = [] } = facts.calculations?.list.columns ?? {};
  const names = new Map(owners.map((id, row) => [id, name[row] ?? '']));
  return {
    facts,
    nodes,
    /** The numbers of the nodes, by their keys. */
    numbers: new Map(nodes.map((node, index) => [nodeKey(node), index])),
    /** The name of an owner, or the id if the name is unknown. */
    ownerOf: (id: string) => names.get(id) || id,
    /** Since when each calculation has been broken, by id, in epoch milliseconds; null if it is not broken. */
    since: new Map(ids.map((id, row) => [id, brokenSince[row] ?? null])),
    /** The formula of a calculation, by id, if the report has it. */
    formulas: new Map(facts.knownFormulas.list.map((formula) => [formula.id, formula])),
    edges: edgesOf(graph, nodes.length),
    edgeAt: (edge: number) => ({
      user: nodes[graph.user[edge] ?? -1],
      used: nodes[graph.used[edge] ?? -1],
      relation: relations[graph.relation[edge] ?? -1],
    }),
  };
}

/** The nodes of the graph, in the order of their numbers. */
function nodesOf({ datasets, calculations, cards, graph }: ReportFacts): readonly Node[] {
  const nodes = (kind: Kind, ids: readonly string[] = [], names: readonly string[] = []): Node[] =>
    ids.map((id, row) => ({ kind, id, name: names[row] ?? '', isKnown: true }));
  return [
    ...nodes('dataset', datasets?.list.columns.id),
    ...nodes('calculation', calculations?.list.columns.id, calculations?.list.columns.name),
    ...nodes('card', cards?.list.columns.id, cards?.list.columns.title),
    ...graph.others.map((other) => ({ ...other, name: '', isKnown: false })),
  ];
}

/** The key of a node in an address: `card:1234`. */
export const nodeKey = ({ kind, id }: Pick<Node, 'kind' | 'id'>): string => `${kind}:${id}`;

/**
 * The edges from each node to the nodes that use it (`users`: they would break without it), and to the nodes that it
 * uses (`used`). An edge is its index in the graph.
 */
const edgesOf = ({ user, used }: Graph, nodes: number) => ({
  users: adjacencyOf({ nodes, from: used, to: user }),
  used: adjacencyOf({ nodes, from: user, to: used }),
});

/** Which edges to follow from a node. */
export type Direction = keyof ReturnType<typeof edgesOf>;

/** A node that was reached: how many hops away it is (`hop`), and the last edge of a shortest path to it. */
export type Reached = { readonly node: number; readonly hop: number; readonly edge: number };

/** All nodes that can be reached from a node, each once, nearest first, without the node itself. */
export function reachedFrom(adjacency: Adjacency, start: number): readonly Reached[] {
  const { nodes, hops, edges } = reach(adjacency, [start]);
  const edgeTo = new Map<number, number>();
  for (const edge of edges.toReversed()) edgeTo.set(adjacency.to[edge] ?? 0, edge);
  return Array.from(nodes, (node, place) => ({ node, hop: hops[place] ?? 0, edge: edgeTo.get(node) ?? -1 }));
}

/** Passes the report to all parts of the page. */
export const ReportContext = createContext<Report | undefined>(undefined);

/** The report that the page shows. */
export function useReport(): Report {
  const report = useContext(ReportContext);
  if (report === undefined) throw new Error('useReport was called outside of the page');
  return report;
}
