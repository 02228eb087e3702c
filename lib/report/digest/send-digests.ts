import * as z from 'zod/mini';
import type { Place } from '../../snapshot/keys.ts';
import { readLatest } from '../../snapshot/manifest.ts';
import { readAgain } from '../../snapshot/read-again.ts';
import { asRead, findStored, printStored, unlessDamaged } from '../../store/index.ts';
import type { ReportToWrite } from '../write-report.ts';
import { collectDigest, type PrintedDigest, printDigest } from './digest.ts';

/** Sends a message to whoever wants it. Throws if nobody got it; a part of them is enough. */
export type SendDigest = (digest: PrintedDigest) => Promise<void>;

type SendDigestsOptions = Omit<ReportToWrite, 'signal'> & {
  readonly places: readonly Place[];
  readonly send: SendDigest;
  /** Called with what prevents a digest for good: it is not tried again. */
  readonly warn: (what: string, err: unknown) => void;
  readonly signal?: AbortSignal | undefined;
};

/** A digest that was sent. */
export type SentDigest = { readonly place: Place; readonly run: string };

/**
 * Sends a digest of the last published run of each of these places, with all that changed since the run of the digest
 * before: so nothing that was published meanwhile is missing. A place that is new here begins with a run of the last day.
 * A sender that throws is asked again the next time, without end. Throws the first error, after all places.
 */
export async function sendDigests(options: SendDigestsOptions): Promise<readonly SentDigest[]> {
  const places = [...new Set(options.places)];
  const [sent, errors]: [SentDigest[], unknown[]] = [[], []];
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

/** `run`: of which run a digest was last sent; null if of none. It never expires, as the runs do not. */
const markSchema = z.object({ version: z.literal(1), run: z.nullable(z.string()) });

/**
 * That a digest is sent is recorded first, by one of two processes, and taken back if it was not: whoever is killed in
 * between sends none.
 */
async function sendOfPlace(place: Place, options: SendDigestsOptions): Promise<readonly SentDigest[]> {
  const { store, send, now } = options;
  const key = `report/digests/${place}.json`;
  const latest = await readLatest(store, place);
  const mark = await findStored(store, key, markSchema);
  const last = mark?.value.run ?? null;
  if (latest === undefined || last === latest.run) return [];
  // An old run is no news: what is published next is.
  const isOld = last === null && now() - Date.parse(latest.startedAt) > DAY_MS;
  const digest = isOld ? undefined : await digestOf(place, latest.run, last ?? undefined, options);
  const record = (run: string | null, etag: string | undefined) =>
    store.put(key, printStored({ version: 1, run }), { condition: asRead(etag) });
  const recorded = await record(latest.run, mark?.etag);
  // Somebody else is at it.
  if (recorded.kind !== 'stored' || digest === undefined) return [];
  try {
    await send(digest);
  } catch (error) {
    await record(last, recorded.etag).catch(() => undefined);
    throw error;
  }
  return [{ place, run: latest.run }];
}

/** Undefined if the run is damaged, or was pruned meanwhile: there is nothing to say of it. */
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
