import { printJson } from '../../lib/base/json/json.ts';
import { pageIn, type ReadPage } from '../../lib/snapshot/sources/calculations/pages.ts';
import { batchOfLines } from './batches.ts';

type CalculationPage = Awaited<ReturnType<ReadPage>>;

/** A change before a response. `after`: how much later than the latest row the new one was created. Default: 1. */
export type Change =
  | { readonly kind: 'delete'; readonly at: number }
  | { readonly kind: 'add'; readonly after?: number };

export type Simulated = {
  /** How much later each row was created than the previous one; 0: at the same time. */
  readonly steps: readonly number[];
  /** The changes before each request in turn; none after the last entry. */
  readonly changes: readonly (readonly Change[])[];
  /** Maximum number of rows in a response, whatever the request; by request, repeated from the start. */
  readonly caps?: readonly number[];
  /** Seeds for the order of rows with the same time, by request, repeated. With one seed the order is stable. */
  readonly ties?: readonly number[];
};

type Row = { readonly id: number; readonly created: number };

/** Steps of this number of rows, whose orders by creation and by id are the same. */
export const rowsOf = (count: number): readonly number[] => Array.from({ length: count }, () => 1);

/** A platform that sorts by creation, with rows of the same time in any order, and reports which rows existed throughout. */
export function simulatePlatform({ steps, changes, caps = [5_000], ties = [0] }: Simulated) {
  let latest = 0;
  const first = steps.map((step, index): Row => {
    latest += step;
    return { id: index + 1, created: latest };
  });
  let live: readonly Row[] = first;
  let highestId = first.length;
  let requests = 0;

  const apply = (change: Change) => {
    if (change.kind === 'delete') {
      const deleted = live[change.at % Math.max(1, live.length)];
      live = live.filter((row) => row !== deleted);
      return;
    }
    latest += change.after ?? 1;
    highestId += 1;
    live = [...live, { id: highestId, created: latest }];
  };

  const readPage: ReadPage = async ({ ascending, offset, limit }) => {
    for (const change of changes[requests] ?? []) apply(change);
    const cap = caps[requests % caps.length] ?? limit;
    const tie = ties[requests % ties.length] ?? 0;
    requests += 1;
    const sign = ascending ? 1 : -1;
    const sorted = live.toSorted(
      (a, b) => sign * (a.created - b.created) || mixed(a.id, tie) - mixed(b.id, tie),
    );
    return pageOf(sorted.slice(offset, offset + Math.min(limit, cap)), live.length);
  };

  return {
    readPage,
    requests: () => requests,
    livedThrough: () => first.filter((row) => live.includes(row)).map(({ id }) => String(id)),
  };
}

/** A hash of an id: each `tie` sorts ids differently, and 0 by their own order. */
function mixed(id: number, tie: number): number {
  return tie === 0 ? id : Math.imul(id ^ Math.imul(tie, 0x9e3779b1), 0x85ebca6b) >>> 7;
}

/** A page of records with ids and times of creation. */
export const pageOf = (
  rows: readonly { readonly id: number | bigint; readonly created?: unknown }[],
  total: number | null = null,
): CalculationPage => pageIn(Buffer.from(printJson({ results: rows, totalHits: total })), 'created');

/** A page of records with nothing but ids. */
export const idsPage = (ids: readonly (number | bigint)[], total: number | null = null): CalculationPage =>
  pageOf(
    ids.map((id) => ({ id })),
    total,
  );

/** The reader, and its requests: `>` for ascending or `<` for descending, and the offset. */
export function watched(readPage: ReadPage) {
  const requested: string[] = [];
  const read: ReadPage = (request) => {
    requested.push(`${request.ascending ? '>' : '<'}${request.offset}`);
    return readPage(request);
  };
  return { requested, read };
}

/** A batch of records with nothing but ids. */
export const simulatedBatch = (ids: readonly (number | bigint)[]) =>
  batchOfLines(
    ids.map((id) => ({ key: String(id), line: `{"id":${id}}` })),
    { id: ['number'] },
  );
