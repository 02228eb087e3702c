import {
  type Adjacency,
  adjacencyOf,
  columnsOfRuns,
  describedRecords,
  describeNodes,
  HELD,
  lastRuns,
  type Model,
  openModel,
  reach,
  type UsesGraph,
} from '../../model/index.ts';
import { namedCard, thing } from '../../model/rules.ts';
import { readAgain } from '../../snapshot/read-again.ts';
import { type Source, sources } from '../../snapshot/sources/sources.ts';
import type { Store } from '../../store/index.ts';
import {
  type FindableKind,
  findableKinds,
  kindOf,
  type Named,
  notDescribed,
  type Search,
  type UsedThing,
  type Way,
} from './used-thing.ts';
import { whereUsedInDataFiles, whereUsedInFiles } from './where-used-in-files.ts';

export type WhereUsedOptions = {
  readonly store: Store;
  /** An id in any of its forms; of a file, its path or its id. */
  readonly id: string;
  /** Default: every kind that has the id. */
  readonly kind?: FindableKind | undefined;
  /** How many uses away, at most. Default: any number. */
  readonly hops?: number | undefined;
  /** The most dependents to list of each thing; all are counted. */
  readonly most: number;
  readonly signal?: AbortSignal | undefined;
};

export type WhereUsed = {
  /** What was searched, a run each. `startedAt` is ISO text. */
  readonly searched: readonly {
    readonly place: string;
    readonly run: string;
    readonly startedAt: string;
    readonly records: number;
    /** What the platform refused to give it, such as the cards of a dataset. */
    readonly missing: number;
  }[];
  /** What would have been searched, but is not published. */
  readonly unpublished: readonly Source[];
  /** Everything that has the id: none if it is not known. */
  readonly found: readonly UsedThing[];
  /** What may have been meant, if nothing was found. */
  readonly hints: readonly Named[];
};

/**
 * What has an id, and what depends on it over several hops, by the last published runs. Throws `StoredObjectError` that
 * names what is damaged of them.
 */
export const whereUsed = (options: WhereUsedOptions): Promise<WhereUsed> =>
  readAgain(() => searchOnce(options));

async function searchOnce(options: WhereUsedOptions): Promise<WhereUsed> {
  const { store, id, kind, most, hops = Number.POSITIVE_INFINITY, signal } = options;
  const wanted = [...new Set<Source>(kind === undefined ? sources : findableKinds[kind])];
  const opened = wanted.includes('calculations')
    ? await openModel({ store, now: Date.now, signal })
    : undefined;
  const last = opened?.runs ?? (await lastRuns(store, wanted)).runs;
  const runs = last.filter(({ source }) => wanted.includes(source));
  const columns = opened?.columns ?? columnsOfRuns({ store, runs, signal });
  const search = { columns, id: id.trim(), kind, hops, most };
  const found = [
    ...(opened === undefined ? [] : await whereUsedInGraph(opened.model, search)),
    ...(wanted.includes('data-files') ? await whereUsedInDataFiles(search) : []),
    ...(wanted.includes('files') ? await whereUsedInFiles(search) : []),
  ];
  return {
    searched: runs.map(({ place, manifest: { run, startedAt, records, missing } }) => ({
      ...{ place, run, startedAt, records, missing: missing.length },
    })),
    unpublished: wanted.filter((source) => !runs.some((run) => run.source === source)),
    found,
    hints: found.length === 0 ? await hintsFor(search) : [],
  };
}

/** The kinds of things that use one another. */
const kindsById = ['dataset', 'calculation', 'card'] as const;

/** The datasets, calculations and cards with an id, and what depends on each. */
async function whereUsedInGraph(model: Model, search: Search): Promise<readonly UsedThing[]> {
  const { id, kind } = search;
  const { things, graph } = model;
  const asked = kindsById
    .filter((each) => kind === undefined || kind === each)
    .flatMap((each) => (each === 'card' ? namedCard(id).card : thing(each, id)) ?? [])
    .flatMap((own) => things.find(own) ?? []);
  const users = adjacencyOf({ nodes: things.count, from: graph.used, to: graph.user });
  const found: UsedThing[] = [];
  for (const node of asked) found.push(await usedNode(node, users, model, search));
  return found;
}

/** A thing, and what depends on it. What is listed is described by the columns of its record. */
async function usedNode(
  node: number,
  users: Adjacency,
  model: Model,
  { hops, most, columns }: Search,
): Promise<UsedThing> {
  const { things, graph, flags } = model;
  const kinds: Record<string, number> = {};
  const see = (each: number) => {
    const name = things.kindAt(each);
    kinds[name] = (kinds[name] ?? 0) + 1;
  };
  const { counts, isCut, nodes, edges, hops: away } = reach(users, [node], { hops, most, see });
  const said = await describeNodes(model, columns, new Set([node, ...nodes]));
  const shown = (each: number) => ({
    ...(said.get(each) ?? notDescribed),
    // What was asked for, and what uses it: no other kinds.
    ...(things.thingAt(each) as Pick<UsedThing, 'kind' | 'id'>),
  });
  const ways = waysTo(edges, graph, shown);
  const noWay = { ways: [], waysTotal: 0 };
  return {
    ...shown(node),
    ...namings(graph, node),
    inSnapshot: ((flags[node] ?? 0) & HELD) !== 0,
    fileset: null,
    total: counts.reduce((sum, count) => sum + count, 0),
    hops: counts,
    ...{ kinds, isCut },
    dependents: Array.from(nodes, (each, place) => ({
      ...{ hop: away[place] ?? 0, ...shown(each), ...(ways.get(each) ?? noWay) },
    })),
  };
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

/** The most ways to a dependent that are named. */
const MOST_WAYS = 5;

/** How each thing was reached, by its node. */
function waysTo(edges: Uint32Array, graph: UsesGraph, shown: (node: number) => Named) {
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

const MOST_HINTS = 5;
/** Fewer characters begin too many ids. */
const LEAST_START = 3;

/** Things that have the id as their name, whatever its case, or as the start of theirs; at most five. */
async function hintsFor(search: Search): Promise<readonly Named[]> {
  const wanted = search.id.toLowerCase();
  const isStart = (id: string) => wanted.length >= LEAST_START && id.toLowerCase().startsWith(wanted);
  const found = new Map<string, Named>();
  const hint = (kind: FindableKind, id: string, name: string | null) => {
    if (isStart(id) || name?.trim().toLowerCase() === wanted) found.set(`${kind} ${id}`, { kind, id, name });
  };
  for await (const records of describedRecords(search.columns))
    for (const { source, id, name, fileset } of records) {
      if (found.size >= MOST_HINTS) return [...found.values()];
      hint(kindOf[source], id, name);
      if (fileset !== null) hint('fileset', fileset, null);
    }
  return [...found.values()];
}
