import {
  adjacencyOf,
  createThings,
  eachLineOf,
  type Reach,
  type RunsToRead,
  reach,
  runsOf,
  type Things,
  type UsesGraph,
  usesOfRuns,
} from '../../model/index.ts';
import { isBroken, namedCard, type Thing, thing } from '../../model/rules/index.ts';
import { parsedLine } from '../../snapshot/changes/parsed-line.ts';
import { createRecordFields } from '../../snapshot/changes/record-fields.ts';
import { describe, memberOf, notDescribed } from './describe.ts';
import { type Kind, kindOf, kinds } from './graph.ts';
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
 * The datasets, calculations and cards with an id, and what depends on each, by the uses of the runs. Then the lines of the
 * runs are read for the names of what is listed; if nothing uses or names the id, for hints too.
 */
export async function whereUsedInGraph(options: InGraphOptions): Promise<readonly UsedThing[]> {
  const { id, kind, hops, most } = options;
  const things = createThings();
  const asked = kinds.flatMap((each) =>
    kind === undefined || kind === each ? nodeOf(things, each, id) : [],
  );
  const graph = await usesOfRuns(options, things);
  const users = adjacencyOf({ nodes: things.count(), from: graph.used, to: graph.user });
  const found = asked.map((node): Found => {
    const byKind: Record<string, number> = {};
    const see = (reached: number) => {
      const name = things.kindAt(reached);
      byKind[name] = (byKind[name] ?? 0) + 1;
    };
    return { node, reached: reach(users, [node], { hops, most, see }), byKind, ...namings(graph, node) };
  });
  const known = await describeFound(options, things, found);
  return found
    .filter(({ node, isNamed }) => isNamed || known.has(node))
    .map((each) => usedThing(each, { things, graph, known }));
}

function nodeOf(things: Things, kind: Kind, id: string): readonly number[] {
  const own = kind === 'card' ? namedCard(id).card : thing(kind, id);
  return own === undefined ? [] : [things.nodeOf(kind, Buffer.from(own.id))];
}

/** How often other things' records name a thing, and how often by a link that is broken. */
type Namings = { readonly isNamed: boolean; readonly links: number; readonly broken: number };

type Found = Namings & {
  readonly node: number;
  readonly reached: Reach;
  /** How many things are reached of each kind. */
  readonly byKind: Readonly<Record<string, number>>;
};

function namings({ user, used, relationAt, isBrokenAt }: UsesGraph, node: number): Namings {
  let [isNamed, links, broken] = [false, 0, 0];
  for (let edge = 0; edge < user.length; edge += 1) {
    if (user[edge] !== node && used[edge] !== node) continue;
    isNamed = true;
    // The record of a calculation states which cards use it.
    const named = relationAt(edge) === 'uses' ? user[edge] : used[edge];
    if (named !== node || user[edge] === used[edge]) continue;
    links += 1;
    if (isBrokenAt(edge)) broken += 1;
  }
  return { isNamed, links, broken };
}

/** What the first record of each thing says of it, by node. */
type Known = ReadonlyMap<number, Description>;

const recordKinds = [
  ['calculations', 'calculation'],
  ['cards', 'card'],
] as const;

async function describeFound(
  { hints, ...options }: InGraphOptions,
  things: Things,
  found: readonly Found[],
): Promise<Known> {
  const known = new Map<number, Description>();
  const wanted = new Set(found.flatMap(({ node, reached }) => [node, ...reached.nodes]));
  const isHinting = !found.some(({ isNamed }) => isNamed);
  const readFields = createRecordFields(isHinting ? ['id', 'name', 'title'] : ['id']);
  for (const [source, kind] of recordKinds)
    await eachLineOf(runsOf(options, source), (reader) => {
      const record = readFields(reader);
      const own = thing(kind, memberOf(record, 'id'));
      if (own === undefined) return;
      if (isHinting) hints.see({ kind, id: own.id }, record);
      const node = things.find(own) ?? -1;
      if (wanted.has(node) && !known.has(node)) known.set(node, describe(kind, parsedLine(reader)));
    });
  return known;
}

type Read = { readonly things: Things; readonly graph: UsesGraph; readonly known: Known };

function usedThing({ node, reached, byKind, links, broken }: Found, read: Read): UsedThing {
  const { things, known } = read;
  const { nodes, hops, counts, isCut, edges } = reached;
  const ways = waysTo(edges, read);
  return {
    ...shownThing(things.thingAt(node)),
    ...(known.get(node) ?? notDescribed),
    inSnapshot: known.has(node),
    links,
    broken,
    fileset: null,
    total: counts.reduce((sum, count) => sum + count, 0),
    hops: counts,
    kinds: byKind,
    isCut,
    dependents: Array.from(nodes, (dependent, place) => ({
      hop: hops[place] ?? 0,
      ...shownThing(things.thingAt(dependent)),
      ...(known.get(dependent) ?? notDescribed),
      ...(ways.get(dependent) ?? { ways: [], waysTotal: 0 }),
    })),
  };
}

/** The most ways to a dependent that are named. */
const MOST_WAYS = 5;

/** How each thing was reached, by its node. */
function waysTo(edges: Uint32Array, { things, graph }: Read) {
  const ways = new Map<number, { ways: Way[]; waysTotal: number }>();
  for (const edge of edges) {
    const user = graph.user[edge] ?? 0;
    const found = ways.get(user) ?? { ways: [], waysTotal: 0 };
    found.waysTotal += 1;
    const validity = graph.validityAt(edge);
    if (found.ways.length < MOST_WAYS)
      found.ways.push({
        ...shownThing(things.thingAt(graph.used[edge] ?? 0)),
        relation: graph.relationAt(edge),
        valid: isBroken(validity) ? validity : null,
      });
    ways.set(user, found);
  }
  return ways;
}

/** A thing that is reached: only calculations and cards use anything, and only what was asked for is used by these. */
const shownThing = ({ kind, id }: Thing) => ({ kind: kindOf(kind) ?? 'dataset', id });
