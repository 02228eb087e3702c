import * as z from 'zod/mini';
import { recordOf } from '../../base/index.ts';
import { findStored, MOST_LIST_BYTES, type Store } from '../../store/index.ts';

const count = z.number();
const counts = recordOf(count);

/** What is read of the summary of a batch (`Summary`). */
const summarySchema = z.object({
  chunks: count,
  rows: count,
  scored: count,
  failed: count,
  cancelled: z.optional(count),
  bad: count,
  erased: count,
  cached: count,
  tokens: z.object({ total: count }),
  sentiments: z.object({ overall: counts, topics: recordOf(counts) }),
  parts: z.array(z.object({ key: z.string() })),
});

/** The summary of a finished batch by its key; undefined if there is none. Throws `StoredObjectError` if it is none. */
export const findSummary = async (store: Pick<Store, 'get'>, key: string) =>
  (await findStored(store, key, summarySchema, MOST_LIST_BYTES))?.value;
