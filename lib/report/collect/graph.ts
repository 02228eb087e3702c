import { HELD, type Model } from '../../model/index.ts';
import { relations, type Kind as ThingKind } from '../../model/rules/index.ts';
import { type Graph, type Kind, kindOf } from '../graph/graph.ts';
import { shownText } from './values.ts';

/** The most edges of a graph, and the most things in it that no snapshot holds. */
const MOST_EDGES = 1_000_000;
const MOST_OTHERS = 50_000;

/** A dataset is held by no snapshot. */
const OTHER_KINDS: readonly ThingKind[] = ['calculation', 'card'];

/** The nodes of what is listed of each kind, in the order of the lists. */
export type ListedNodes = Readonly<Record<Kind, readonly number[]>>;

/**
 * The uses among what is listed, and of things that no snapshot holds. What is in a snapshot, but not in its list, is left
 * out, and so are uses beyond the first million.
 */
export function graphOf({ graph, things, flags }: Model, listed: ListedNodes): Graph {
  // Of each node its number in the graph, and 1 more: 0 is none.
  const numbers = new Uint32Array(things.count());
  const all = [...listed.dataset, ...listed.calculation, ...listed.card];
  for (const [number, node] of all.entries()) numbers[node] = number + 1;
  const others: Graph['others'][number][] = [];
  const isOther = (node: number): boolean =>
    OTHER_KINDS.includes(things.kindAt(node)) && ((flags[node] ?? 0) & HELD) === 0;
  const isShown = (node: number): boolean => (numbers[node] ?? 0) !== 0 || isOther(node);

  function numberOf(node: number): number | undefined {
    const known = numbers[node] ?? 0;
    if (known !== 0) return known - 1;
    const { kind, id } = things.thingAt(node);
    if (others.length >= MOST_OTHERS) return undefined;
    others.push({ kind: kindOf(kind) ?? 'card', id: shownText(id) });
    numbers[node] = all.length + others.length;
    return all.length + others.length - 1;
  }

  const [user, used, relation]: [number[], number[], number[]] = [[], [], []];
  const invalid: (readonly [number, string])[] = [];
  for (let edge = 0; edge < graph.user.length && user.length < MOST_EDGES; edge += 1) {
    const [by, of] = [graph.user[edge] ?? 0, graph.used[edge] ?? 0];
    if (!isShown(by) || !isShown(of)) continue;
    const [from, to] = [numberOf(by), numberOf(of)];
    if (from === undefined || to === undefined) continue;
    if (graph.isBrokenAt(edge)) invalid.push([user.length, shownText(graph.validityAt(edge) ?? '')]);
    user.push(from);
    used.push(to);
    relation.push(relations.indexOf(graph.relationAt(edge)));
  }
  const [datasets, calculations, cards] = [
    listed.dataset.length,
    listed.calculation.length,
    listed.card.length,
  ];
  return { datasets, calculations, cards, others, user, used, relation, invalid };
}
