import { isBroken, relations, type Thing, thingKey, type Use } from '../../model/rules/index.ts';
import { type Graph, type Kind, kindOf } from '../graph/graph.ts';
import { shownText } from './values.ts';

/** The most edges of a graph, and the most things in it that no snapshot holds. */
const MOST_EDGES = 1_000_000;
const MOST_OTHERS = 50_000;

export type Nodes = Readonly<
  Record<Kind, { readonly listed: number; readonly placeOf: (id: string) => number | 'unlisted' | undefined }>
>;

/**
 * Makes the graph of edges that are added one after another. One whose end is in a snapshot, but not in its list, is
 * left out, and so are those beyond the first million.
 */
export function createEdgeList(nodes: Nodes) {
  const { nodeOf, others } = createNumbering(nodes);
  const [user, used, relation]: [number[], number[], number[]] = [[], [], []];
  const invalid: (readonly [number, string])[] = [];
  const isNew = createRepeats();
  return {
    add(edge: Use): void {
      if (user.length >= MOST_EDGES) return;
      const [from, to] = [nodeOf(edge.user), nodeOf(edge.used)];
      if (from === undefined || to === undefined || !isNew(edge, from, to)) return;
      if (edge.validity !== null && isBroken(edge.validity))
        invalid.push([user.length, shownText(edge.validity)]);
      user.push(from);
      used.push(to);
      relation.push(relations.indexOf(edge.relation));
    },
    graph(): Graph {
      const [datasets, calculations, cards] = [
        nodes.dataset.listed,
        nodes.calculation.listed,
        nodes.card.listed,
      ];
      return { datasets, calculations, cards, others, user, used, relation, invalid };
    },
  };
}

/** Numbers the nodes in the order of `Graph`; those that no snapshot holds as they come. */
function createNumbering(nodes: Nodes) {
  const first: Readonly<Record<Kind, number>> = {
    dataset: 0,
    calculation: nodes.dataset.listed,
    card: nodes.dataset.listed + nodes.calculation.listed,
  };
  const firstOther = first.card + nodes.card.listed;
  const others: { readonly kind: Kind; readonly id: string }[] = [];
  const places = new Map<string, number>();

  function otherAt(thing: Thing, kind: Kind): number | undefined {
    const key = thingKey(thing);
    const known = places.get(key);
    if (known !== undefined) return firstOther + known;
    if (others.length >= MOST_OTHERS) return undefined;
    places.set(key, others.length);
    return firstOther + others.push({ kind, id: shownText(thing.id) }) - 1;
  }

  return {
    others,
    nodeOf(thing: Thing): number | undefined {
      const kind = kindOf(thing.kind);
      const place = kind === undefined ? 'unlisted' : nodes[kind].placeOf(thing.id);
      if (kind === undefined || place === 'unlisted') return undefined;
      return place === undefined ? otherAt(thing, kind) : first[kind] + place;
    },
  };
}

/** Makes a function that is false for what was said before: many calculations on a drill say what it drills from. */
function createRepeats() {
  const said = new Set<number>();
  return ({ relation }: Use, from: number, to: number): boolean => {
    if (relation !== 'drills from' && relation !== 'built on') return true;
    const pair = from * 2 ** 26 + to;
    if (said.has(pair)) return false;
    said.add(pair);
    return true;
  };
}
