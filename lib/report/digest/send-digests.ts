import * as z from 'zod/mini';
import { type PublishedRun, publishedRuns } from '../../snapshot/changes/published-runs.ts';
import type { Place } from '../../snapshot/keys.ts';
import { manifestOf, readLatest } from '../../snapshot/manifest.ts';
import { readAgain } from '../../snapshot/read-again.ts';
import { findStored, printStored, type Store, StoredObjectError } from '../../store/index.ts';
import { collectDigest } from './digest.ts';
import { type PrintedDigest, printDigest } from './print-digest.ts';

/** Sends a message to whoever wants it. Throws if nobody got it; a part of them is enough. */
export type SendDigest = (digest: PrintedDigest) => Promise<void>;

export type SendDigestsOptions = {
  readonly store: Store;
  readonly places: readonly Place[];
  readonly send: SendDigest;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Called with what prevents a digest for good: it is not tried again. */
  readonly warn: (what: string, err: unknown) => void;
  readonly signal?: AbortSignal | undefined;
};

/** A digest that was sent. */
export type SentDigest = { readonly place: Place; readonly run: string };

/**
 * Sends a digest of each published run of these places that none was sent of, the oldest first: whoever took the run,
 * since its changes are in no other. A place that is new here begins with its newest run, if that is of the last day.
 * A sender that throws is asked again the next time, without end. Throws the first error, after all places.
 */
export async function sendDigests(options: SendDigestsOptions): Promise<readonly SentDigest[]> {
  const sent: SentDigest[] = [];
  const errors: unknown[] = [];
  for (const place of new Set(options.places)) {
    try {
      for await (const run of sendOfPlace(place, options)) sent.push({ place, run });
    } catch (error) {
      options.signal?.throwIfAborted();
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
  return sent;
}

/** After a long outage, only the newest are still news. */
const MOST_RUNS = 5;

const DAY_MS = 86_400_000;

/** Which run a digest was last sent of. It never expires, as the runs do not. */
const markKey = (place: Place): string => `report/digests/${place}.json`;

/** `run`: null if none was sent yet. */
const markSchema = z.object({ version: z.literal(1), run: z.nullable(z.string()) });

/**
 * That a digest is sent is recorded first, by one of two processes, and taken back if it was not: whoever is killed in
 * between sends none.
 */
async function* sendOfPlace(place: Place, options: SendDigestsOptions): AsyncGenerator<string> {
  const { store, send } = options;
  const latest = await readLatest(store, place);
  const found = await findStored(store, markKey(place), markSchema);
  let [last, etag] = [found?.value.run ?? null, found?.etag];
  if (latest === undefined || last === latest.run) return;
  async function record(run: string | null): Promise<boolean> {
    const condition = etag === undefined ? ({ ifAbsent: true } as const) : { ifMatch: etag };
    const put = await store.put(markKey(place), printStored({ version: 1, run }), { condition });
    if (put.kind === 'stored') ({ etag } = put);
    return put.kind === 'stored';
  }
  const runs = await runsToSend(place, last, options);
  // An old run is no news: what is published next is.
  if (runs.length === 0) await record(latest.run);
  for (const run of runs) {
    const digest = await digestOf(place, run, options);
    // Somebody else is at it.
    if (!(await record(run.run))) return;
    try {
      if (digest !== undefined) await send(digest);
    } catch (error) {
      await record(last).catch(() => undefined);
      throw error;
    }
    last = run.run;
    if (digest !== undefined) yield run.run;
  }
}

/** Undefined if the run is damaged, or was pruned meanwhile: there is nothing to say of it. */
async function digestOf(
  place: Place,
  run: PublishedRun,
  { store, warn, signal }: SendDigestsOptions,
): Promise<PrintedDigest | undefined> {
  try {
    return printDigest(await readAgain(() => collectDigest({ store, place, run, signal })), store.location);
  } catch (error) {
    if (!(error instanceof StoredObjectError)) throw error;
    const isThere = (await publishedRuns(store, place)).some((each) => each.run === run.run);
    if (isThere) warn('no digest of a damaged run', error);
    return undefined;
  }
}

/** The runs that none was sent of, oldest first. */
async function runsToSend(
  place: Place,
  last: string | null,
  { store, now, signal }: SendDigestsOptions,
): Promise<readonly PublishedRun[]> {
  const runs = await publishedRuns(store, place, signal === undefined ? {} : { signal });
  const [newest] = runs;
  if (newest === undefined) return [];
  if (last === null) {
    const { finishedAt } = await manifestOf(store, newest.manifest, { place, run: newest.run });
    return now() - Date.parse(finishedAt) < DAY_MS ? [newest] : [];
  }
  const at = runs.findIndex(({ run }) => run === last);
  // The last one was removed, or an older run was published by force.
  return at < 0 ? [newest] : runs.slice(0, Math.min(at, MOST_RUNS)).reverse();
}
