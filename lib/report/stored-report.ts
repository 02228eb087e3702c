import * as z from 'zod/mini';
import { recordOf } from '../base/index.ts';
import { findStored, type Store } from '../store/index.ts';

/** The key of the page. The object that describes it is written after the page. */
export const REPORT_PAGE_KEY = 'report/latest.html';
export const REPORT_KEY = 'report/latest.json';

const storedReportSchema = z.object({
  version: z.literal(1),
  /** When the report was written, in epoch milliseconds. */
  writtenAt: z.number(),
  /** The published run that it shows, for each place. */
  runs: recordOf(z.string()),
});

/** `report/latest.json`: which runs the newest report shows. */
export type StoredReport = z.infer<typeof storedReportSchema>;

/**
 * Reads what is stored about the newest report; undefined if none was written. Throws `StoredObjectError` if
 * it is damaged.
 */
export const findReport = (store: Pick<Store, 'get'>) => findStored(store, REPORT_KEY, storedReportSchema);
