import * as z from 'zod/mini';
import { findRuns, type ListedRun } from '../../../snapshot/history/list-runs.ts';
import { placesIn } from '../../../snapshot/history/places.ts';
import { placeSchema, sourceOf } from '../../../snapshot/keys.ts';
import { sources } from '../../../snapshot/sources/sources.ts';
import { defineList, described, nothingPublished } from '../tool.ts';

/** Without a place, so many of each. */
const NEWEST = 3;
/** The most runs of a place that can be paged through. */
const MAX_RUNS = 2_000;

/** `runs`: which snapshots there are, and how old they are. */
export const runs = defineList({
  title: 'Snapshots and their age',
  description: `Lists the published runs of a place, newest first, with their age, records, changes, consistency (proved: every record that existed throughout the scan is in it) and why they were refused publication; without a place, the newest ${NEWEST} of each. With all: also unfinished, refused and superseded ones. Call it first to learn how old the data are.`,
  input: {
    place: described(
      z.optional(placeSchema),
      `one of ${sources.join(', ')}, or SOURCE.NAME; default: every place`,
    ),
    all: z._default(z.boolean({ error: 'true or false' }), false),
  },
  list: 'runs',
  instead: 'ask for one place',
  async run({ place, all }, { at, most }, { signal, ...call }) {
    const store = await call.store();
    const limit = place === undefined ? NEWEST : Math.min(MAX_RUNS, most);
    const listed: ListedRun[] = [];
    const faults: string[] = [];
    for (const one of place === undefined ? await placesIn(store) : [place]) {
      const found = await findRuns({ store, place: one, all, limit, signal });
      listed.push(...found.listed);
      faults.push(...found.broken);
    }
    if (listed.length + faults.length === 0)
      throw place === undefined
        ? nothingPublished(store, 'nothing')
        : nothingPublished(store, `${place}: nothing`, sourceOf(place));
    const items = listed.slice(at).map(({ source, ...run }) => ({
      ...{ place: source, ...run },
      // With one digit.
      ageHours: Math.round((call.now() - Date.parse(run.startedAt)) / 360_000) / 10 || 0,
    }));
    return { items, data: { faults } };
  },
});
