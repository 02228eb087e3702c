import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { messageOf, recordOf } from '../base/index.ts';
import { placesIn } from '../snapshot/history/places.ts';
import { type Place, placeSchema } from '../snapshot/keys.ts';
import { readLatest } from '../snapshot/manifest.ts';
import { sources } from '../snapshot/sources/sources.ts';
import { findStored, printStored, type Store, StoredObjectError } from '../store/index.ts';

export type KeepReportOptions = {
  readonly store: Store;
  /** Writes the report. What it throws is thrown, after it was recorded. */
  readonly write: () => Promise<unknown>;
  /** Places to look at besides those of the sources, and of the last turn: narrowed ones. */
  readonly places: readonly Place[];
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Called for an object that is damaged: what it says does not count. */
  readonly warn: (err: StoredObjectError) => void;
};

/** `current`: it shows what is published. `in-hand`: another process writes it, or was killed a moment ago. */
export type KeptReport = { readonly kind: 'written' | 'current' | 'in-hand' };

/** The report is older than what is published, since it could not be written. */
class ReportOverdueError extends Error {
  override readonly name = 'ReportOverdueError';
}

/**
 * Writes the report if another run is published than when it was last written. It compares names of runs, not times: whatever
 * is published while it is written differs from those at its beginning, so the next call writes it again, and a call too
 * many does nothing.
 *
 * Only one process writes at a time. One that was killed is given up after `LONGEST_MS`. After the second failure in a
 * row the waits double, up to `LONGEST_WAIT_MS`, so that a report that cannot be written costs little; every call until
 * the next try throws `ReportOverdueError`.
 */
export async function keepReport(options: KeepReportOptions): Promise<KeptReport> {
  const { store, now } = options;
  const { turn, condition } = await readTurn(options);
  const runs = await runsNow(turn.runs, options);
  const { tries, sinceMs, fault } = turn;
  if (tries === 0 && isDeepStrictEqual({ ...turn.runs }, runs)) return { kind: 'current' };
  if (tries > 0 && fault === null && now() - sinceMs < LONGEST_MS) return { kind: 'in-hand' };
  if (now() < sinceMs + waitAfter(tries)) throw overdue(turn);
  const begun: Turn = { version: 1, runs, sinceMs: now(), tries: tries + 1, fault: null };
  const claimed = await store.put(TURN_KEY, printStored(begun), condition);
  if (claimed.kind === 'condition-failed') return { kind: 'in-hand' };
  await writeInTurn(options, begun);
  return { kind: 'written' };
}

async function writeInTurn({ store, write }: KeepReportOptions, begun: Turn): Promise<void> {
  try {
    await write();
  } catch (error) {
    const fault = messageOf(error instanceof Error ? error.message : String(error));
    // If this fails too, the turn is over after `LONGEST_MS`. The first error says more.
    await store.put(TURN_KEY, printStored({ ...begun, fault } satisfies Turn)).catch(() => undefined);
    throw error;
  }
  await store.put(TURN_KEY, printStored({ ...begun, tries: 0 } satisfies Turn));
}

/** Who is writing, or how the last try ended. Below `work/`: that it expires costs one report. */
const TURN_KEY = 'work/report.json';

const turnSchema = z.object({
  version: z.literal(1),
  /** What was published at the beginning. */
  runs: recordOf(z.string()),
  sinceMs: z.number(),
  /** How often it was begun since it last succeeded; 0 if it did. */
  tries: z.number(),
  /** How it failed; null if it has not, or if nobody lived to say so. */
  fault: z.nullable(z.string()),
});

type Turn = z.infer<typeof turnSchema>;

const NO_TURN: Turn = { version: 1, runs: {}, sinceMs: 0, tries: 0, fault: null };

/** The last turn, and on what condition the next may replace it: none, if it is damaged. */
async function readTurn({ store, warn }: KeepReportOptions) {
  const found = await unlessDamaged(() => findStored(store, TURN_KEY, turnSchema), warn);
  if (found === 'damaged') return { turn: NO_TURN, condition: {} };
  const condition = found === undefined ? ({ ifAbsent: true } as const) : { ifMatch: found.etag };
  return { turn: found?.value ?? NO_TURN, condition: { condition } };
}

async function unlessDamaged<T>(read: () => Promise<T>, warn: KeepReportOptions['warn']) {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof StoredObjectError)) throw error;
    warn(error);
    return 'damaged';
  }
}

const MINUTE_MS = 60_000;

/** The time limit of a function, and a minute: nobody is still writing after that. */
const LONGEST_MS = 16 * MINUTE_MS;
const FIRST_WAIT_MS = 20 * MINUTE_MS;
const LONGEST_WAIT_MS = 6 * 60 * MINUTE_MS;

/** How long after the beginning of the last try the next may begin. One failure may be a service that was away. */
const waitAfter = (tries: number): number =>
  tries < 2 ? 0 : Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(tries - 2, 10));

function overdue({ tries, sinceMs, fault }: Turn): ReportOverdueError {
  const next = new Date(sinceMs + waitAfter(tries)).toISOString();
  const why = fault ?? 'it was stopped: it may need more time or memory';
  return new ReportOverdueError(`the report could not be written ${tries} times, next at ${next}: ${why}`);
}

type Runs = Turn['runs'];

/** The run that is published of each place. One that is damaged counts as before. */
async function runsNow(before: Runs, options: KeepReportOptions): Promise<Runs> {
  const runs: Record<string, string> = {};
  for (const place of await placesNow(before, options)) {
    const latest = await unlessDamaged(() => readLatest(options.store, place), options.warn);
    const run = latest === 'damaged' ? before[place] : latest?.run;
    if (run !== undefined) runs[place] = run;
  }
  return runs;
}

/** Listing costs ten times as much as reading: a narrowed place that nobody has named is found within the hour. */
async function placesNow(
  before: Runs,
  { store, places, now }: KeepReportOptions,
): Promise<ReadonlySet<Place>> {
  const shown = Object.keys(before).flatMap((name) => placeSchema.safeParse(name).data ?? []);
  const known = [...sources, ...places, ...shown];
  const isFirstOfHour = new Date(now()).getUTCMinutes() < 10;
  return new Set(isFirstOfHour ? [...known, ...(await placesIn(store))] : known);
}
