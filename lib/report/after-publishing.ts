import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import type { AwsEnvironment } from '../base/aws/index.ts';
import { renewModel } from '../model/index.ts';
import { placesIn, readAgain, readLatest } from '../snapshot/history/index.ts';
import { type Place, placeSchema, sources } from '../snapshot/sources/index.ts';
import {
  findStored,
  ifUnchanged,
  printStored,
  type Store,
  storeUntil,
  unlessDamaged,
} from '../store/index.ts';
import { collectDigest, type PrintedDigest, printDigest, type SendDigest } from './digest/digest.ts';
import { type printReport, writeReport } from './print-report.ts';
import { findReport, type StoredReport } from './stored-report.ts';

type ReportToWrite = Parameters<typeof printReport>[0];

/**
 * The event of the function write-report: the places of the schedules, and the topics that get digests of some of them.
 */
const eventSchema = z.object({
  places: z.array(placeSchema),
  digests: z.optional(z.object({ places: z.array(placeSchema), topics: z.array(z.string()) })),
});

/** Maximum faults in one line of the log; the report has all of them. */
const MAX_FAULTS = 20;

/**
 * Returns the function that does what follows a publication: see `afterPublishing`. It is called with the
 * event, every ten minutes.
 */
export function followPublications(
  parts: Pick<ReportToWrite, 'store' | 'links' | 'prices' | 'now'> & {
    /** The credentials and regions of the topics. */
    readonly environment: AwsEnvironment;
    readonly warn: (what: string, fields: object) => void;
    /** Called with the number of failures if several calls failed recently. */
    readonly onOftenFailed: (times: number) => void;
  },
) {
  const { store, links, prices, now, environment, warn, onOftenFailed } = parts;
  const failures = createFailures({ store, now, onOften: onOftenFailed });
  const warnOf = (what: string, err: unknown) => warn(what, { err });
  function warnOfFaults(what: string, faults: readonly string[]) {
    if (faults.length > 0) warn(what, { faults: faults.slice(0, MAX_FAULTS) });
  }
  return async (event: unknown, signal: AbortSignal): Promise<AfterPublishing> => {
    const asked = eventSchema.parse(event);
    const looked = afterPublishing({
      ...asked,
      store,
      links,
      now,
      signal,
      warn: warnOf,
      async write(options) {
        const faults = await failures.during(() => writeReport({ ...options, prices }));
        warnOfFaults('report written with faults', faults);
      },
      async renew(options) {
        const faults: string[] = [];
        // If this fails, the next call tries again, and the digests are still sent.
        await renewModel({ ...options, addFault: (fault) => faults.push(fault) }).catch((error: unknown) =>
          warnOf('model not renewed', error),
        );
        warnOfFaults('model renewed with faults', faults);
      },
      async openSender(topics) {
        // The client of SNS is loaded once there is something to send.
        const { createTopicSender } = await import('./digest/topic-sender.ts');
        return createTopicSender({ topics, environment, warn: warnOf });
      },
    });
    return await looked.catch(async (error: unknown) => {
      await failures.add();
      throw error;
    });
  };
}

/** `signal` is aborted shortly before the process is killed, so that the failure can still be recorded. */
type AfterPublishingOptions = z.infer<typeof eventSchema> &
  ReportToWrite & {
    /** Writes the report into the store, with the runs that it shows. */
    readonly write: (options: ReportToWrite & Pick<StoredReport, 'runs'>) => Promise<unknown>;
    /**
     * Renews the stored model, which SQL in the account reads, if the report was not written: writing a
     * report renews it too. Never throws.
     */
    readonly renew: (options: ReportToWrite) => Promise<void>;
    /** Opens the sender to topics, once there is something to send. */
    readonly openSender: (topics: readonly string[]) => Promise<SendDigest>;
    readonly warn: (what: string, err: unknown) => void;
  };

type AfterPublishing = {
  readonly report: Awaited<ReturnType<typeof renewReport>>;
  readonly digests: readonly SentDigest[];
};

/**
 * Does what follows a publication: writes the report, renews the model, and then sends the digests, which mention the
 * report. It is called every ten minutes. If the report fails, the other steps are still done. Throws the first error.
 */
export async function afterPublishing(options: AfterPublishingOptions): Promise<AfterPublishing> {
  const { places, digests, write, renew, openSender, now, links, warn, signal } = options;
  const inTime = { store: storeUntil(options.store, signal), links, now, signal };
  const [report] = await Promise.allSettled([
    renewReport({
      ...inTime,
      warn,
      places: [...places, ...(digests?.places ?? [])],
      write: (runs) => write({ ...inTime, runs }),
    }),
  ]);
  signal.throwIfAborted();
  await renew(inTime);
  const [sent] = await Promise.allSettled([
    sendDigests({
      ...inTime,
      warn,
      places: digests?.places ?? [],
      send: async (digest) => (await openSender(digests?.topics ?? []))(digest),
    }),
  ]);
  if (sent.status === 'rejected') warn('digests not sent', sent.reason);
  if (report.status === 'rejected') throw report.reason;
  if (sent.status === 'rejected') throw sent.reason;
  return { report: report.value, digests: sent.value };
}

type RenewReportOptions = Pick<AfterPublishingOptions, 'store' | 'now' | 'warn'> & {
  /** Writes a report that shows these runs, by place. */
  readonly write: (runs: StoredReport['runs']) => Promise<unknown>;
  /** Places that are checked besides those of the sources and of the last report: narrowed ones. */
  readonly places: readonly Place[];
};

/**
 * Writes the report if a published run is not the one that the last report shows, and returns whether it did.
 * It compares names of runs, not times. A report records the runs that were published when it began, so the
 * next call includes runs that were published meanwhile, and repeats what a killed process did not finish.
 * Throws errors of `write`; the next call tries again.
 */
export async function renewReport(options: RenewReportOptions): Promise<'written' | 'current'> {
  const { store, write } = options;
  const shown = (await findReport(store).catch(orWarn(options)))?.value.runs ?? {};
  const runs = await runsNow(shown, options);
  if (isDeepStrictEqual({ ...shown }, runs)) return 'current';
  await write(runs);
  return 'written';
}

/** Treats a damaged object as missing, after a warning. */
const orWarn = ({ warn }: Pick<RenewReportOptions, 'warn'>) =>
  unlessDamaged((fault) => warn('damaged object', new Error(fault)));

/** The last published run of each place. */
async function runsNow(before: StoredReport['runs'], { store, places, now, warn }: RenewReportOptions) {
  const runs: Record<string, string> = {};
  const shown = Object.keys(before).flatMap((name) => placeSchema.safeParse(name).data ?? []);
  // Listing costs ten times as much as reading, so a narrowed place that is not in the event is found within
  // three hours.
  const isTime = new Date(now()).getUTCHours() % 3 === 0 && new Date(now()).getUTCMinutes() < 10;
  const listed = isTime ? await placesIn(store) : [];
  for (const place of new Set([...sources, ...places, ...shown, ...listed])) {
    const latest = await readLatest(store, place).catch(orWarn({ warn }));
    if (latest !== undefined) runs[place] = latest.run;
  }
  return runs;
}

type SendDigestsOptions = Omit<ReportToWrite, 'signal'> & {
  readonly places: readonly Place[];
  readonly send: SendDigest;
  /** Called if a digest can never be sent: it is not tried again. */
  readonly warn: (what: string, err: unknown) => void;
  readonly signal?: AbortSignal | undefined;
};

/** A digest that was sent. */
type SentDigest = { readonly place: Place; readonly run: string };

/**
 * Sends a digest of the last published run of each of these places. It covers all changes since the run of the previous
 * digest, so also those of runs in between. The first digest of a place must be of a run of the last day. If the sender
 * throws, the next call sends the digest again. Throws the first error, after all places.
 */
export async function sendDigests(options: SendDigestsOptions): Promise<readonly SentDigest[]> {
  const places = [...new Set(options.places)];
  const sent: SentDigest[] = [];
  const errors: unknown[] = [];
  for (const place of places)
    try {
      sent.push(...(await sendOfPlace(place, options)));
    } catch (error) {
      options.signal?.throwIfAborted();
      errors.push(error);
    }
  if (errors.length > 0) throw errors[0];
  return sent;
}

const DAY_MS = 86_400_000;

/** The record of the last digest: its run; null if none was sent. It never expires, as runs do not. */
const markSchema = z.object({ version: z.literal(1), run: z.nullable(z.string()) });

/**
 * Sends the digest of a place. It is recorded before it is sent, so that only one of two processes sends it;
 * if sending fails, the record is undone. If the process is killed in between, nothing is sent.
 */
async function sendOfPlace(place: Place, options: SendDigestsOptions): Promise<readonly SentDigest[]> {
  const { store, send, now } = options;
  const key = `report/digests/${place}.json`;
  const latest = await readLatest(store, place);
  const mark = await findStored(store, key, markSchema);
  const last = mark?.value.run ?? null;
  if (latest === undefined || last === latest.run) return [];
  // An old run is not news.
  const isOld = last === null && now() - Date.parse(latest.startedAt) > DAY_MS;
  const digest = isOld ? undefined : await digestOf(place, latest.run, last ?? undefined, options);
  const record = (run: string | null, etag: string | undefined) =>
    store.put(key, printStored({ version: 1, run }), { condition: ifUnchanged(etag) });
  const recorded = await record(latest.run, mark?.etag);
  // Another process sends it.
  if (recorded.kind !== 'stored' || digest === undefined) return [];
  try {
    await send(digest);
  } catch (error) {
    await record(last, recorded.etag).catch(() => undefined);
    throw error;
  }
  return [{ place, run: latest.run }];
}

/** The digest of a run; undefined if the run is damaged, or was pruned meanwhile. */
async function digestOf(
  place: Place,
  run: string,
  old: string | undefined,
  { store, links, warn, signal }: SendDigestsOptions,
): Promise<PrintedDigest | undefined> {
  const collected = readAgain(() => collectDigest({ store, place, run, old, links, signal }));
  const digest = await collected.catch(
    unlessDamaged((fault) => warn('no digest of a damaged run', new Error(fault))),
  );
  return digest && printDigest(digest, { location: store.location, hasReport: true });
}

/**
 * A single failure is repaired by the next call. A person is needed after `OFTEN` failures within this time,
 * in milliseconds.
 */
const OFTEN_MS = 70 * 60_000;
const OFTEN = 3;

const KEY = 'work/report-failures.json';

const schema = z.object({ version: z.literal(1), atMs: z.array(z.number()) });

/** Creates a counter of recent failures of the report and the digests, over all processes. */
export function createFailures(options: {
  readonly store: Store;
  /** The clock, in epoch milliseconds. */
  readonly now: () => number;
  /**
   * Called with the number of failures within `OFTEN_MS`, from the third on; also if the store itself is unavailable.
   */
  readonly onOften: (times: number) => void;
}) {
  const { store, now, onOften } = options;
  async function change(next: (atMs: readonly number[]) => readonly number[]): Promise<readonly number[]> {
    const stored = await findStored(store, KEY, schema);
    const before = (stored?.value.atMs ?? []).filter((each) => now() - each < OFTEN_MS);
    await store.put(KEY, printStored({ version: 1, atMs: next(before) }));
    return before;
  }
  return {
    /** Records a failure. */
    async add(): Promise<void> {
      const before = await change((atMs) => [...atMs, now()]).catch(() => Array(OFTEN).fill(0));
      if (before.length + 1 >= OFTEN) onOften(before.length + 1);
    },
    /** Runs work whose process may be killed: it counts as a failure until it has ended. */
    async during<T>(work: () => Promise<T>): Promise<T> {
      const at = now();
      const before = await change((atMs) => [...atMs, at]).catch(() => []);
      if (before.length >= OFTEN) onOften(before.length);
      try {
        return await work();
      } finally {
        await change((atMs) => atMs.filter((each) => each !== at)).catch(() => undefined);
      }
    },
  };
}
