import { freeMemory } from '../../base/json/index.ts';
import {
  type DatedModel,
  describedFormulas,
  firstRecords,
  type Model,
  openModel,
  type UsesGraph,
} from '../../model/index.ts';
import { IN_SNAPSHOT, relations } from '../../model/rules/index.ts';
import { readAgain } from '../../snapshot/history/index.ts';
import { sources } from '../../snapshot/sources/index.ts';
import { type Store, unlessDamaged } from '../../store/index.ts';
import { asText, type RowGroup } from '../../tables/parquet/index.ts';
import {
  type CalculationFacts,
  calculationFlags,
  cardFlags,
  type Graph,
  MAX_FORMULA_CHARACTERS,
  MAX_LISTED,
  MAX_WHOLE,
  ownedCounts,
  type PlatformLinks,
  type ReportFacts,
} from '../facts.ts';
import { readBatches } from './batches.ts';
import { readFormulas, readJobs } from './jobs.ts';
import { type Prices, readMonthCost } from './month-cost.ts';
import {
  chosenRows,
  columnsOf,
  countedEnum,
  createCountedValues,
  createFlags,
  createLargest,
  idText,
  type ListLimits,
  readDataFiles,
  readFiles,
  textsOf,
} from './records.ts';
import { readSnapshots } from './snapshots.ts';
import { NOT_STATED, type Reading, shownText } from './values.ts';

type FactsToCollect = {
  readonly store: Store;
  /** The clock, in epoch milliseconds. */
  readonly now: () => number;
  /** Whether `store` and `now` show an earlier moment instead of the current one. Default: false. */
  readonly isPast?: boolean | undefined;
  readonly signal: AbortSignal;
  /** The addresses of things in the platform. Default: no links. */
  readonly links?: PlatformLinks | undefined;
  /** The price of each call. Default: no cost is shown. */
  readonly prices?: Prices | undefined;
  /** Lists the operations that the platform throttles individually, in words. Default: none. */
  readonly throttled?: (() => Promise<readonly string[]>) | undefined;
  /** The limits of lists. Default: `MAX_WHOLE` and `MAX_LISTED`. */
  readonly limits?: ListLimits;
};

/**
 * Reads what the report shows. If an object is missing or damaged, that is recorded as a fault, and everything else is
 * shown. Throws only if the store is unavailable, or on abort. Memory grows only with the model: see `computeModel`.
 */
export const collectFacts = (options: FactsToCollect): Promise<ReportFacts> =>
  readAgain(
    () => collectOnce(options),
    ({ faults }) => faults,
  );

async function collectOnce(options: FactsToCollect): Promise<ReportFacts> {
  const { store, now, signal, links = {} } = options;
  const faults = new Set<string>();
  const addFault = (fault: string) => void faults.add(fault);
  const reading = { store, addFault, signal };
  const snapshots = await readSnapshots(reading);
  const things = await readThings(options, addFault);
  const { jobs, batchEnds } = await readJobs({ ...reading, nowMs: now() });
  const cost = await readMonthCost(options.prices, { ...reading, nowMs: now() });
  const formulas = await readFormulas(reading);
  const batches = await readBatches({ ...reading, ends: batchEnds });
  const newest = snapshots.toSorted((a, b) => b.facts.startedAt - a.facts.startedAt)[0];
  return {
    writtenAt: now(),
    isPast: options.isPast === true,
    platform: newest?.manifest.platform,
    snapshots: snapshots.map(({ facts }) => facts),
    ...things,
    links,
    formulas,
    batches,
    jobs,
    cost,
    throttled: (await options.throttled?.()) ?? [],
    faults: [...faults],
  };
}

type ThingFacts = Pick<
  ReportFacts,
  | 'model'
  | 'days'
  | 'narrowed'
  | 'calculations'
  | 'cards'
  | 'datasets'
  | 'owners'
  | 'files'
  | 'dataFiles'
  | 'graph'
  | 'knownFormulas'
>;

const listLimits: ListLimits = { whole: MAX_WHOLE, top: MAX_LISTED };

/** The facts from the model and from records; none of them if the model or a record is damaged. */
async function readThings(
  { store, now, signal, limits = listLimits }: FactsToCollect,
  addFault: Reading['addFault'],
): Promise<ThingFacts> {
  try {
    const { model, runs, asOfMs, columns } = await openModel({ store, now, addFault, signal });
    const show = { model, columns, limits, signal };
    const calculations = columns.calculations && (await readCalculations(show));
    const cards = columns.cards && (await readCards(show));
    const datasets = listDatasets(model, limits);
    const facts: ThingFacts = {
      model: { asOfMs, runs: Object.fromEntries(runs.map(({ place, manifest }) => [place, manifest.run])) },
      days: model.days,
      narrowed: sources.flatMap((source) => {
        const places = runs.filter((run) => run.source === source).map(({ place }) => place);
        return places.length === 0 || places.includes(source) ? [] : { source, places };
      }),
      calculations: calculations?.facts,
      cards: cards?.facts,
      datasets: calculations === undefined && cards === undefined ? undefined : datasets.facts,
      owners: runs.length === 0 ? undefined : listOwners(model, limits),
      knownFormulas: listKnownFormulas(model),
      graph: graphOf(
        model,
        [datasets, calculations, cards].flatMap((listed) => listed?.nodes ?? []),
      ),
      files: columns.files && (await readFiles(show)),
      dataFiles: columns['data-files'] && (await readDataFiles(show, now())),
    };
    // Freed here, since the garbage collector does not count native memory.
    freeMemory(model.graph.user);
    return facts;
  } catch (error) {
    unlessDamaged(addFault)(error);
    const graph = { others: [], user: [], used: [], relation: [], invalid: [] };
    const knownFormulas = { total: 0, list: [] };
    return { model: { asOfMs: now(), runs: {} }, days: [], narrowed: [], graph, knownFormulas };
  }
}

/** The known formulas; if they do not all fit into the page, the first ones that do. */
function listKnownFormulas(model: Model): ReportFacts['knownFormulas'] {
  let left = MAX_FORMULA_CHARACTERS;
  const list = [];
  for (const { id, expression, columns } of describedFormulas(model)) {
    left -= expression.length + columns.join().length;
    if (left < 0) break;
    list.push({ id, expression, columns });
  }
  return { total: model.formulas.nodes.length, list };
}

/** The model and its records. */
type ThingsToShow = Parameters<typeof readFiles>[0] & { readonly model: Model & Pick<DatedModel, 'since'> };

/** The facts about a list of things, and the nodes of these things, in the order of the list. */
type WithNodes<F> = { readonly facts: F; readonly nodes: readonly number[] };

/** A calculation that may be listed. */
type Calculation = ReturnType<ReturnType<typeof readCalculation>> &
  Readonly<Record<'node' | 'place' | 'flags', number>> & {
    readonly modified: number | null;
    readonly isChosen: boolean;
  };

/** The number of calculations that get the flag `oldest`. */
const MAX_OLDEST = 100;

/** Too many calculations are global or hidden to put all of them into an incomplete list, as for the other flags. */
const { global: _, hidden: __, oldest: OLD, ...listedFlags } = calculationFlags;
const wantedFlags = Object.keys(listedFlags) as (keyof typeof listedFlags)[];

/** Counts the calculations of the model by status, flag and month, and lists them. */
async function readCalculations(options: ThingsToShow): Promise<WithNodes<CalculationFacts>> {
  const { model, columns: of, limits, signal } = options;
  const total = model.calculations.nodes.length;
  const statuses = createCountedValues();
  const days = new Map<number, number>();
  const flagged = createFlags(calculationFlags, wantedFlags, { total, ...limits });
  const oldest = createLargest<Calculation>(MAX_OLDEST);
  const listed: Calculation[] = [];
  for await (const { nodes, first, ...recordGroup } of firstRecords(model, of, 'calculations')) {
    signal.throwIfAborted();
    const own = ownFlags(recordGroup.group);
    const status = recordGroup.group.texts('status', countedEnum);
    const modified = recordGroup.group.values('lastmodified_at');
    const see = (row: number, at: number) => {
      const node = nodes[at] ?? 0;
      const flags = ((model.flags[node] ?? 0) & ~IN_SNAPSHOT) | own(row);
      const time = modified(row);
      const ms = typeof time === 'number' ? time : null;
      statuses.add(status(row));
      const day = Math.floor((ms ?? 0) / DAY_MS);
      if (ms !== null) days.set(day, (days.get(day) ?? 0) + 1);
      const isChosen = flagged.see(flags);
      if (!isChosen && (ms === null || !oldest.mayAdd(-ms))) return undefined;
      return { node, place: first + at, flags, modified: ms, isChosen };
    };
    for (const row of chosenRows(recordGroup, see, readCalculation)) {
      if (row.isChosen) listed.push(row);
      if (row.modified !== null) oldest.add(-row.modified, row);
    }
  }
  const old = new Set(oldest.values());
  const modelFacts = factsFromModel(model);
  const rows = [...new Set([...listed, ...old])]
    .sort((a, b) => a.place - b.place)
    .map((row) => ({ ...row, ...modelFacts(row.node), flags: row.flags | (old.has(row) ? OLD : 0) }));
  const columns = columnsOf(rows, CALCULATION_COLUMNS);
  const list = { total, isWhole: rows.length === total, columns };
  const flags = { ...flagged.counts(), oldest: old.size };
  const counts = { status: statuses.counts(), flags, lastModified: byMonth(days) };
  return { facts: { total, ...counts, ...linksIn(model.graph), list }, nodes: rows.map(({ node }) => node) };
}

const CALCULATION_COLUMNS = [
  ...(['id', 'name', 'owner', 'status', 'modified', 'flags'] as const),
  ...(['brokenSince', 'unusedSince'] as const),
];

/** Returns a function that returns what the model knows about a node. */
function factsFromModel(model: ThingsToShow['model']) {
  const { broken, unused } = model.since;
  return (node: number) => ({
    id: idAt(model, node),
    brokenSince: (broken[node] ?? 0) * 1_000 || null,
    unusedSince: (unused[node] ?? 0) * 1_000 || null,
  });
}

const idAt = ({ things }: Model, node: number): string => shownText(things.thingAt(node).id);

/** Returns a function that returns, as bits, the flags that a record itself contains, such as `locked`. */
function ownFlags(group: RowGroup): (row: number) => number {
  const columns: { readonly bit: number; readonly values: (row: number) => unknown }[] = [];
  for (const name of ['locked', 'archived', 'hidden', 'global'] as const)
    columns.push({ bit: calculationFlags[name], values: group.values(name) });
  return (row) => {
    let bits = 0;
    for (const { bit, values } of columns) if (values(row) === true) bits |= bit;
    return bits;
  };
}

const readCalculation = textsOf({
  name: ['name', asText],
  owner: ['owner', idText],
  status: ['status', countedEnum, NOT_STATED],
});

/** Counts the links of calculations by validity. */
function linksIn(graph: UsesGraph): Pick<CalculationFacts, 'links' | 'brokenLinks'> {
  const values = createCountedValues();
  // All links with the same validity share one string.
  const names = new Map<string | null, string>([[null, NOT_STATED]]);
  let brokenLinks = 0;
  for (let edge = 0; edge < graph.user.length; edge += 1) {
    const relation = graph.relationAt(edge);
    const validity = graph.validityAt(edge);
    if (relation === 'built on' || relation === 'drills from') continue;
    const name = names.get(validity) ?? shownText(validity ?? '');
    names.set(validity, name);
    values.add(name);
    if (graph.isBrokenAt(edge)) brokenLinks += 1;
  }
  return { links: values.counts(), brokenLinks };
}

const DAY_MS = 86_400_000;

/** Adds up counts by day (days since 1970) to counts by month, oldest first. */
function byMonth(days: ReadonlyMap<number, number>): CalculationFacts['lastModified'] {
  const months = new Map<string, number>();
  for (const [day, count] of [...days].sort(([a], [b]) => a - b)) {
    const month = new Date(day * DAY_MS).toISOString().slice(0, 7);
    months.set(month, (months.get(month) ?? 0) + count);
  }
  return [...months];
}

const CARD_BITS = cardFlags.missing_target | cardFlags.affected;

/**
 * Counts the cards of the model by type and flag, and lists them. If several datasets list a card, its first record is
 * used.
 */
async function readCards(options: ThingsToShow): Promise<WithNodes<NonNullable<ReportFacts['cards']>>> {
  const { model, columns: of, limits, signal } = options;
  const total = model.cards.nodes.length;
  const types = createCountedValues();
  const chartTypes = createCountedValues();
  const wanted = Object.keys(cardFlags) as (keyof typeof cardFlags)[];
  const flagged = createFlags(cardFlags, wanted, { total, ...limits });
  const rows: (ReturnType<ReturnType<typeof readCard>> & CardSeen)[] = [];
  for await (const { nodes, ...recordGroup } of firstRecords(model, of, 'cards')) {
    signal.throwIfAborted();
    const type = recordGroup.group.texts('type', countedEnum);
    const chartType = recordGroup.group.texts('charttype', countedEnum);
    const access = recordGroup.group.values('access');
    const see = (row: number, at: number): CardSeen | undefined => {
      const node = nodes[at] ?? 0;
      const own = access(row) === false ? cardFlags.without_access : 0;
      const flags = ((model.flags[node] ?? 0) & CARD_BITS) | own;
      types.add(type(row));
      chartTypes.add(chartType(row));
      return flagged.see(flags) ? { node, id: idAt(model, node), flags } : undefined;
    };
    rows.push(...chosenRows(recordGroup, see, readCard));
  }
  const ownersOf = new Map(rows.map(({ node }) => [node, [] as string[]]));
  for (const [at, node] of model.cardOwners.node.entries())
    ownersOf.get(node)?.push(shownText(model.owners[model.cardOwners.owner[at] ?? 0]?.user_id ?? ''));
  const owned = rows.map(({ ownDataset, listedFor, ...row }) => ({
    ...row,
    dataset: ownDataset || listedFor,
    owner: ownersOf.get(row.node) ?? [],
  }));
  const columns = columnsOf(owned, ['id', 'title', 'type', 'owner', 'dataset', 'flags']);
  const list = { total, isWhole: rows.length === total, columns };
  const counts = {
    type: types.counts(),
    chartType: chartTypes.counts(),
    flags: flagged.counts(),
  };
  return { facts: { total, ...counts, list }, nodes: rows.map(({ node }) => node) };
}

type CardSeen = { readonly node: number; readonly id: string; readonly flags: number };

const readCard = textsOf({
  title: ['title', asText],
  type: ['type', countedEnum, NOT_STATED],
  ownDataset: ['datasourceid', idText],
  listedFor: ['_datasetid', idText],
});

/** Lists the datasets that something uses, those with the most cards first. */
function listDatasets(
  { datasets }: Model,
  { whole, top }: ListLimits,
): WithNodes<NonNullable<ReportFacts['datasets']>> {
  const total = datasets.length;
  const listed = datasets
    .toSorted((a, b) => b.cards - a.cards || b.calculations - a.calculations)
    .slice(0, total <= whole ? total : top);
  const rows = listed.map((dataset) => ({ ...dataset, id: shownText(dataset.dataset_id) }));
  const columns = columnsOf(rows, ['id', 'cards', 'calculations', 'broken_links']);
  return {
    facts: { total, list: { total, isWhole: total <= whole, columns } },
    nodes: listed.map(({ node }) => node),
  };
}

/** Lists the owners, those with the most calculations and cards first. */
function listOwners({ owners }: Model, { whole, top }: ListLimits): NonNullable<ReportFacts['owners']> {
  const total = owners.length;
  const rows = owners
    .toSorted((a, b) => b.calculations + b.cards - a.calculations - a.cards)
    .slice(0, total <= whole ? total : top)
    .map((owner) => ({ ...owner, id: shownText(owner.user_id), name: shownText(owner.name ?? '') }));
  const columns = columnsOf(rows, ['id', 'name', 'oldest_modified', ...ownedCounts]);
  return { total, list: { total, isWhole: total <= whole, columns } };
}

/** The maximum number of edges of a graph, and of things in it that no snapshot contains. */
const MAX_EDGES = 1_000_000;
const MAX_OTHERS = 50_000;

/**
 * The uses among the things in the lists (`listed`: their nodes, in the order of the lists) and the things that no
 * snapshot contains. Things that are in a snapshot but in no list are left out, and so are uses beyond the first
 * million.
 */
function graphOf({ graph, things, flags }: Model, listed: readonly number[]): Graph {
  // For each node, its number in the graph plus 1; 0 if it is not in the graph.
  const numbers = new Uint32Array(things.count);
  for (const [number, node] of listed.entries()) numbers[node] = number + 1;
  const others: Graph['others'][number][] = [];
  // No snapshot contains datasets.
  const isOther = (node: number) =>
    things.kindAt(node) !== 'dataset' && ((flags[node] ?? 0) & IN_SNAPSHOT) === 0;
  const isShown = (node: number) => (numbers[node] ?? 0) !== 0 || isOther(node);

  function numberOf(node: number): number | undefined {
    if (numbers[node] !== 0) return (numbers[node] ?? 0) - 1;
    const { kind, id } = things.thingAt(node);
    if (others.length >= MAX_OTHERS || (kind !== 'calculation' && kind !== 'card')) return undefined;
    numbers[node] = listed.length + others.push({ kind, id: shownText(id) });
    return numbers[node] - 1;
  }

  const user: number[] = [];
  const used: number[] = [];
  const relation: number[] = [];
  const invalid: (readonly [number, string])[] = [];
  for (let edge = 0; edge < graph.user.length && user.length < MAX_EDGES; edge += 1) {
    const by = graph.user[edge] ?? 0;
    const of = graph.used[edge] ?? 0;
    if (!isShown(by) || !isShown(of)) continue;
    const from = numberOf(by);
    const to = numberOf(of);
    if (from === undefined || to === undefined) continue;
    if (graph.isBrokenAt(edge)) invalid.push([user.length, shownText(graph.validityAt(edge) ?? '')]);
    user.push(from);
    used.push(to);
    relation.push(relations.indexOf(graph.relationAt(edge)));
  }
  return { others, user, used, relation, invalid };
}
