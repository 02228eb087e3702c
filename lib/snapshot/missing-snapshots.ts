import * as z from 'zod/mini';
import { recordOf } from '../base/index.ts';
import { findStored, printStored, type Store, StoredObjectError } from '../store/index.ts';
import { type Place, placeSchema } from './keys.ts';
import { manifestOf, readLatest } from './manifest.ts';

/** A place, and the maximum number of hours that may pass between two published runs. */
export type ExpectedSnapshot = z.infer<typeof expectedSnapshot>;

const hours = z.number().check(z.positive());
const expectedSnapshot = z.object({ place: placeSchema, hours });

/** Schema of the event that lists the expected snapshots. */
export const expectedSnapshots = z.object({ expected: z.array(expectedSnapshot) });

/**
 * A place whose newest published run is too old. `publishedAt`: when it was published; undefined if there is no run.
 */
type MissingSnapshot = ExpectedSnapshot & { readonly publishedAt: string | undefined };

type CheckOptions = {
  readonly store: Store;
  readonly now: () => number;
  /** Called with the error for a damaged object; the object is ignored. */
  readonly warn: (err: StoredObjectError) => void;
};

/**
 * Finds the places whose newest published run is older than their limit, if they have been expected for at
 * least that long. Stores when each place was first expected.
 */
export async function missingSnapshots(
  expected: readonly ExpectedSnapshot[],
  options: CheckOptions,
): Promise<readonly MissingSnapshot[]> {
  const atMs = options.now();
  const since = await expectedSince(expected, atMs, options);
  const missing: MissingSnapshot[] = [];
  for (const each of expected) {
    const limitMs = each.hours * HOUR_MS;
    if (atMs - (since[each.place]?.sinceMs ?? atMs) <= limitMs) continue;
    const publishedAt = await lastPublished(each.place, atMs - limitMs, options);
    const isInTime = publishedAt !== undefined && atMs - Date.parse(publishedAt) <= limitMs;
    if (!isInTime) missing.push({ ...each, publishedAt });
  }
  return missing;
}

const HOUR_MS = 3_600_000;

/**
 * When the newest published run finished. If it started at `enoughMs` or later, that is recent enough: its start is
 * returned, without reading the manifest, which can be large.
 */
async function lastPublished(place: Place, enoughMs: number, { store, warn }: CheckOptions) {
  let startedAt: string | undefined;
  try {
    const latest = await readLatest(store, place);
    if (latest === undefined) return undefined;
    startedAt = latest.startedAt;
    if (Date.parse(startedAt) >= enoughMs) return startedAt;
    const { run, manifest } = latest;
    return (await manifestOf(store, manifest, { place, run })).finishedAt;
  } catch (error) {
    if (!(error instanceof StoredObjectError)) throw error;
    warn(error);
    return startedAt;
  }
}

/**
 * The object that records when each place was first expected. It is under `work/`, where objects that are
 * no longer written expire.
 */
const SINCE_KEY = 'work/expected-snapshots.json';

/**
 * The interval in milliseconds after which the object is rewritten, since lifecycle rules delete it 15 days
 * after its last write.
 */
const REWRITE_INTERVAL_MS = 24 * HOUR_MS;

const sinceSchema = z.object({
  version: z.literal(1),
  writtenMs: z.number(),
  places: recordOf(z.object({ hours, sinceMs: z.number() })),
});

async function expectedSince(
  expected: readonly ExpectedSnapshot[],
  atMs: number,
  { store, warn }: CheckOptions,
): Promise<z.infer<typeof sinceSchema>['places']> {
  const stored = await findStored(store, SINCE_KEY, sinceSchema).catch((error: unknown) => {
    if (!(error instanceof StoredObjectError)) throw error;
    warn(error);
    return undefined;
  });
  const before = stored?.value.places ?? {};
  const places = Object.fromEntries(
    expected.map(({ place, hours }) => {
      const known = before[place];
      const isSooner = known === undefined || hours < known.hours;
      return [place, { hours, sinceMs: isSooner ? atMs : known.sinceMs }];
    }),
  );
  const isOld = atMs - (stored?.value.writtenMs ?? 0) >= REWRITE_INTERVAL_MS;
  if (isOld || JSON.stringify(places) !== JSON.stringify(before))
    await store.put(
      SINCE_KEY,
      printStored({ version: 1, writtenMs: atMs, places } satisfies z.infer<typeof sinceSchema>),
    );
  return places;
}
