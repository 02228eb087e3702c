import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { recordOf } from '../base/index.ts';
import { placesIn } from '../snapshot/history/places.ts';
import { type Place, placeSchema } from '../snapshot/keys.ts';
import { readLatest } from '../snapshot/manifest.ts';
import { sources } from '../snapshot/sources/sources.ts';
import { findStored, printStored, type Store, storeUntil, unlessDamaged } from '../store/index.ts';
import { type SendDigest, type SentDigest, sendDigests } from './digest/send-digests.ts';

/** What the function is started with: the places of the schedules, and which of them have a digest that goes where. */
export const afterPublishingEvent = z.object({
  places: z.array(placeSchema),
  digests: z.optional(z.object({ places: z.array(placeSchema), topics: z.array(z.string()) })),
});

export type AfterPublishingOptions = z.infer<typeof afterPublishingEvent> & {
  readonly store: Store;
  /** Writes the report into the store. */
  readonly write: (options: WriteOptions) => Promise<unknown>;
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
  readonly report: KeptReport['kind'];
  readonly digests: readonly SentDigest[];
};

/**
 * What follows a publication, and is looked for every ten minutes: the report, the model where no report had to be written,
 * and then the digests, which name the report. A report that fails does not hold up the rest. Throws the first error of both.
 */
export async function afterPublishing(options: AfterPublishingOptions): Promise<AfterPublishing> {
  const { places, digests, store, write, renew, openSender, now, warn, signal } = options;
  const inTime = storeUntil(store, signal);
  const [report] = await Promise.allSettled([
    keepReport({
      store,
      write: () => write({ store: inTime, now, signal }),
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
      now,
      warn,
      signal,
    }),
  ]);
  if (sent.status === 'rejected') warn('digests not sent', sent.reason);
  if (report.status === 'rejected') throw report.reason;
  if (sent.status === 'rejected') throw sent.reason;
  return { report: report.value.kind, digests: sent.value };
}

type KeepReportOptions = {
  readonly store: Store;
  /** Writes the report. */
  readonly write: () => Promise<unknown>;
  /** Places to look at besides those of the sources, and of the last turn: narrowed ones. */
  readonly places: readonly Place[];
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Called with what is damaged of a place: it counts as none. */
  readonly warn: (fault: string) => void;
};

/** `current`: it shows what is published. `in-hand`: another process writes it, or was killed a moment ago. */
type KeptReport = { readonly kind: 'written' | 'current' | 'in-hand' };

/**
 * Writes the report if another run is published than when it was last written. It compares names of runs, not times: whatever
 * is published while it is written differs from those at its beginning, so the next call writes it again, and a call too
 * many does nothing. Only one process writes at a time; one that was killed is given up after `LONGEST_MS`. Throws what
 * `write` does, and the next call tries again.
 */
export async function keepReport(options: KeepReportOptions): Promise<KeptReport> {
  const { store, write, now } = options;
  const found = await findStored(store, TURN_KEY, turnSchema);
  const turn = found?.value ?? NO_TURN;
  const runs = await runsNow(turn.runs, options);
  if (turn.sinceMs === null && isDeepStrictEqual({ ...turn.runs }, runs)) return { kind: 'current' };
  if (turn.sinceMs !== null && now() - turn.sinceMs < LONGEST_MS) return { kind: 'in-hand' };
  const put = (next: Turn, more: Parameters<Store['put']>[2] = {}) =>
    store.put(TURN_KEY, printStored(next), more);
  const condition = found === undefined ? ({ ifAbsent: true } as const) : { ifMatch: found.etag };
  const claimed = await put({ version: 1, runs, sinceMs: now() }, { condition });
  if (claimed.kind === 'condition-failed') return { kind: 'in-hand' };
  try {
    await write();
  } catch (error) {
    // If this fails too, the turn is over after `LONGEST_MS`. The first error says more.
    await put(NO_TURN).catch(() => undefined);
    throw error;
  }
  await put({ version: 1, runs, sinceMs: null });
  return { kind: 'written' };
}

/** What the report shows, and who is writing it. Below `work/`: that it expires costs one report. */
const TURN_KEY = 'work/report.json';

const turnSchema = z.object({
  version: z.literal(1),
  /** What was published at the beginning, by place. */
  runs: recordOf(z.string()),
  /** Since when it is written; null if nobody does. */
  sinceMs: z.nullable(z.number()),
});

type Turn = z.infer<typeof turnSchema>;

const NO_TURN: Turn = { version: 1, runs: {}, sinceMs: null };

/** The time limit of a function, and a minute: nobody is still writing after that. */
const LONGEST_MS = 16 * 60_000;

/** The run that is published of each place. */
async function runsNow(before: Turn['runs'], { store, places, now, warn }: KeepReportOptions) {
  const runs: Record<string, string> = {};
  const shown = Object.keys(before).flatMap((name) => placeSchema.safeParse(name).data ?? []);
  // Listing costs ten times as much as reading: a narrowed place that nobody has named is found within the hour.
  const isFirstOfHour = new Date(now()).getUTCMinutes() < 10;
  const listed = isFirstOfHour ? await placesIn(store) : [];
  for (const place of new Set([...sources, ...places, ...shown, ...listed])) {
    const latest = await readLatest(store, place).catch(unlessDamaged(warn));
    if (latest !== undefined) runs[place] = latest.run;
  }
  return runs;
}
