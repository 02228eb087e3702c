import * as z from 'zod/mini';
import { placeSchema } from '../snapshot/keys.ts';
import { type Store, storeUntil } from '../store/index.ts';
import { type SendDigest, type SentDigest, sendDigests } from './digest/send-digests.ts';
import { type KeptReport, keepReport } from './keep-report.ts';

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
