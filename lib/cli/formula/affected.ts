import { adjacencyOf, describeNodes, openModel, reach } from '../../model/index.ts';
import { thing } from '../../model/rules.ts';
import type { Store } from '../../store/index.ts';

/** What depends on a calculation, over any number of steps. */
export type Affected = {
  readonly cards: number;
  readonly calculations: number;
  /** Who owns these and it, by id or name as the records have it; sorted. */
  readonly owners: readonly string[];
};

/** The most things whose owners are looked up. */
const MOST_OWNED = 100_000;

/**
 * What depends on calculations by the last published runs: by id, and how many things outside of them in all. Undefined if
 * no calculations are published.
 */
export async function affectedBy(store: Store, ids: readonly string[], signal: AbortSignal) {
  const { model, columns, runs } = await openModel({
    ...{ store, now: Date.now, addFault: () => undefined, signal },
  });
  if (!runs.some(({ source }) => source === 'calculations')) return undefined;
  const { things, graph } = model;
  const users = adjacencyOf({ nodes: things.count, from: graph.used, to: graph.user });
  const starts = ids.flatMap((id) => {
    const known = thing('calculation', id);
    const node = known === undefined ? undefined : things.find(known);
    return node === undefined ? [] : [[id, node] as const];
  });
  const reached = starts.map(([id, node]) => ({ id, nodes: [...reach(users, [node]).nodes], node }));
  const owned = new Set(reached.flatMap(({ node, nodes }) => [node, ...nodes]).slice(0, MOST_OWNED));
  const said = await describeNodes(model, columns, owned);
  const outside = new Set(reached.flatMap(({ nodes }) => nodes));
  for (const [, node] of starts) outside.delete(node);
  const byId = new Map<string, Affected>();
  for (const { id, node, nodes } of reached) {
    const count = (kind: string) => nodes.filter((each) => things.kindAt(each) === kind).length;
    const owners = new Set([node, ...nodes].flatMap((each) => said.get(each)?.owner ?? []));
    byId.set(id, {
      cards: count('card'),
      calculations: count('calculation'),
      owners: [...owners].toSorted(),
    });
  }
  return { byId, total: outside.size };
}
