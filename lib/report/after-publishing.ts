import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { placesIn } from '../snapshot/history/places.ts';
import { type Place, placeSchema } from '../snapshot/keys.ts';
import { readLatest } from '../snapshot/manifest.ts';
import { sources } from '../snapshot/sources/sources.ts';
import { storeUntil, unlessDamaged } from '../store/index.ts';
import { type SendDigest, type SentDigest, sendDigests } from './digest/send-digests.ts';
import { findReport, type StoredReport } from './stored-report.ts';
import type { ReportToWrite } from './write-report.ts';

/** What the function is started with: the places of the schedules, and which of them have a digest that goes where. */
export const afterPublishingEvent = z.object({
  places: z.array(placeSchema),
  digests: z.optional(z.object({ places: z.array(placeSchema), topics: z.array(z.string()) })),
});

/** The `signal` is aborted a little before the process is killed: what can still be recorded is recorded. */
type AfterPublishingOptions = z.infer<typeof afterPublishingEvent> &
  ReportToWrite & {
    /** Writes the report into the store, which is said to show these runs. */
    readonly write: (options: ReportToWrite & Pick<StoredReport, 'runs'>) => Promise<unknown>;
    /** Renews what SQL in the account reads, if it is still behind: whoever writes the report has renewed it. Throws nothing. */
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
 * What follows a publication, and is looked for every ten minutes: the report, the model where no report had to be written,
 * and then the digests, which name the report. A report that fails does not hold up the rest. Throws the first error of both.
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
  /** Writes a report that is said to show these runs, by place. */
  readonly write: (runs: StoredReport['runs']) => Promise<unknown>;
  /** Places to look at besides those of the sources, and of the last report: narrowed ones. */
  readonly places: readonly Place[];
};

/**
 * Writes the report if another run is published than the last one is said to show, and returns whether. It compares names
 * of runs, not times, and a report is said to show those at its beginning: so what is published while it is written is
 * written the next time, and what a killed writer left, too. Throws what `write` does, and the next call tries again.
 */
export async function renewReport(options: RenewReportOptions): Promise<'written' | 'current'> {
  const { store, write } = options;
  const shown = (await findReport(store).catch(orWarn(options)))?.value.runs ?? {};
  const runs = await runsNow(shown, options);
  if (isDeepStrictEqual({ ...shown }, runs)) return 'current';
  await write(runs);
  return 'written';
}

/** What is damaged counts as none. */
const orWarn = ({ warn }: Pick<RenewReportOptions, 'warn'>) =>
  unlessDamaged((fault) => warn('damaged object', new Error(fault)));

/** The run that is published of each place. */
async function runsNow(before: StoredReport['runs'], { store, places, now, warn }: RenewReportOptions) {
  const runs: Record<string, string> = {};
  const shown = Object.keys(before).flatMap((name) => placeSchema.safeParse(name).data ?? []);
  // Listing costs ten times as much as reading: a narrowed place that nobody has named is found within three hours.
  const isTime = new Date(now()).getUTCHours() % 3 === 0 && new Date(now()).getUTCMinutes() < 10;
  const listed = isTime ? await placesIn(store) : [];
  for (const place of new Set([...sources, ...places, ...shown, ...listed])) {
    const latest = await readLatest(store, place).catch(orWarn({ warn }));
    if (latest !== undefined) runs[place] = latest.run;
  }
  return runs;
}
