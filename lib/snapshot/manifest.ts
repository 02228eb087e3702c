import * as z from 'zod/mini';
import { anyRecord, recordOf, shortened } from '../base/index.ts';
import {
  findStored,
  isKey,
  MAX_LIST_BYTES,
  readStored,
  type Store,
  StoredObjectError,
} from '../store/index.ts';
import { isManifestKey, latestKey, type Place, parsePlace, runOfKey, TAGGED_NAME } from './keys.ts';
import { consistencies, missingIdSchema, totalsSchema } from './scan.ts';
import { sources } from './sources/sources.ts';

/** Schema of a part. `records`: how many it has; `firstKey`, `lastKey`: the keys of its first and last record. */
export const partSchema = z.object({
  key: z.string(),
  records: z.number(),
  bytes: z.number(),
  sha256: z.string(),
  firstKey: z.string(),
  lastKey: z.string(),
});

/** A part that is stored: in the run's work folder until the run is published. `bytes`: its compressed size. */
export type Part = z.infer<typeof partSchema>;

/** Schema of a run's calls to the platform. `throttled`: how many got a 429; `waitedMs`: the time spent waiting. */
export const callsSchema = z.object({
  requests: z.number(),
  retries: z.number(),
  throttled: z.number(),
  waitedMs: z.number(),
});

const manifestSchema = z.object({
  version: z.literal(1),
  source: z.string(),
  run: z.string(),
  /** What was requested. Two runs are comparable if their selections are the same. */
  selection: anyRecord(),
  /** Where the ids came from, in words, such as `calculations, run RUN`; absent if the request listed them. */
  idsFrom: z.optional(z.string()),
  startedAt: z.string(),
  finishedAt: z.string(),
  platform: z.string(),
  records: z.number(),
  totals: totalsSchema,
  consistency: z.enum(consistencies),
  /** What the platform must guarantee for `consistency` to hold (`Assumption`). */
  assumes: z.readonly(z.array(z.string())),
  order: z.string(),
  /** The number of times the list was read. For several lists: the maximum. */
  passes: z.number(),
  /** The number of pages that kept reporting that they may lack rows; absent for a source without such pages. */
  degradedPages: z.optional(z.number()),
  /**
   * Ids that could not be read. `since`: the start of the first of the consecutive runs in which the id was
   * missing with this status.
   */
  missing: z.array(z.object({ ...missingIdSchema.shape, since: z.string() })),
  parts: z.array(partSchema),
  fields: recordOf(z.array(z.string())),
  /** What changed; null if the run was not compared with another one, for example because it is the first. */
  changes: z.nullable(
    z.object({
      against: z.string(),
      added: z.number(),
      removed: z.number(),
      changed: z.number(),
      /** The key of the stored changes, which have one line for each record that changed. No other manifest has this key. */
      key: z.string().check(z.refine(isKey)),
    }),
  ),
  calls: callsSchema,
  /**
   * The total number of slots that the pace granted to the process that finished the run, and what it did with them.
   */
  pace: z.optional(
    z.object({
      granted: z.number(),
      used: z.number(),
      wasted: z.number(),
      waitedMs: z.number(),
      throttled: z.number(),
      effectiveRate: z.number(),
    }),
  ),
  /**
   * The name of the last published run when this one began. Null: no run was published. Empty: it could not be read.
   */
  begunAfter: z.nullable(z.string()),
  /**
   * For a run refused as `empty` or `shrunk`: the record counts of up to ten earlier published runs, newest first.
   */
  lastSizes: z.optional(z.array(z.number())),
  /** For a run refused as `shrunk`: the minimum share of the last run's records. */
  minShare: z.optional(z.number()),
  publishable: z.boolean(),
  refused: z.array(z.string()),
  /** Reasons for refusal that the request of the run accepts. */
  accepted: z.array(z.string()),
  forced: z.boolean(),
});

/** `_manifest.json`: what a run contains, and how that is known. */
export type Manifest = z.infer<typeof manifestSchema>;

/** Schema of `latest.json`. */
export const latestSchema = z.object({
  run: z.string(),
  manifest: z.string().check(z.refine(isKey)),
  startedAt: z.string(),
  /**
   * The manifest's `begunAfter`; empty instead of null if `latest.json` had been lost before this run was published.
   */
  begunAfter: z._default(z.nullable(z.string()), ''),
  /** The earlier values of `manifest`, oldest first, except the values for removed runs. */
  earlier: z._default(z.readonly(z.array(z.string().check(z.refine(isKey)))), []),
  /** Runs that a prune has removed, or is removing. They are never published again. */
  removed: z._default(z.readonly(z.array(z.string())), []),
});
/**
 * `latest.json`: the last published run of a place, and the runs published before it. `manifest` is a key.
 * Publishers and prunes replace it only if it is unchanged since they read it.
 */
export type Latest = z.infer<typeof latestSchema>;

/**
 * Reads the manifest stored under a key. Throws `StoredObjectError` if it is missing or invalid, or if `records` is not
 * the sum of its parts' records.
 */
async function readManifest(store: Store, key: string): Promise<Manifest> {
  const expected = { what: 'a manifest', schema: manifestSchema, maxBytes: MAX_LIST_BYTES };
  const { value } = await readStored(store, key, expected);
  const inParts = value.parts.reduce((sum, { records }) => sum + records, 0);
  if (inParts === value.records) return value;
  throw new StoredObjectError(
    'invalid',
    `${key}: expected parts with ${value.records} records together, as the manifest says, got ${inParts}`,
  );
}

/**
 * Reads the manifest stored under a key. Throws `StoredObjectError` if it is missing or invalid, or belongs to another
 * run than `run`.
 */
export async function manifestOf(
  store: Store,
  key: string,
  { place, run }: { readonly place: Place; readonly run: string },
): Promise<Manifest> {
  const manifest = await readManifest(store, key);
  if (manifest.source === place && manifest.run === run) return manifest;
  const got = shortened(`${manifest.run} of ${manifest.source}`, MAX_NAMES_LENGTH);
  throw new StoredObjectError(
    'invalid',
    `${key}: expected the manifest of run ${run} of ${place}, got the manifest of ${got}`,
  );
}

const MAX_NAMES_LENGTH = 200;

/**
 * Reads `latest.json` of a place, with its etag; undefined if nothing was published yet. Throws `StoredObjectError` if
 * it is damaged.
 */
export async function readLatest(
  store: Store,
  source: Place,
): Promise<(Latest & { readonly etag: string }) | undefined> {
  const stored = await findStored(store, latestKey(source), latestSchema);
  return stored && { ...stored.value, etag: stored.etag };
}

/** A published run: its name, the key of its manifest, and whether all its objects are tagged as replaced. */
export type PublishedRun = {
  readonly run: string;
  readonly manifest: string;
  readonly isTagged: boolean;
  /** Whether another run was published after this one. It stays true even if this run is published again. */
  readonly wasReplaced: boolean;
};

/**
 * The published runs of a place: first the last published one, then the earlier ones whose manifests still exist,
 * newest first. Throws `StoredObjectError` if `latest.json` is damaged.
 */
export async function publishedRuns(
  store: Store,
  place: Place,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<readonly PublishedRun[]> {
  const latest = await readLatest(store, place);
  if (latest === undefined) return [];
  const earlier = new Map(latest.earlier.map((key) => [runOfKey(key) ?? '', key]));
  const storedKeys = new Set<string>();
  const tagged = new Set<string | undefined>();
  for await (const { key } of store.list(`${place}/dt=`, { signal })) {
    if (isManifestKey(key)) storedKeys.add(key);
    if (key.endsWith(`/${TAGGED_NAME}`)) tagged.add(runOfKey(key));
  }
  const found = (run: string, manifest: string): PublishedRun => ({
    run,
    manifest,
    isTagged: tagged.has(run),
    wasReplaced: earlier.has(run),
  });
  const replaced = [...earlier].filter(([run, key]) => run !== latest.run && storedKeys.has(key));
  replaced.sort(([a], [b]) => (a < b ? 1 : -1));
  return [found(latest.run, latest.manifest), ...replaced.map(([run, key]) => found(run, key))];
}

/** Every place that has a run in the store, published or not, sorted by source; the source's own place comes first. */
export async function placesIn(store: Store): Promise<readonly Place[]> {
  const found = new Set<Place>();
  for (const source of sources) {
    const names: string[] = [];
    for (const folder of ['', 'work/'])
      for await (const key of store.folders(`${folder}${source}`)) names.push(key.slice(folder.length));
    for (const name of names.sort()) {
      const place = parsePlace(name);
      if (place !== undefined) found.add(place);
    }
  }
  return [...found];
}

/**
 * Calls `read`. If something was missing or damaged, calls it once more, because a run may have been pruned in the
 * meantime. `faultsOf`: the faults in a result. Default: a result has none.
 */
export async function readAgain<T>(
  read: () => Promise<T>,
  faultsOf: (found: T) => readonly string[] = () => [],
): Promise<T> {
  try {
    const found = await read();
    if (faultsOf(found).length === 0) return found;
  } catch (error) {
    if (!(error instanceof StoredObjectError)) throw error;
  }
  return await read();
}
