import type { Call } from '../platform/call.ts';
import { type Id, idDigits } from '../platform/id.ts';
import { printJson } from '../platform/json.ts';
import { PlatformError } from '../platform/platform-error.ts';
import { type CalculationSearch, searchCalculations } from '../platform/search-calculations.ts';
import { batchOf, type RecordBatch } from './record-batch.ts';
import type { ScannedRecord } from './scan.ts';
import { sliceRecords } from './slice-records.ts';

/** One page, as it came: nothing in it is trusted yet. */
export type OffsetPage = {
  /** The ids of its rows, in its order. */
  readonly keys: readonly Id[];
  /** The rows from this one on, ready to be written. */
  readonly from: (row: number) => RecordBatch;
  /** True if the platform says that rows may be lacking. */
  readonly degraded: boolean;
  /** Rows in all, as the platform tells; null if it does not. */
  readonly total: number | null;
};

/** Reads the page of `limit` rows from `offset`, in the order of ids. */
export type ReadOffsetPage = (request: {
  readonly ascending: boolean;
  readonly offset: number;
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
}) => Promise<OffsetPage>;

/** What narrows a search of calculations; nothing means all. */
export type CalculationSelection = Pick<CalculationSearch, 'name' | 'filters'>;

/** Pages of calculations whose records keep the text the platform sent; only the id is required of them. */
export function calculationPageReader(call: Call, selection: CalculationSelection = {}): ReadOffsetPage {
  return async ({ ascending, offset, limit, signal }) => {
    const body = { filters: [], ...selection, sort: { field: 'id', ascending }, limit, offset };
    const { text, json } = await call.raw(searchCalculations, { body }, { signal });
    const page = fields(json);
    const values = Array.isArray(page['results']) ? page['results'] : [];
    const lines = sliceRecords(text, 'results');
    const records = values.map((value: unknown, at) => toRecord(value, lines[at], offset + at));
    const total = page['totalHits'];
    return {
      keys: records.map((record) => record.key),
      from: (row) => batchOf(records.slice(row)),
      degraded: page['degraded'] === true,
      total: typeof total === 'number' ? total : null,
    };
  };
}

function toRecord(value: unknown, line: string | undefined, position: number): ScannedRecord {
  const key = idDigits(fields(value)['id']);
  if (typeof value !== 'object' || value === null || key === undefined) {
    const faults = [`record ${position}: expected an object with an integer as its id`];
    throw new PlatformError(
      { kind: 'shape', faults },
      { operation: searchCalculations.name, about: 'calculations', attempts: 1 },
    );
  }
  // A line must be one line: white space between the tokens may hold line ends, texts cannot.
  return { key, value, line: line === undefined || /[\r\n]/.test(line) ? printJson(value) : line };
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
