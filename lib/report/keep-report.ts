import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { recordOf } from '../base/index.ts';
import { placesIn } from '../snapshot/history/places.ts';
import { type Place, placeSchema } from '../snapshot/keys.ts';
import { readLatest } from '../snapshot/manifest.ts';
import { sources } from '../snapshot/sources/sources.ts';
import { findStored, printStored, type Store, unlessDamaged } from '../store/index.ts';

export type KeepReportOptions = {
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
export type KeptReport = { readonly kind: 'written' | 'current' | 'in-hand' };

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
