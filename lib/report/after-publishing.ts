import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import type { AwsEnvironment } from '../base/aws/index.ts';
import { renewModel } from '../model/index.ts';
import { placesIn, readAgain, readLatest } from '../snapshot/history/index.ts';
import { type Place, placeSchema, sources } from '../snapshot/sources/index.ts';
import { findStored, ifUnchanged, printStored, storeUntil, unlessDamaged } from '../store/index.ts';
import { collectDigest, type PrintedDigest, printDigest, type SendDigest } from './digest/digest.ts';
import type { createTopicSender } from './digest/topic-sender.ts';
import { type printReport, writeReport } from './print-report.ts';
import { findReport, type StoredReport } from './stored-report.ts';

/**
 * Schema of the event of the function write-report. `places`: the places of the schedules; `digests`: the places whose
 * digests are sent, and to which topics.
 */
const eventSchema = z.object({
  places: z.array(placeSchema),
  digests: z._default(z.object({ places: z.array(placeSchema), topics: z.array(z.string()) }), {
    places: [],
    topics: [],
  }),
});

/** Maximum faults in one line of the log; the report has all of them. */
const MAX_FAULTS = 20;

type FollowOptions = Pick<Parameters<typeof printReport>[0], 'store' | 'links' | 'prices' | 'now'> & {
  /** The credentials and regions of the topics. */
  readonly environment: AwsEnvironment;
  readonly warn: (what: string, fields: object) => void;
  /** Called with the number of recent failures, if there are at least `MIN_REPORTED_FAILURES`. */
  readonly onOftenFailed: (times: number) => void;
  /** Default: `writeReport`. */
  readonly write?: typeof writeReport;
  /** Default: `renewModel`. */
  readonly renew?: (options: Parameters<typeof renewModel>[0]) => Promise<unknown>;
  /** Opens the sender to topics. Default: SNS, whose client is loaded when there is something to send. */
  readonly openSender?: typeof openTopicSender;
};

/** `signal` is aborted shortly before the process is killed, so that the failure can still be recorded. */
type Following = FollowOptions & z.infer<typeof eventSchema> & { readonly signal: AbortSignal };

/**
 * Returns the function to call after publications: every ten minutes, with the event. It writes the report, renews the
 * model, and then sends the digests, which refer to the report. If the report fails, it still takes the other steps,
 * and throws the first error at the end.
 */
export function followPublications(options: FollowOptions) {
  const failures = createFailures(options);
  return async (event: unknown, signal: AbortSignal) => {
    const store = storeUntil(options.store, signal);
    const following = { ...options, ...eventSchema.parse(event), store, signal };
    try {
      return await followOnce(following, failures);
    } catch (error) {
      await failures.add();
      throw error;
    }
  };
}

async function followOnce(options: Following, failures: ReturnType<typeof createFailures>) {
  const { signal, warn } = options;
  const [report] = await Promise.allSettled([renewReport(options, failures)]);
  signal.throwIfAborted();
  await renewStoredModel(options);
  const [sent] = await Promise.allSettled([sendDigests(options)]);
  if (sent.status === 'rejected') warn('digests not sent', { err: sent.reason });
  if (report.status === 'rejected') throw report.reason;
  if (sent.status === 'rejected') throw sent.reason;
  return { report: report.value, digests: sent.value };
}

/**
 * Writes the report unless the last report shows the runs that are published now. Returns whether it did. It compares
 * the names of runs, not times. A report records the runs that were published when it was begun. So the next call
 * includes runs that were published in the meantime, and repeats the work of a killed process.
 */
async function renewReport(options: Following, failures: ReturnType<typeof createFailures>) {
  const { store, write = writeReport } = options;
  const shown = (await findReport(store).catch(orWarn(options)))?.value.runs ?? {};
  const runs = await runsNow(shown, options);
  if (isDeepStrictEqual({ ...shown }, runs)) return 'current';
  warnOfFaults(
    'report written with faults',
    await failures.during(() => write({ ...options, runs })),
    options,
  );
  return 'written';
}

/** Renews the model, whose tables SQL in the AWS account reads. If this fails, the next call tries again. */
async function renewStoredModel(options: Following): Promise<void> {
  const { renew = renewModel, warn } = options;
  const faults: string[] = [];
  await renew({ ...options, addFault: (fault) => faults.push(fault) }).catch((err: unknown) =>
    warn('model not renewed', { err }),
  );
  warnOfFaults('model renewed with faults', faults, options);
}

function warnOfFaults(what: string, faults: readonly string[], { warn }: Following): void {
  if (faults.length > 0) warn(what, { faults: faults.slice(0, MAX_FAULTS) });
}

/** Returns a handler of errors that warns of a damaged object, and treats it as missing. */
const orWarn = ({ warn }: Following) =>
  unlessDamaged((fault) => warn('damaged object', { err: new Error(fault) }));

/** The last published run of each place. */
async function runsNow(before: StoredReport['runs'], options: Following) {
  const { store, places, digests, now } = options;
  const runs: Record<string, string> = {};
  const shown = Object.keys(before).flatMap((name) => placeSchema.safeParse(name).data ?? []);
  // Listing all places costs ten times as much as reading, so it is done every three hours. Until then, a new narrowed
  // place that is not in the event is not found.
  const isTime = new Date(now()).getUTCHours() % 3 === 0 && new Date(now()).getUTCMinutes() < 10;
  const listed = isTime ? await placesIn(store) : [];
  for (const place of new Set([...sources, ...places, ...digests.places, ...shown, ...listed])) {
    const latest = await readLatest(store, place).catch(orWarn(options));
    if (latest !== undefined) runs[place] = latest.run;
  }
  return runs;
}

/** A digest that was sent. */
type SentDigest = { readonly place: Place; readonly run: string };

/**
 * Sends a digest of the last published run of each place in `digests`, unless it was sent before. A digest covers all
 * changes since the run of the previous digest. If a place has had no digest yet, its run is skipped if it is older
 * than a day. If sending fails, the next call sends the digest again. Throws the first error, after trying all places.
 */
async function sendDigests(options: Following): Promise<readonly SentDigest[]> {
  const sent: SentDigest[] = [];
  const errors: unknown[] = [];
  for (const place of new Set(options.digests.places))
    try {
      sent.push(...(await sendOfPlace(place, options)));
    } catch (error) {
      options.signal.throwIfAborted();
      errors.push(error);
    }
  if (errors.length > 0) throw errors[0];
  return sent;
}

const openTopicSender = async (options: Parameters<typeof createTopicSender>[0]): Promise<SendDigest> =>
  (await import('./digest/topic-sender.ts')).createTopicSender(options);

const DAY_MS = 86_400_000;

/**
 * Schema of the record of a place's last digest. `run`: the run that it was about; null if no digest was sent. The
 * record never expires, since runs do not either.
 */
const sentDigestSchema = z.object({ version: z.literal(1), run: z.nullable(z.string()) });

/**
 * Sends the digest of a place. It is recorded before it is sent, so that only one of two processes sends it. If sending
 * fails, the record is restored. If the process is killed in between, the digest is never sent.
 */
async function sendOfPlace(place: Place, options: Following): Promise<readonly SentDigest[]> {
  const { store, digests, environment, warn, now, openSender = openTopicSender } = options;
  const key = `report/digests/${place}.json`;
  const latest = await readLatest(store, place);
  const mark = await findStored(store, key, sentDigestSchema);
  const last = mark?.value.run ?? null;
  if (latest === undefined || last === latest.run) return [];
  // A run that is old when digests are switched on is not news.
  const isOld = last === null && now() - Date.parse(latest.startedAt) > DAY_MS;
  const digest = isOld ? undefined : await digestOf(place, latest.run, last ?? undefined, options);
  const record = (run: string | null, etag: string | undefined) =>
    store.put(key, printStored({ version: 1, run }), { condition: ifUnchanged(etag) });
  const recorded = await record(latest.run, mark?.etag);
  // If the record was not stored, another process sends the digest.
  if (recorded.kind !== 'stored' || digest === undefined) return [];
  try {
    const send = await openSender({
      topics: digests.topics,
      environment,
      warn: (what, err) => warn(what, { err }),
    });
    await send(digest);
  } catch (error) {
    await record(last, recorded.etag).catch(() => undefined);
    throw error;
  }
  return [{ place, run: latest.run }];
}

/** The digest of a run; undefined if the run is damaged, or has been pruned in the meantime. */
async function digestOf(
  place: Place,
  run: string,
  old: string | undefined,
  { store, links, warn, signal }: Following,
): Promise<PrintedDigest | undefined> {
  const collected = readAgain(() => collectDigest({ store, place, run, old, links, signal }));
  const digest = await collected.catch(
    unlessDamaged((fault) => warn('no digest of a damaged run', { err: new Error(fault) })),
  );
  return digest && printDigest(digest, { location: store.location, hasReport: true });
}

/**
 * The period in milliseconds in which failures are counted. The next call makes up for a single failure, but after
 * `MIN_REPORTED_FAILURES` within this period a user must act.
 */
const FAILURE_PERIOD_MS = 70 * 60_000;
const MIN_REPORTED_FAILURES = 3;

const FAILURES_KEY = 'work/report-failures.json';

const failuresSchema = z.object({ version: z.literal(1), atMs: z.array(z.number()) });

/**
 * Creates a counter of recent failures of the report and the digests, in all processes. It reports their number if
 * there are at least three within `FAILURE_PERIOD_MS`, or if the store itself is unavailable.
 */
function createFailures({ store, now, onOftenFailed }: FollowOptions) {
  async function change(next: (atMs: readonly number[]) => readonly number[]): Promise<readonly number[]> {
    const stored = await findStored(store, FAILURES_KEY, failuresSchema);
    const before = (stored?.value.atMs ?? []).filter((each) => now() - each < FAILURE_PERIOD_MS);
    await store.put(FAILURES_KEY, printStored({ version: 1, atMs: next(before) }));
    return before;
  }
  return {
    /** Records a failure. */
    async add(): Promise<void> {
      const before = await change((atMs) => [...atMs, now()]).catch(() =>
        Array(MIN_REPORTED_FAILURES).fill(0),
      );
      if (before.length + 1 >= MIN_REPORTED_FAILURES) onOftenFailed(before.length + 1);
    },
    /** Runs work during which the process may be killed: it counts as a failure until it has ended. */
    async during<T>(work: () => Promise<T>): Promise<T> {
      const at = now();
      const before = await change((atMs) => [...atMs, at]).catch(() => []);
      if (before.length >= MIN_REPORTED_FAILURES) onOftenFailed(before.length);
      try {
        return await work();
      } finally {
        await change((atMs) => atMs.filter((each) => each !== at)).catch(() => undefined);
      }
    },
  };
}
