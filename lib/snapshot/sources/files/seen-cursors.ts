import { createHash } from 'node:crypto';
import * as z from 'zod/mini';

/**
 * Cursors that were followed, to detect a list that loops: hashes of the latest ones, and an anchor for a loop longer
 * than that. Plain JSON of a bounded size (about 7 KB), however long the list.
 */
export type SeenCursors = {
  /** The number of cursors added in total. */
  readonly count: number;
  readonly latest: readonly string[];
  /** The cursor whose number was the last power of two: a loop of any length reaches one in the end (Brent). */
  readonly anchor: string | null;
};

export const seenCursorsSchema: z.ZodMiniType<SeenCursors> = z.object({
  count: z.number(),
  latest: z.array(z.string()),
  anchor: z.nullable(z.string()),
});

export const noCursors: SeenCursors = { count: 0, latest: [], anchor: null };

const LATEST = 500;

export function hasSeen({ latest, anchor }: SeenCursors, cursor: string): boolean {
  const hash = hashOf(cursor);
  return anchor === hash || latest.includes(hash);
}

export function withCursor({ count, latest, anchor }: SeenCursors, cursor: string): SeenCursors {
  const hash = hashOf(cursor);
  const isPowerOfTwo = Number.isInteger(Math.log2(count + 1));
  return {
    count: count + 1,
    latest: [...latest, hash].slice(-LATEST),
    anchor: isPowerOfTwo ? hash : anchor,
  };
}

/** 64 bits: two of a few hundred cursors collide in one of 10^14 lists. */
const hashOf = (cursor: string) => createHash('sha256').update(cursor).digest('base64url').slice(0, 11);
