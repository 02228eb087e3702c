import {
  type ReadSortedPage,
  type SortedPage,
  sortedPageIn,
} from '../../lib/snapshot/sources/calculations/sorted-pages.ts';

/** What happens before a response; `after` is how much later than the latest row the new one was created. */
export type CreationChange =
  | { readonly kind: 'delete'; readonly at: number }
  | { readonly kind: 'add'; readonly after: number };

export type SimulatedCreations = {
  /** How much later than the row before it each row was created; 0 means at the same time. */
  readonly steps: readonly number[];
  /** Changes before each request, in turn; none once they are used up. */
  readonly changes: readonly (readonly CreationChange[])[];
  /** The most rows that the platform sends, whatever the request; by request in turn. */
  readonly caps?: readonly number[];
  /** What decides the order of rows with the same time, by request in turn. With one number the order is stable. */
  readonly ties?: readonly number[];
};

type Row = { readonly id: number; readonly created: number };

/** A platform that sorts by creation, with equal rows in any order, and that knows which rows existed throughout. */
export function simulateCreations({ steps, changes, caps = [5_000], ties = [0] }: SimulatedCreations) {
  let latest = 0;
  const first = steps.map((step, index): Row => {
    latest += step;
    return { id: index + 1, created: latest };
  });
  let live: readonly Row[] = first;
  let highestId = first.length;
  let requests = 0;

  const apply = (change: CreationChange) => {
    if (change.kind === 'delete') {
      const gone = live[change.at % Math.max(1, live.length)];
      live = live.filter((row) => row !== gone);
      return;
    }
    latest += change.after;
    highestId += 1;
    live = [...live, { id: highestId, created: latest }];
  };

  const readPage: ReadSortedPage = async ({ ascending, offset, limit }) => {
    for (const change of changes[requests] ?? []) apply(change);
    const cap = caps[requests % caps.length] ?? limit;
    const tie = ties[requests % ties.length] ?? 0;
    requests += 1;
    const sign = ascending ? 1 : -1;
    const sorted = live.toSorted(
      (a, b) => sign * (a.created - b.created) || mixed(a.id, tie) - mixed(b.id, tie),
    );
    return createdPage(sorted.slice(offset, offset + Math.min(limit, cap)), live.length);
  };

  return {
    readPage,
    requests: () => requests,
    livedThrough: () => first.filter((row) => live.includes(row)).map(({ id }) => String(id)),
  };
}

/** A number that looks random: each `tie` gives another order of ids; 0 gives their own order. */
function mixed(id: number, tie: number): number {
  return tie === 0 ? id : Math.imul(id ^ Math.imul(tie, 0x9e3779b1), 0x85ebca6b) >>> 7;
}

/** A page of records with an id and the time of their creation. */
export function createdPage(
  rows: readonly { readonly id: number; readonly created?: unknown }[],
  total: number | null = null,
): SortedPage {
  return sortedPageIn(Buffer.from(JSON.stringify({ results: rows, totalHits: total })));
}
