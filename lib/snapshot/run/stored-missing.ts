import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { MOST_LIST_BYTES, printBounded, readBack, type Store, StoredObjectError } from '../../store/index.ts';
import { type MissingId, missingIdSchema } from '../scan.ts';

/** How many missing ids of a run are stored, and the key of the piece with the last of them; null if there are none. */
export const storedMissingSchema = z.object({ count: z.number(), last: z.nullable(z.string()) });

type StoredMissing = z.infer<typeof storedMissingSchema>;

export const NONE_MISSING: StoredMissing = { count: 0, last: null };

const pieceSchema = z.object({
  ids: z.array(missingIdSchema),
  /** The key of the piece before it. */
  previous: z.nullable(z.string()),
});

/** Collects the ids that a run finds missing after those that are stored. `folder` is its work folder, with a slash. */
export function collectMissing(store: Store, folder: string, before: StoredMissing) {
  let stored = before;
  let found: MissingId[] = [];
  return {
    add: (ids: readonly MissingId[]) => void found.push(...ids),
    /**
     * Stores what has been added since the last time as one more piece, and returns what is stored then. A piece is
     * never changed: its name ends in the sha256 of its bytes, so that a process that still takes what another has
     * resumed cannot replace the other's.
     */
    async store(): Promise<StoredMissing> {
      if (found.length === 0) return stored;
      const { count, last } = stored;
      const body = printBounded(`${folder}missing`, { ids: found, previous: last }, MOST_LIST_BYTES);
      const sha256 = createHash('sha256').update(body).digest('hex');
      const key = `${folder}missing-${String(count).padStart(8, '0')}-${sha256.slice(0, 12)}.json`;
      await store.put(key, body);
      stored = { count: count + found.length, last: key };
      found = [];
      return stored;
    },
  };
}

/** All missing ids of a run, in the order in which they were found. Throws `StoredObjectError` if one is gone. */
export async function readMissing(
  store: Store,
  { count, last }: StoredMissing,
): Promise<readonly MissingId[]> {
  const pieces: (readonly MissingId[])[] = [];
  const stored = { what: 'missing ids', schema: pieceSchema, last, mostBytes: MOST_LIST_BYTES };
  for await (const { value } of readBack(store, stored)) pieces.push(value.ids);
  const ids = pieces.reverse().flat();
  if (ids.length === count) return ids;
  throw new StoredObjectError(
    'invalid',
    `${last}: expected ${count} missing ids up to it, got ${ids.length}`,
  );
}
