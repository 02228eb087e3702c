import type { OffsetPage, ReadOffsetPage } from '../../lib/snapshot/sources/calculations/pages.ts';
import { batchOfLines } from './batches.ts';

/** What happens to the platform's records before a response; ids are picked by position. */
export type Change = { readonly kind: 'delete'; readonly at: number } | { readonly kind: 'add' };

export type SimulatedOptions = {
  readonly rows: number;
  /** Changes before each request, in turn; none once they are used up. */
  readonly changes: readonly (readonly Change[])[];
  /** The most rows that the platform sends, whatever the request; by request in turn. */
  readonly caps?: readonly number[];
};

/** A platform that changes while it is read, and that knows which records existed throughout. */
export function simulatePlatform({ rows, changes, caps = [5_000] }: SimulatedOptions) {
  let live = Array.from({ length: rows }, (_, index) => index + 1);
  let highest = rows;
  const deleted = new Set<number>();
  let requests = 0;

  const apply = (change: Change) => {
    if (change.kind === 'add') {
      highest += 1;
      live.push(highest);
      return;
    }
    const id = live[change.at % Math.max(1, live.length)];
    if (id === undefined) return;
    deleted.add(id);
    live = live.filter((each) => each !== id);
  };

  const readPage: ReadOffsetPage = async ({ ascending, offset, limit }) => {
    for (const change of changes[requests] ?? []) apply(change);
    const cap = caps[requests % caps.length] ?? limit;
    requests += 1;
    const ordered = ascending ? live : live.toReversed();
    return simulatedPage(ordered.slice(offset, offset + Math.min(limit, cap)), live.length);
  };

  return {
    readPage,
    requests: () => requests,
    livedThrough: () =>
      Array.from({ length: rows }, (_, index) => index + 1).filter((id) => !deleted.has(id)),
  };
}

/** A batch of records that contain only their ids. */
export const simulatedBatch = (ids: readonly (number | bigint)[]) =>
  batchOfLines(
    ids.map((id) => ({ key: String(id), line: `{"id":${id}}` })),
    { id: ['number'] },
  );

/** A page of such records. */
export function simulatedPage(ids: readonly (number | bigint)[], total: number | null = null): OffsetPage {
  return {
    keys: ids.map(String),
    from: (row) => simulatedBatch(ids.slice(row)),
    sizeBytes: 10 * ids.length,
    degraded: false,
    total,
  };
}
