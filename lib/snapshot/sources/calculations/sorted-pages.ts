import type { Call } from '../../../platform/call.ts';
import { idDigits } from '../../../platform/id.ts';
import { searchCalculations } from '../../../platform/operations/search-calculations.ts';
import { membersOf, scannedRecord, shapeError } from '../../page/record-line.ts';
import type { ScannedRecord } from '../../page/scanned-record.ts';
import { sliceRecords } from '../../page/slice-records.ts';
import type { CalculationSelection } from './pages.ts';

/** One page of calculations, parsed, as received: nothing in it is trusted yet. */
export type SortedPage = {
  /** The rows in the page's order; their lines are the text as sent by the platform. */
  readonly records: readonly ScannedRecord[];
  /** True if the platform says that rows may be missing. */
  readonly degraded: boolean;
  /** The total number of rows as reported by the platform; null if it does not report it. */
  readonly total: number | null;
};

export type SortedPageRequest = {
  readonly ascending: boolean;
  readonly offset: number;
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
};

/** Reads the page of `limit` rows from `offset`, in the order of the field that the reader was made for. */
export type ReadSortedPage = (request: SortedPageRequest) => Promise<SortedPage>;

/** Reads pages of calculations in the order of `field`; a row only needs an id. Throws `PlatformError`. */
export function sortedPageReader(
  call: Call,
  selection: CalculationSelection,
  field: 'id' | 'created',
): ReadSortedPage {
  return async ({ ascending, offset, limit, signal }) => {
    const body = { filters: [], ...selection, sort: { field, ascending }, limit, offset };
    const { text, json } = await call.raw(searchCalculations, { body }, { signal });
    const page = membersOf(json);
    const values: readonly unknown[] = Array.isArray(page['results']) ? page['results'] : [];
    const sources = sliceRecords(text, 'results');
    const total = page['totalHits'];
    return {
      records: values.map((value, at) => calculationRecord(value, sources[at], offset + at)),
      degraded: page['degraded'] === true,
      total: typeof total === 'number' ? total : null,
    };
  };
}

function calculationRecord(value: unknown, source: string | undefined, row: number): ScannedRecord {
  const members = membersOf(value);
  const key = idDigits(members['id']);
  if (key === undefined) {
    const fault = `record ${row}: expected an object with an integer as its id`;
    throw shapeError(searchCalculations.name, 'calculations', fault);
  }
  return scannedRecord({ key, value: members, source });
}
