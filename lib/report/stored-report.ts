import * as z from 'zod/mini';
import { recordOf } from '../base/index.ts';
import { findStored, type Store } from '../store/index.ts';

/** The key of the report's page. */
export const REPORT_PAGE_KEY = 'report/latest.html';
/** The key of the object that describes the page. It is written after the page. */
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
 * Reads the description of the newest report; undefined if no report was written. Throws `StoredObjectError` if it is
 * damaged.
 */
export const findReport = (store: Pick<Store, 'get'>) => findStored(store, REPORT_KEY, storedReportSchema);
