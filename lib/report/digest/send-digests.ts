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
 *
 * A digest is sent again only if the process was killed between sending it and recording that: a mail twice is better
 * than none, but not more often than `MOST_TRIES`. A sender that throws is asked again the next time, without end.
 * Throws the first error, after all places.
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

const MOST_TRIES = 3;

/** After a long outage, only the newest are still news. */
const MOST_RUNS = 5;

const DAY_MS = 86_400_000;

/** Which run a digest was last sent of, and which one is being sent. It never expires, as the runs do not. */
const markKey = (place: Place): string => `report/digests/${place}.json`;

const markSchema = z.object({
  version: z.literal(1),
  /** Null if none was sent yet. */
  run: z.nullable(z.string()),
  /** What is being sent, and how often that was begun; null if nothing is. */
  sending: z.nullable(z.object({ run: z.string(), tries: z.number() })),
});

type Mark = z.infer<typeof markSchema>;

const NONE: Mark = { version: 1, run: null, sending: null };

async function* sendOfPlace(place: Place, options: SendDigestsOptions): AsyncGenerator<string> {
  const { store } = options;
  const latest = await readLatest(store, place);
  const found = await findStored(store, markKey(place), markSchema);
  if (latest === undefined || found?.value.run === latest.run) return;
  const mark = createMark(place, store, found);
  const runs = await runsToSend(place, mark.last(), options);
  // An old run is no news: what is published next is.
  if (runs.length === 0) await mark.move({ run: latest.run });
  for (const run of runs) {
    const { sending } = mark.last();
    const tries = sending?.run === run.run ? sending.tries : 0;
    if (tries >= MOST_TRIES) options.warn('digest given up', new Error(`run ${run.run} of ${place}`));
    // Somebody else is at it.
    if (!(await mark.move({ sending: { run: run.run, tries: tries + 1 } }))) return;
    const isSent = tries < MOST_TRIES && (await sendOne(place, run, { ...options, tries, mark }));
    if (!(await mark.move({ run: run.run, sending: null }))) return;
    if (isSent) yield run.run;
  }
}

type Sending = SendDigestsOptions & { readonly tries: number; readonly mark: ReturnType<typeof createMark> };

/** False if the run is damaged, or was pruned meanwhile: there is nothing to say of it. */
async function sendOne(place: Place, run: PublishedRun, options: Sending): Promise<boolean> {
  const { store, send, warn, mark, tries, signal } = options;
  try {
    const digest = await readAgain(() => collectDigest({ store, place, run, signal }));
    await send(printDigest(digest, store.location));
    return true;
  } catch (error) {
    if (error instanceof StoredObjectError) {
      const isThere = (await publishedRuns(store, place)).some((each) => each.run === run.run);
      if (isThere) warn('no digest of a damaged run', error);
      return false;
    }
    // We live to say that it was not sent.
    await mark.move({ sending: { run: run.run, tries } }).catch(() => undefined);
    throw error;
  }
}

/** The mark of a place, which is written only as long as nobody else writes it. */
function createMark(
  place: Place,
  store: Store,
  found: { readonly value: Mark; readonly etag: string } | undefined,
) {
  let value = found?.value ?? NONE;
  let condition = found === undefined ? ({ ifAbsent: true } as const) : { ifMatch: found.etag };
  return {
    last: () => value,
    async move(change: Partial<Mark>): Promise<boolean> {
      const next = { ...value, ...change };
      const put = await store.put(markKey(place), printStored(next), { condition });
      if (put.kind === 'condition-failed') return false;
      value = next;
      condition = { ifMatch: put.etag };
      return true;
    },
  };
}

/** The runs that none was sent of, oldest first. */
async function runsToSend(
  place: Place,
  { run: last }: Mark,
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
