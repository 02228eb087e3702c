/** Edges that lead from numbered nodes to others: edge `i` leads from `from[i]` to `to[i]`. */
export type Edges = {
  readonly nodes: number;
  readonly from: ArrayLike<number>;
  readonly to: ArrayLike<number>;
};

/** Edges by the node that they lead from: those of node `n` are `edges[starts[n]]` up to, not including, `edges[starts[n + 1]]`. */
export type Adjacency = Edges & { readonly starts: Uint32Array; readonly edges: Uint32Array };

/** Edges with their numbers sorted by where they lead from; of one node, in the order given. Linear in time and memory. */
export function adjacencyOf({ nodes, from, to }: Edges): Adjacency {
  const starts = new Uint32Array(nodes + 1);
  for (let edge = 0; edge < from.length; edge += 1) increment(starts, (from[edge] ?? 0) + 1);
  for (let node = 0; node < nodes; node += 1) starts[node + 1] = at(starts, node + 1) + at(starts, node);
  const edges = new Uint32Array(from.length);
  const next = starts.slice(0, nodes);
  for (let edge = 0; edge < from.length; edge += 1) {
    const node = from[edge] ?? 0;
    edges[at(next, node)] = edge;
    increment(next, node);
  }
  return { nodes, from, to, starts, edges };
}

export type ReachOptions = {
  /** How many edges away, at most. Default: any number. */
  readonly hops?: number;
  /** The most nodes to list; all are counted. Default: any number. */
  readonly most?: number;
  /** Called with each node that is reached, also with those that are not listed. */
  readonly see?: (node: number) => void;
};

/** What is reached from some nodes, nearest first. The start nodes themselves are not in it. */
export type Reach = {
  readonly nodes: Uint32Array;
  /** How many edges away each of `nodes` is, 1 at least. */
  readonly hops: Uint32Array;
  /** The edges that lead to `nodes` on a shortest way: from a start or one of `nodes`, one hop nearer. In order of hops. */
  readonly edges: Uint32Array;
  /** How many nodes are 1, 2, 3 … hops away, with those that are not listed. */
  readonly counts: readonly number[];
  /** True if more nodes are further away than was asked. */
  readonly isCut: boolean;
};

/** Everything that can be reached from the start nodes, breadth first; each node once, whatever circles there are. */
export function reach(
  adjacency: Adjacency,
  from: Iterable<number>,
  { hops = Number.POSITIVE_INFINITY, most = Number.POSITIVE_INFINITY, see }: ReachOptions = {},
): Reach {
  const queue = createQueue(adjacency.nodes);
  for (const node of from) if (node < adjacency.nodes) queue.add(node, 0);
  const first = queue.length();
  const end = Math.min(first + most, adjacency.nodes);
  const counts: number[] = [];
  const ways: number[] = [];
  let isCut = false;
  for (let place = 0; place < queue.length(); place += 1) {
    const hop = queue.hopAt(place) + 1;
    for (const edge of edgesFrom(adjacency, queue.nodeAt(place))) {
      const target = adjacency.to[edge] ?? 0;
      const isNew = queue.placeOf(target) === undefined;
      if (isNew && hop > hops) isCut = true;
      else if (isNew) {
        queue.add(target, hop);
        counts[hop - 1] = (counts[hop - 1] ?? 0) + 1;
        see?.(target);
      }
      const reached = queue.placeOf(target) ?? end;
      if (reached < end && queue.hopAt(reached) === hop) ways.push(edge);
    }
  }
  return { ...queue.between(first, end), edges: Uint32Array.from(ways), counts, isCut };
}

/** Nodes in the order in which they are reached, each once, with their hops. */
function createQueue(size: number) {
  const nodes = new Uint32Array(size);
  const hops = new Uint32Array(size);
  // The place of each node, and 1 more: 0 is a node that was not reached.
  const places = new Uint32Array(size);
  let length = 0;
  return {
    length: () => length,
    nodeAt: (place: number) => at(nodes, place),
    hopAt: (place: number) => at(hops, place),
    placeOf: (node: number) => (at(places, node) === 0 ? undefined : at(places, node) - 1),
    add(node: number, hop: number) {
      if (at(places, node) !== 0) return;
      nodes[length] = node;
      hops[length] = hop;
      length += 1;
      places[node] = length;
    },
    between: (start: number, end: number) => ({
      nodes: nodes.slice(start, Math.min(end, length)),
      hops: hops.slice(start, Math.min(end, length)),
    }),
  };
}

const edgesFrom = ({ starts, edges }: Adjacency, node: number): Uint32Array =>
  edges.subarray(at(starts, node), at(starts, node + 1));

const at = (values: Uint32Array, index: number): number => values[index] ?? 0;

function increment(values: Uint32Array, index: number): void {
  values[index] = at(values, index) + 1;
}
