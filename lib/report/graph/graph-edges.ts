import { type Adjacency, adjacencyOf } from '../../model/graph/closure.ts';
import type { Graph } from './graph.ts';

/** The number of nodes of a graph. */
const nodesOf = ({ datasets, calculations, cards, others }: Graph): number =>
  datasets + calculations + cards + others.length;

/** From each node of a graph to those that use it: what would break without it. Edges have the graph's numbers. */
export const usersIn = (graph: Graph): Adjacency =>
  adjacencyOf({ nodes: nodesOf(graph), from: graph.used, to: graph.user });

/** From each node of a graph to those that it uses. */
export const usedIn = (graph: Graph): Adjacency =>
  adjacencyOf({ nodes: nodesOf(graph), from: graph.user, to: graph.used });
