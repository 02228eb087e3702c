import * as z from 'zod/mini';
import { findStored, printStored, type Store } from '../../store/index.ts';
import { type Part, partSchema } from '../manifest.ts';
import { checkPublished, checkRecords } from './check-parts.ts';
import { composeParts } from './compose-parts.ts';
import type { ComposedPart } from './composed-part.ts';

export type PartsToPublish = {
  readonly store: Store;
  /** The run's parts under `work/`, in order. */
  readonly parts: readonly Part[];
  /** Where the published parts go, and where it is recorded which are stored. Both end in a slash. */
  readonly folder: string;
  readonly records: string;
  /** See `seriesOf`. */
  readonly series: number;
  /** Asked after each part: true ends the slice. */
  readonly isOver: () => boolean;
};

const recordSchema = z.object({
  part: partSchema,
  next: z.object({ part: z.number(), frame: z.number() }),
});

/** How many parts are stored at the same time. Each is in memory meanwhile, unless it is copied. */
const AT_ONCE = 3;

/**
 * Stores the parts that a run is published as, a few at a time, and records each: whoever resumes begins after the last
 * recorded one that is still there. Returns them, or undefined if the slice is over before the last.
 */
export async function publishParts(options: PartsToPublish): Promise<readonly Part[] | undefined> {
  const { store, records, folder, series, isOver } = options;
  const recorded = await recordedParts(store, records);
  checkPublished(
    recorded.map(({ part }) => part),
    folder,
    series,
  );
  const known = await thoseStored(store, folder, recorded);
  const parts = known.map(({ part }) => part);
  const from = known.at(-1)?.next;
  const underWay: Promise<void>[] = [];
  const keep = async ({ part, next, store: put }: ComposedPart, index: number) => {
    await put();
    await store.put(recordKey(records, index), printStored({ part, next }));
  };
  try {
    const composed = composeParts({ ...options, ...(from && { from }), index: parts.length });
    for await (const each of composed) {
      const kept = keep(each, parts.length);
      kept.catch(() => undefined);
      underWay.push(kept);
      parts.push(each.part);
      if (underWay.length >= AT_ONCE) await underWay.shift();
      if (isOver()) {
        await Promise.all(underWay);
        return undefined;
      }
    }
    await Promise.all(underWay);
    checkRecords(options.parts, parts);
    return parts;
  } finally {
    await Promise.allSettled(underWay);
  }
}

type Recorded = z.infer<typeof recordSchema>;

/** The recorded parts up to the first one that was lost: a published run may be published again to restore it. */
async function thoseStored(
  store: Store,
  folder: string,
  recorded: readonly Recorded[],
): Promise<readonly Recorded[]> {
  if (recorded.length === 0) return [];
  const sizes = new Map<string, number>();
  for await (const { key, sizeBytes } of store.list(folder)) sizes.set(key, sizeBytes);
  const lost = recorded.findIndex(({ part }) => sizes.get(part.key) !== part.bytes);
  return lost < 0 ? recorded : recorded.slice(0, lost);
}

const recordKey = (folder: string, index: number) => `${folder}part-${String(index).padStart(5, '0')}.json`;

async function recordedParts(store: Store, folder: string): Promise<readonly Recorded[]> {
  const recorded: Recorded[] = [];
  for (;;) {
    const stored = await findStored(store, recordKey(folder, recorded.length), recordSchema);
    if (stored === undefined) return recorded;
    recorded.push(stored.value);
  }
}
