import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { placesIn } from '../snapshot/history/places.ts';
import { type Place, placeSchema } from '../snapshot/keys.ts';
import { readLatest } from '../snapshot/manifest.ts';
import { sources } from '../snapshot/sources/sources.ts';
import { type Store, storeUntil, unlessDamaged } from '../store/index.ts';
import { type SendDigest, type SentDigest, sendDigests } from './digest/send-digests.ts';
import type { PlatformLinks } from './link-to.ts';
import { findReport, type StoredReport } from './stored-report.ts';

/** What the function is started with: the places of the schedules, and which of them have a digest that goes where. */
export const afterPublishingEvent = z.object({
  places: z.array(placeSchema),
  digests: z.optional(z.object({ places: z.array(placeSchema), topics: z.array(z.string()) })),
});

export type AfterPublishingOptions = z.infer<typeof afterPublishingEvent> & {
  readonly store: Store;
  /** Where things are in the platform. Default: nowhere. */
  readonly links?: PlatformLinks | undefined;
  /** Writes the report into the store, which is said to show these runs. */
  readonly write: (
    options: WriteOptions & Pick<StoredReport, 'runs'> & Pick<AfterPublishingOptions, 'links'>,
  ) => Promise<unknown>;
  /** Renews what SQL in the account reads, if it is still behind: whoever writes the report has renewed it. Throws nothing. */
  readonly renew: (options: WriteOptions) => Promise<void>;
  /** Opens the sender to topics, once there is something to send. */
  readonly openSender: (topics: readonly string[]) => Promise<SendDigest>;
  readonly now: () => number;
  readonly warn: (what: string, err: unknown) => void;
  /** Aborted a little before the process is killed: what can still be recorded is recorded. */
  readonly signal: AbortSignal;
};

type WriteOptions = { readonly store: Store; readonly now: () => number; readonly signal: AbortSignal };

export type AfterPublishing = {
  readonly report: Awaited<ReturnType<typeof keepReport>>;
  readonly digests: readonly SentDigest[];
};

/**
 * What follows a publication, and is looked for every ten minutes: the report, the model where no report had to be written,
 * and then the digests, which name the report. A report that fails does not hold up the rest. Throws the first error of both.
 */
export async function afterPublishing(options: AfterPublishingOptions): Promise<AfterPublishing> {
  const { places, digests, store, links, write, renew, openSender, now, warn, signal } = options;
  const inTime = storeUntil(store, signal);
  const [report] = await Promise.allSettled([
    keepReport({
      store,
      write: (runs) => write({ store: inTime, links, now, signal, runs }),
      places: [...places, ...(digests?.places ?? [])],
      now,
      warn: (fault) => warn('damaged object', new Error(fault)),
    }),
  ]);
  signal.throwIfAborted();
  await renew({ store: inTime, now, signal });
  const [sent] = await Promise.allSettled([
    sendDigests({
      store: inTime,
      places: digests?.places ?? [],
      send: async (digest) => (await openSender(digests?.topics ?? []))(digest),
      links,
      now,
      warn,
      signal,
    }),
  ]);
  if (sent.status === 'rejected') warn('digests not sent', sent.reason);
  if (report.status === 'rejected') throw report.reason;
  if (sent.status === 'rejected') throw sent.reason;
  return { report: report.value, digests: sent.value };
}

type KeepReportOptions = {
  readonly store: Store;
  /** Writes a report that is said to show these runs, by place. */
  readonly write: (runs: StoredReport['runs']) => Promise<unknown>;
  /** Places to look at besides those of the sources, and of the last report: narrowed ones. */
  readonly places: readonly Place[];
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Called with what is damaged: it counts as none. */
  readonly warn: (fault: string) => void;
};

/**
 * Writes the report if another run is published than the last one is said to show, and returns whether. It compares names
 * of runs, not times, and a report is said to show those at its beginning: so what is published while it is written is
 * written the next time, and what a killed writer left, too. Throws what `write` does, and the next call tries again.
 */
export async function keepReport(options: KeepReportOptions): Promise<'written' | 'current'> {
  const { store, write, warn } = options;
  const shown = (await findReport(store).catch(unlessDamaged(warn)))?.value.runs ?? {};
  const runs = await runsNow(shown, options);
  if (isDeepStrictEqual({ ...shown }, runs)) return 'current';
  await write(runs);
  return 'written';
}

/** The run that is published of each place. */
async function runsNow(before: StoredReport['runs'], { store, places, now, warn }: KeepReportOptions) {
  const runs: Record<string, string> = {};
  const shown = Object.keys(before).flatMap((name) => placeSchema.safeParse(name).data ?? []);
  // Listing costs ten times as much as reading: a narrowed place that nobody has named is found within three hours.
  const isTime = new Date(now()).getUTCHours() % 3 === 0 && new Date(now()).getUTCMinutes() < 10;
  const listed = isTime ? await placesIn(store) : [];
  for (const place of new Set([...sources, ...places, ...shown, ...listed])) {
    const latest = await readLatest(store, place).catch(unlessDamaged(warn));
    if (latest !== undefined) runs[place] = latest.run;
  }
  return runs;
}
