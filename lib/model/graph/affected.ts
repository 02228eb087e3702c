import { freeMemory } from '../../bytes/free-memory.ts';
import { growing } from '../../bytes/growing.ts';
import type { Adjacency } from './closure.ts';

/**
 * Calls `see` with each node from which another node that is wrong can be reached, once or twice. `users` leads from each
 * node to those that use it. A wrong node counts only if another one reaches it, so two are followed to each node: with
 * that many, whichever of them it may be itself, there is another. Linear in time and memory.
 */
export function eachAffected(
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
