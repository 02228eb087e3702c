import { createHash } from 'node:crypto';
import * as z from 'zod/mini';

/** Ids as stored in a selection: a list if they are few, otherwise their number and the sha256 of their lines. */
export const givenIdsSchema = z.union([
  z.array(z.string()),
  z.object({ count: z.number(), sha256: z.string() }),
]);

/** The most ids that a manifest lists in full. */
const MOST_LISTED = 1_000;

/** Ids for a selection: each once and sorted as text, so that the same ids make the same selection. */
export function givenIds(ids: readonly string[]): z.infer<typeof givenIdsSchema> {
  const sorted = [...new Set(ids)].sort();
  if (sorted.length <= MOST_LISTED) return sorted;
  return { count: sorted.length, sha256: createHash('sha256').update(sorted.join('\n')).digest('hex') };
}
