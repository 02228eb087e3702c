import * as z from 'zod/mini';
import { type PutCondition, parseStored, printStored, type Store, unlessDamaged } from '../../store/index.ts';
import { type Place, PRUNED_NAME } from '../keys.ts';

type PlaceToMark = {
  readonly store: Store;
  readonly place: Place;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

export type RunToMark = { readonly run: string; readonly folder: string };

/** A prune that has not said for this long that it is at work is believed dead: another one may take its runs. */
const HELD_MS = 5 * 60_000;
const SAID_AGAIN_MS = 60_000;

const markSchema = z.object({ atMs: z.number() });

export type PruneMarks = ReturnType<typeof createPruneMarks>;

/**
 * The marks of the runs that a prune removes, each taken by one prune alone: one that went on with a run after another
 * had removed it would delete what was published again since.
 */
export function createPruneMarks({ store, place, now }: PlaceToMark) {
  const own = new Map<string, { readonly etag: string; readonly atMs: number }>();
  const keyOf = (folder: string) => `${folder}${PRUNED_NAME}`;

  async function put({ run, folder }: RunToMark, condition: PutCondition): Promise<boolean> {
    const atMs = now();
    const stored = await store.put(keyOf(folder), printStored({ place, run, atMs }), {
      condition,
      mayUseReserve: true,
    });
    if (stored.kind === 'stored') own.set(run, { etag: stored.etag, atMs });
    return stored.kind === 'stored';
  }

  /** False if another prune has it. */
  async function take(run: RunToMark): Promise<boolean> {
    if (await put(run, { ifAbsent: true })) return true;
    const key = keyOf(run.folder);
    const stored = await store.get(key);
    if (stored === undefined) return false;
    const mark = await Promise.try(() => parseStored(key, stored.body, markSchema)).catch(unlessDamaged());
    const isHeld = mark !== undefined && Math.abs(now() - mark.atMs) < HELD_MS;
    return !isHeld && (await put(run, { ifMatch: stored.etag }));
  }

  /** Asked before each change, and says that this prune is at work. False if another one has taken the run. */
  async function isOwn(run: RunToMark): Promise<boolean> {
    const mark = own.get(run.run);
    if (mark === undefined || Math.abs(now() - mark.atMs) < SAID_AGAIN_MS) return mark !== undefined;
    return put(run, { ifMatch: mark.etag });
  }

  return {
    take,
    isOwn,
    async drop(run: RunToMark): Promise<void> {
      if (await isOwn(run)) await store.delete(keyOf(run.folder));
    },
  };
}
