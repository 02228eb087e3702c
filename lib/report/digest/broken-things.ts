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
  const known = before && new Set(brokenIn(await modelOver(before)).map(({ text }) => text));
  const model = await modelOver(run);
  const all = brokenIn(model);
  const newly = all.filter(({ text }) => known?.has(text) === false);
  const firstOf = (flag: BrokenFlag) => newly.filter((each) => each.flag === flag).slice(0, MOST_LISTED);
  const listed = new Set(brokenFlags.flatMap((flag) => firstOf(flag).map(({ node }) => node)));
  const said = await describeNodes(model, columnsOver(run), listed);
  const countOf = (broken: readonly Broken[], flag: BrokenFlag) =>
    broken.reduce((count, each) => count + (each.flag === flag ? 1 : 0), 0);
  const described = (flag: BrokenFlag) => {
    const items = firstOf(flag).map(({ node }) =>
      linesOf(model, node, flag, said.get(node)?.name ?? undefined),
    );
    return [
      flag,
      { total: countOf(all, flag), newly: known && { total: countOf(newly, flag), items } },
    ] as const;
  };
  return Object.fromEntries(brokenFlags.map(described)) as BrokenThings;
}

type Broken = { readonly flag: BrokenFlag; readonly node: number; readonly text: string };

/** What is wrong with calculations and cards, a text each. */
function brokenIn({ calculations, cards, flags, things }: Model): readonly Broken[] {
  const flagsAt = (node: number) => brokenFlags.filter((flag) => ((flags[node] ?? 0) & flagBits[flag]) !== 0);
  const isBroken = (node: number) => flagsAt(node).length > 0;
  return [calculations, cards].flatMap(({ nodes }) =>
    Array.from(nodes.filter(isBroken)).flatMap((node) =>
      flagsAt(node).map((flag) => ({
        ...{ flag, node, text: `${flag} ${Object.values(things.thingAt(node)).join(' ')}` },
      })),
    ),
  );
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
