import { formulaOf } from '../model/formulas/index.ts';
import {
  columnsOfRuns,
  type Described,
  type Description,
  describedRecords,
  describeNodes,
  lastRuns,
  type Model,
  type ModelColumns,
  openModel,
  type UsesGraph,
} from '../model/index.ts';
import {
  type Adjacency,
  adjacencyOf,
  canonicalId,
  IN_SNAPSHOT,
  parseCardName,
  partsOfColumn,
  type Relation,
  reach,
  thing,
} from '../model/rules/index.ts';
import { readAgain } from '../snapshot/history/index.ts';
import { isSource, type Source, sourceDefinitions, sources } from '../snapshot/sources/index.ts';
import type { Store } from '../store/index.ts';
import type { FindableKind } from './findable-kinds.ts';

/** A thing. `name` is a calculation's name, or a card's title. */
type Named = { readonly kind: FindableKind; readonly id: string; readonly name: string | null };

/**
 * How a dependent was reached: the dependent has this `relation` to the thing described here. `valid`: the validity of
 * the link if it is not VALID, otherwise null.
 */
type Way = Named & { readonly relation: Relation | 'lies in'; readonly valid: string | null };

/** A thing that would break if the requested thing were deleted. */
type Dependent = Description &
  Named & {
    /** How many hops away it is; 1 if it uses the thing directly. */
    readonly hop: number;
    /** How it uses things that are one hop nearer: the first of `waysTotal` ways. */
    readonly ways: readonly Way[];
    readonly waysTotal: number;
  };

/** A thing with the requested id, and what depends on it. */
type UsedThing = Description &
  Named & {
    /**
     * Whether a snapshot has a record of the thing; if false, only links refer to it. No snapshot has records of
     * datasets and FileSets.
     */
    readonly inSnapshot: boolean;
    /** How many records of other things refer to it, and how many of these by a link that is not VALID (`broken`). */
    readonly links: number;
    readonly broken: number;
    /** The FileSet of a file or directory; null for other things. */
    readonly fileset: string | null;
    /** How many things depend on it: in total, at 1, 2, 3 … hops, and by kind. */
    readonly total: number;
    readonly hops: readonly number[];
    readonly kinds: Readonly<Record<string, number>>;
    /**
     * The columns that a calculation reads, or that all calculations of a dataset read, if their formulas are
     * known; sorted.
     */
    readonly columns: readonly string[];
    /** The formula of a calculation; null if its text is not known. */
    readonly formula: string | null;
    /** Whether things that are further away than the requested `hops` were left out. */
    readonly isCut: boolean;
    /** The things that depend on it, nearest first, at most `maxListed`. */
    readonly dependents: readonly Dependent[];
  };

type WhereUsedOptions = {
  readonly store: Store;
  /** An id in any of its forms. For a file, its path or its id; for a column, its name. */
  readonly id: string;
  /** Only things of this kind. Default: of every kind that has the id. */
  readonly kind?: FindableKind | undefined;
  /** For a column: only in this dataset. Default: in any dataset. */
  readonly dataset?: string | undefined;
  /** How many uses may lie between the thing and a dependent. Default: any number. */
  readonly hops?: number | undefined;
  /** Maximum dependents to list for each thing; all are counted. */
  readonly maxListed: number;
  /**
   * Whether to leave out sources whose run is missing or damaged, and report them in `notRead`. Default: false, it
   * throws.
   */
  readonly mayLack?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** What was found, and what was searched. */
export type WhereUsed = {
  /** The runs that were searched. `startedAt`: ISO 8601. */
  readonly searched: readonly {
    readonly place: string;
    readonly run: string;
    readonly startedAt: string;
    readonly records: number;
    /** How many ids could not be read, such as datasets whose cards the platform did not list. */
    readonly missing: number;
  }[];
  /** Sources that would have been searched, but have no published run. */
  readonly unpublished: readonly Source[];
  /** For each source that has a published run but was not searched, why. */
  readonly notRead: readonly string[];
  /**
   * How many calculations have a known formula (`known`), out of all (`of`). Columns are found only in known formulas.
   * Undefined if no calculations were searched.
   */
  readonly formulas: { readonly known: number; readonly of: number } | undefined;
  /** `formulas` as a sentence. */
  readonly formulasNote: string | undefined;
  /** Everything that has the id; empty if it is unknown. */
  readonly found: readonly UsedThing[];
  /** If nothing was found: up to five things with that name, or with an id that starts with it. */
  readonly hints: readonly Named[];
};

/**
 * Finds everything with an id, and what depends on it over several hops, in the last published runs. Throws
 * `StoredObjectError` if an object is damaged.
 */
export const whereUsed = (options: WhereUsedOptions): Promise<WhereUsed> =>
  readAgain(() => searchOnce(options));

type Search = Omit<WhereUsedOptions, 'store' | 'signal' | 'mayLack'> & { readonly columns: ModelColumns };

/** The sources whose records refer to things of this kind. */
const sourcesNaming = (kind: FindableKind): readonly Source[] =>
  sources.filter((source) => (sourceDefinitions[source].names as readonly string[]).includes(kind));

async function searchOnce(options: WhereUsedOptions): Promise<WhereUsed> {
  const { store, id, dataset, maxListed, hops, mayLack = false, signal } = options;
  const kind = dataset === undefined ? options.kind : 'column';
  const wanted = [...new Set<Source>(kind === undefined ? sources : sourcesNaming(kind))];
  const notRead: string[] = [];
  const addFault = mayLack ? (fault: string) => void notRead.push(fault) : undefined;
  const opened = wanted.includes('calculations')
    ? await openModel({ store, now: Date.now, addFault, signal })
    : undefined;
  const last = opened?.runs ?? (await lastRuns(store, wanted, addFault)).runs;
  const runs = last.filter(({ source }) => wanted.includes(source));
  const columns = opened?.columns ?? columnsOfRuns({ store, runs, signal });
  const search = { columns, id: id.trim(), kind, dataset, hops, maxListed };
  const found = [
    ...(opened === undefined ? [] : await whereUsedInGraph(opened.model, search)),
    ...(await whereUsedInFiles(search)),
  ];
  const formulas = opened && formulasOf(opened.model);
  return {
    searched: runs.map(({ place, manifest: { run, startedAt, records, missing } }) => {
      return { place, run, startedAt, records, missing: missing.length };
    }),
    unpublished: wanted.filter((source) => !runs.some((run) => run.source === source)),
    notRead,
    formulas,
    formulasNote: formulas && noteOn(formulas),
    found,
    hints: found.length === 0 ? await hintsFor(search) : [],
  };
}

/** Counts the calculations in snapshots (`of`), and how many of them have a known formula (`known`). */
function formulasOf({ formulas, calculations }: Model) {
  const published = new Set(calculations.nodes);
  return {
    known: formulas.nodes.filter((node) => published.has(node)).length,
    of: published.size,
  };
}

const noteOn = ({ known, of }: NonNullable<WhereUsed['formulas']>): string =>
  `columns: the platform returns no formulas in a search; known here, from imports and updates by platform-sync: ${known.toLocaleString('en')} of ${of.toLocaleString('en')}`;

/** The datasets, calculations, cards and columns with an id or name, and what depends on each. */
async function whereUsedInGraph(model: Model, search: Search): Promise<readonly UsedThing[]> {
  const { id, kind } = search;
  const named = [thing('dataset', id), thing('calculation', id), parseCardName(id).card].flatMap((own) =>
    own !== undefined && (kind === undefined || kind === own.kind) ? (model.things.find(own) ?? []) : [],
  );
  const asked = [...named, ...(kind === undefined || kind === 'column' ? columnsNamed(search, model) : [])];
  const { things, graph } = model;
  const users = adjacencyOf({ nodes: things.count, from: graph.used, to: graph.user });
  const reached = asked.map((node) => reachedFrom(node, users, model, search));
  // All things are described in one pass, since each pass reads every record.
  const wanted = new Set(reached.flatMap(({ node, nodes }) => [node, ...nodes]));
  const said = await describeNodes(model, search.columns, wanted);
  return reached.map((each) => usedNode(each, said, model));
}

/** The nodes of the columns with this id or this name; a name may be in backticks. */
function columnsNamed({ id, dataset }: Search, { things }: Model): readonly number[] {
  const wanted = canonicalId(id.replace(/^`(.*)`$/s, (_, name: string) => name.replaceAll('``', '`')));
  const of = dataset === undefined ? undefined : canonicalId(dataset);
  const found: number[] = [];
  for (let node = 0; node < things.count; node += 1) {
    if (things.kindAt(node) !== 'column') continue;
    const { id: own } = things.thingAt(node);
    const parts = partsOfColumn(own);
    const isNamed = own === wanted || canonicalId(parts.column) === wanted;
    if (isNamed && (of === undefined || parts.dataset === of)) found.push(node);
  }
  return found;
}

/** The names of the columns that a calculation reads, or that the calculations of a dataset read from it, sorted. */
function columnsRead(asked: number, { things, graph: { user, used } }: Model): readonly string[] {
  const { kind, id } = things.thingAt(asked);
  const found = new Set<string>();
  if (kind === 'dataset' || kind === 'calculation')
    for (let edge = 0; edge < user.length; edge += 1) {
      const of = used[edge] ?? 0;
      if (things.kindAt(of) !== 'column') continue;
      const { dataset, column } = partsOfColumn(things.thingAt(of).id);
      if (kind === 'dataset' ? dataset === id : user[edge] === asked) found.add(column);
    }
  return [...found].sort();
}

function reachedFrom(
  node: number,
  users: Adjacency,
  { things }: Model,
  { hops = Number.POSITIVE_INFINITY, maxListed }: Search,
) {
  const kinds: Record<string, number> = {};
  const visit = (each: number) => {
    const name = things.kindAt(each);
    kinds[name] = (kinds[name] ?? 0) + 1;
  };
  return { node, kinds, ...reach(users, [node], { hops, maxListed, visit }) };
}

/** A thing, and what depends on it. `said`: the descriptions of the thing and of its listed dependents. */
function usedNode(
  { node, kinds, counts, isCut, nodes, edges, hops: distances }: ReturnType<typeof reachedFrom>,
  said: ReadonlyMap<number, Description>,
  model: Model,
): UsedThing {
  const { things, graph, flags } = model;
  const shown = (each: number) => ({
    ...(said.get(each) ?? { name: null, type: null, owner: null }),
    // All kinds in the graph are findable.
    ...(things.thingAt(each) as Pick<UsedThing, 'kind' | 'id'>),
  });
  const ways = waysTo(edges, graph, shown);
  const noWay = { ways: [], waysTotal: 0 };
  return {
    ...shown(node),
    ...namings(graph, node),
    inSnapshot: ((flags[node] ?? 0) & IN_SNAPSHOT) !== 0,
    fileset: null,
    total: counts.reduce((sum, count) => sum + count, 0),
    hops: counts,
    columns: columnsRead(node, model),
    formula: formulaOf(model.formulas, node)?.expression ?? null,
    kinds,
    isCut,
    dependents: Array.from(nodes, (each, place) => ({
      hop: distances[place] ?? 0,
      ...shown(each),
      ...(ways.get(each) ?? noWay),
    })),
  };
}

/** How many records of other things refer to a thing, and how many of these by a broken link. */
function namings({ user, used, staterAt, isBrokenAt }: UsesGraph, node: number) {
  let links = 0;
  let broken = 0;
  for (let edge = 0; edge < user.length; edge += 1) {
    if (user[edge] !== node && used[edge] !== node) continue;
    if (staterAt(edge) === node || user[edge] === used[edge]) continue;
    links += 1;
    if (isBrokenAt(edge)) broken += 1;
  }
  return { links, broken };
}

/** How many ways in which a dependent uses the thing are listed at most. */
const MAX_WAYS = 5;

/** How each dependent was reached, by its node. */
function waysTo(edges: Uint32Array, graph: UsesGraph, shown: (node: number) => Named) {
  const ways = new Map<number, { ways: Way[]; waysTotal: number }>();
  for (const edge of edges) {
    const user = graph.user[edge] ?? 0;
    const found = ways.get(user) ?? { ways: [], waysTotal: 0 };
    ways.set(user, found);
    found.waysTotal += 1;
    if (found.ways.length >= MAX_WAYS) continue;
    const { kind, id, name } = shown(graph.used[edge] ?? 0);
    const valid = graph.isBrokenAt(edge) ? graph.validityAt(edge) : null;
    found.ways.push({ kind, id, name, relation: graph.relationAt(edge), valid });
  }
  return ways;
}

/** A thing whose dependents are being collected. */
type Found = { -readonly [Name in keyof UsedThing]: UsedThing[Name] } & { readonly dependents: Dependent[] };

/** The sources whose records are things in the model's graph. */
const IN_GRAPH: ReadonlySet<Source> = new Set(['calculations', 'cards']);

/**
 * Finds records with an id that are not in the graph, such as data files. For a FileSet or directory it also finds the
 * files in it, which are all that is known to depend on it. It reads the runs once; memory holds only listed things.
 */
async function whereUsedInFiles({ id, kind, maxListed, columns }: Search): Promise<readonly UsedThing[]> {
  const wanted = canonicalId(id);
  const path = pathOf(id);
  const isAsked = (each: Found['kind']) => kind === undefined || kind === each;
  const found = new Map<string, Found>();
  function thingAt(key: string, about: Pick<Found, 'kind' | 'id'> & Partial<Found>): Found {
    const thing = found.get(key) ?? { ...unused(), ...about };
    found.set(key, thing);
    return thing;
  }
  function add({ id: file, name, type, owner }: Described, thing: Found, of: string): void {
    const total = thing.total + 1;
    Object.assign(thing, { total, links: total, hops: [total], kinds: { file: total } });
    const ways = [{ kind: thing.kind, id: of, name: null, relation: 'lies in', valid: null } as const];
    if (total <= maxListed)
      thing.dependents.push({ hop: 1, kind: 'file', id: file, name, type, owner, ways, waysTotal: 1 });
  }
  const isSearched = (source: string): source is Source =>
    isSource(source) && !IN_GRAPH.has(source) && sourceDefinitions[source].names.some(isAsked);
  const searched = Object.fromEntries(Object.entries(columns).filter(([source]) => isSearched(source)));
  for await (const records of describedRecords(searched))
    for (const record of records) {
      const { source, key: _, ...file } = record;
      const { fileset } = file;
      const { kind: own, described } = sourceDefinitions[source];
      if (!('fileset' in described)) {
        if (file.id === wanted) thingAt(own, { ...file, kind: own, inSnapshot: true });
        continue;
      }
      if (isAsked('fileset') && fileset !== null && canonicalId(fileset) === wanted)
        add(record, thingAt('fileset', { kind: 'fileset', id: fileset }), fileset);
      if (!isAsked('file')) continue;
      const at = pathOf(file.name ?? '');
      // A directory may lack its own record.
      const directory = { kind: 'file', id: path, name: path, type: 'directory', fileset } as const;
      if (at === path) Object.assign(thingAt(`at ${fileset}`, directory), file, { inSnapshot: true });
      else if (file.id === id) thingAt(`id ${fileset}`, { ...file, kind: 'file', inSnapshot: true });
      else if (path !== '' && at.startsWith(`${path}/`))
        add(record, thingAt(`at ${fileset}`, directory), path);
    }
  return [...found.values()];
}

/** A path without trailing slashes; empty for the root. */
const pathOf = (path: string): string => path.replace(/\/+$/, '');

const unused = () => ({
  name: null,
  type: null,
  owner: null,
  inSnapshot: false,
  fileset: null,
  links: 0,
  broken: 0,
  total: 0,
  hops: [],
  kinds: {},
  columns: [],
  formula: null,
  isCut: false,
  dependents: [],
});

const MAX_HINTS = 5;
/** To search ids by their start, it must have at least this many characters; fewer would match too many ids. */
const MIN_START = 3;

/** At most five things whose name is the requested id (ignoring case), or whose id starts with it. */
async function hintsFor(search: Search): Promise<readonly Named[]> {
  const wanted = search.id.toLowerCase();
  const isStart = (id: string) => wanted.length >= MIN_START && id.toLowerCase().startsWith(wanted);
  const found = new Map<string, Named>();
  const hint = (kind: FindableKind, id: string, name: string | null) => {
    if (isStart(id) || name?.trim().toLowerCase() === wanted) found.set(`${kind} ${id}`, { kind, id, name });
  };
  for await (const records of describedRecords(search.columns))
    for (const { source, id, name, fileset } of records) {
      if (found.size >= MAX_HINTS) return [...found.values()];
      hint(sourceDefinitions[source].kind, id, name);
      if (fileset !== null) hint('fileset', fileset, null);
    }
  return [...found.values()];
}
