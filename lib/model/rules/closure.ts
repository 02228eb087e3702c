/** Edges between numbered nodes: edge `i` leads from `from[i]` to `to[i]`. */
type Edges = {
  readonly nodes: number;
  readonly from: ArrayLike<number>;
  readonly to: ArrayLike<number>;
};

/**
 * Edges grouped by the node where they start: the edges of node `n` are `edges[starts[n]]` up to, but not
 * including, `edges[starts[n + 1]]`.
 */
export type Adjacency = Edges & { readonly starts: Uint32Array; readonly edges: Uint32Array };

/** Groups edges by the node where they start; edges of one node keep their order. Takes linear time and memory. */
export function adjacencyOf({ nodes, from, to }: Edges): Adjacency {
  const starts = new Uint32Array(nodes + 1);
  const increment = (values: Uint32Array, at: number) => {
    values[at] = (values[at] ?? 0) + 1;
  };
  for (let edge = 0; edge < from.length; edge += 1) increment(starts, (from[edge] ?? 0) + 1);
  for (let node = 0; node < nodes; node += 1)
    starts[node + 1] = (starts[node + 1] ?? 0) + (starts[node] ?? 0);
  const edges = new Uint32Array(from.length);
  const next = starts.slice(0, nodes);
  for (let edge = 0; edge < from.length; edge += 1) {
    const node = from[edge] ?? 0;
    edges[next[node] ?? 0] = edge;
    increment(next, node);
  }
  return { nodes, from, to, starts, edges };
}

/**
 * Finds all nodes that can be reached from the start nodes, breadth first, without the start nodes. Each node is
 * returned once, even in cycles.
 */
export function reach(
  { nodes: size, to, starts, edges }: Adjacency,
  from: Iterable<number>,
  options: {
    /** Nodes further away than this many edges are not reached. Default: unlimited. */
    readonly hops?: number;
    /** Maximum nodes to list; all nodes are counted. Default: unlimited. */
    readonly maxListed?: number;
    /** Called with each node that is reached, listed or not. */
    readonly visit?: (node: number) => void;
  } = {},
): {
  readonly nodes: Uint32Array;
  readonly hops: Uint32Array;
  /** The last edge of each shortest path to each of `nodes`, ordered by hops. */
  readonly edges: Uint32Array;
  /** How many nodes are 1, 2, 3 … hops away, listed or not. */
  readonly counts: readonly number[];
  /** Whether there are nodes further away than `hops`. */
  readonly isCut: boolean;
} {
  const { hops = Number.POSITIVE_INFINITY, maxListed = Number.POSITIVE_INFINITY, visit } = options;
  const numbers = () => new Uint32Array(size);
  // `nodes`: the nodes in the order in which they are reached. `positions`: for each node, its index in `nodes`
  // plus 1; 0 if it was not reached.
  const nodes = numbers();
  const distances = numbers();
  const positions = numbers();
  let length = 0;
  function add(node: number, hop: number): void {
    nodes[length] = node;
    distances[length] = hop;
    length += 1;
    positions[node] = length;
  }
  for (const node of from) if (positions[node] === 0) add(node, 0);
  const first = length;
  const end = Math.min(first + maxListed, size);
  const counts: number[] = [];
  const lastEdges: number[] = [];
  let isCut = false;
  for (let position = 0; position < length; position += 1) {
    const node = nodes[position] ?? 0;
    const hop = (distances[position] ?? 0) + 1;
    for (let index = starts[node] ?? 0; index < (starts[node + 1] ?? 0); index += 1) {
      const edge = edges[index] ?? 0;
      const target = to[edge] ?? 0;
      const isNew = positions[target] === 0;
      if (isNew && hop > hops) isCut = true;
      else if (isNew) {
        add(target, hop);
        counts[hop - 1] = (counts[hop - 1] ?? 0) + 1;
        visit?.(target);
      }
      const reached = (positions[target] ?? 0) - 1;
      if (reached < end && distances[reached] === hop) lastEdges.push(edge);
    }
  }
  const last = Math.min(end, length);
  return {
    nodes: nodes.slice(first, last),
    hops: distances.slice(first, last),
    edges: Uint32Array.from(lastEdges),
    counts,
    isCut,
  };
}
