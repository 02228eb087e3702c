import {
  type BrokenFlag,
  brokenFlags,
  columnsOfRuns,
  computeModel,
  describeNodes,
  flagBits,
  isStating,
  type LastRun,
  lastRuns,
  type Model,
  modelOf,
} from '../../model/index.ts';
import { sources } from '../../snapshot/sources/sources.ts';
import { compareKeys, type Store, StoredObjectError } from '../../store/index.ts';

/** The first of a list, each as its lines, in the platform's own text: whoever shows them makes them safe. */
export type First = { readonly total: number; readonly items: readonly (readonly string[])[] };

/** By flag: how many calculations and cards have it, and which of them had not; undefined if that is not known. */
export type BrokenThings = Readonly<
  Record<BrokenFlag, { readonly total: number; readonly newly: First | undefined }>
>;

export type RunsToJudge = {
  readonly store: Store;
  readonly run: LastRun;
  /** The run that it is compared with. */
  readonly before: LastRun | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** The most that are listed of anything. */
export const MOST_LISTED = 6;

/**
 * What the model over a run says is wrong, and did not say over the run before, with the same runs of the other sources:
 * the last ones. Undefined for a source that no flag depends on, null if any of these is damaged: the report names it.
 */
export async function brokenThings(options: RunsToJudge): Promise<BrokenThings | null | undefined> {
  if (!isStating(options.run.source)) return undefined;
  try {
    return await judge(options);
  } catch (error) {
    if (error instanceof StoredObjectError) return null;
    throw error;
  }
}

async function judge({ store, run, before, signal }: RunsToJudge): Promise<BrokenThings> {
  const { runs: last } = await lastRuns(store, sources.filter(isStating));
  // A narrowed run is judged with those of the other narrowed places, but for a whole one.
  const others = last.filter(
    ({ place, source }) => source !== run.source || (place !== run.place && place !== source),
  );
  const columnsOver = (one: LastRun) =>
    columnsOfRuns({
      store,
      runs: [one, ...others].toSorted((a, b) => compareKeys(a.place, b.place)),
      signal,
    });
  const modelOver = async (one: LastRun) => modelOf(await computeModel(columnsOver(one)));
  // Of the first, memory holds what is wrong only.
  const known = before && brokenIn(await modelOver(before));
  const model = await modelOver(run);
  const counted = countBroken(model, known);
  const listed = new Set(Object.values(counted).flatMap(({ nodes }) => nodes));
  const said = await describeNodes(model, columnsOver(run), listed);
  const described = ([flag, { total, newly, nodes }]: readonly [BrokenFlag, Counted]) => {
    const items = nodes.map((node) => linesOf(model, node, flag, said.get(node)?.name ?? undefined));
    return [flag, { total, newly: known && { total: newly, items } }] as const;
  };
  return Object.fromEntries(brokenFlags.map((flag) => described([flag, counted[flag]]))) as BrokenThings;
}

const keyAt = ({ things }: Model, node: number): string => Object.values(things.thingAt(node)).join(' ');

/** Calls `see` with each flag of each calculation and card. */
function eachBroken(
  { calculations, cards, flags }: Model,
  see: (node: number, flag: BrokenFlag) => void,
): void {
  for (const { nodes } of [calculations, cards])
    for (const node of nodes)
      for (const flag of brokenFlags) if (((flags[node] ?? 0) & flagBits[flag]) !== 0) see(node, flag);
}

/** What is wrong: a text each. */
function brokenIn(model: Model): ReadonlySet<string> {
  const found = new Set<string>();
  eachBroken(model, (node, flag) => found.add(`${flag} ${keyAt(model, node)}`));
  return found;
}

type Counted = { total: number; newly: number; readonly nodes: number[] };

/** By flag: how many have it, how many had not, and the first of these. */
function countBroken(
  model: Model,
  before: ReadonlySet<string> | undefined,
): Readonly<Record<BrokenFlag, Counted>> {
  const none = (): Counted => ({ total: 0, newly: 0, nodes: [] });
  const counted = { broken_links: none(), invalid: none(), missing_target: none(), affected: none() };
  eachBroken(model, (node, flag) => {
    const count = counted[flag];
    count.total += 1;
    if (before === undefined || before.has(`${flag} ${keyAt(model, node)}`)) return;
    count.newly += 1;
    if (count.nodes.length < MOST_LISTED) count.nodes.push(node);
  });
  return counted;
}

/** A thing, and the first of its uses that says why it has the flag. */
function linesOf(model: Model, node: number, flag: BrokenFlag, name: string | undefined): readonly string[] {
  const { things, graph, isMissing } = model;
  const { user, used, relationAt, validityAt, isBrokenAt, staterAt } = graph;
  const named = (of = node) => Object.values(things.thingAt(of)).join(' ');
  const { kind, id } = things.thingAt(node);
  const first = `${kind} ${name === undefined ? '' : `${name} `}(${id})`;
  for (let edge = 0; edge < user.length; edge += 1) {
    const [by, of] = [user[edge], used[edge]];
    if (by !== node && of !== node) continue;
    const stated = by === node ? `${relationAt(edge)} ${named(of)}` : `${named(by)} ${relationAt(edge)} it`;
    if (flag === 'broken_links' && isBrokenAt(edge) && staterAt(edge) === node)
      return [first, `  ${stated}: ${validityAt(edge)}`];
    if (flag === 'missing_target' && by === node && of !== node && isMissing(of ?? node))
      return [first, `  ${stated}, which no snapshot holds`];
  }
  return [first];
}
