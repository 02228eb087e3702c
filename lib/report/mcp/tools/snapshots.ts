import * as z from 'zod/mini';
import {
  type Change,
  changesBetween,
  describeChanges,
  findRuns,
  type ListedRun,
  placesIn,
} from '../../../snapshot/history/index.ts';
import { type Place, placeSchema, sourceOf, sources } from '../../../snapshot/sources/index.ts';
import { shownChange } from '../../collect/snapshots.ts';
import { defineList, described, nothingPublished, type ToolCall, ToolError, textInput } from '../tool.ts';

/** The number of runs of each place to list, if no place is given. */
const NEWEST_RUNS = 3;
/** Maximum runs of a place on all pages together. */
const MAX_RUNS = 2_000;

/** `runs`: lists the published runs of places, with their age. */
export const runs = defineList({
  title: 'Snapshots and their age',
  description: `Lists the published runs of a place, newest first, with their age, records, changes, consistency (proved: every record that existed throughout the scan is in it); without a place, the newest ${NEWEST_RUNS} of each. With all: also unfinished, superseded and refused runs, with the reasons of the refusal.`,
  input: {
    place: described(
      z.optional(placeSchema),
      `one of ${sources.join(', ')}, or SOURCE.NAME; default: every place`,
    ),
    all: z._default(z.boolean({ error: 'true or false' }), false),
  },
  list: 'runs',
  instead: 'ask for one place',
  async run({ place, all }, { at, max }, { signal, ...call }) {
    const store = await call.store();
    const limit = place === undefined ? NEWEST_RUNS : Math.min(MAX_RUNS, max);
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
      place: source,
      ...run,
      // Rounded to one decimal.
      ageHours: Math.round((call.now() - Date.parse(run.startedAt)) / 360_000) / 10 || 0,
    }));
    return { items, data: { faults } };
  },
});

const SHOWN_LIMITS = { fields: 20, value: 1_000 };
/** Maximum lines of words about a change: one for the record, and one for each field. */
const MAX_CHANGE_LINES = 1 + SHOWN_LIMITS.fields;
/** The memory for comparing records that are not in order, in bytes. */
const MEMORY_BYTES = 128_000_000;

const runInput = z.optional(textInput('the name of a run', 100));

const shown = (source: ReturnType<typeof sourceOf>, change: Change) => ({
  ...shownChange(source, change, SHOWN_LIMITS),
  words: describeChanges(source, [change]).slice(0, MAX_CHANGE_LINES),
});

/** `changes`: lists the differences between two published runs. */
export const changes = defineList({
  title: 'What changed',
  description:
    'Lists what changed in the last published run of a place, or between two published runs: records added, removed and changed, each in words and by field, before and after as strings of JSON (null: absent). The tool runs lists the runs. counts covers all changes; it is absent if unknown. old is null if nothing was published before.',
  input: {
    place: described(
      z.optional(placeSchema),
      `one of ${sources.join(', ')}, or SOURCE.NAME; default: calculations`,
    ),
    old: runInput,
    new: runInput,
  },
  list: 'changes',
  instead: 'run: platform-sync diff PLACE',
  async run({ place = 'calculations', ...pair }, { at, max }, call) {
    const { old, steps, isStored, after } = await openChanges(place, pair, call);
    const source = sourceOf(place);
    const items: ReturnType<typeof shown>[] = [];
    let seen = 0;
    for await (const change of steps ?? []) {
      seen += 1;
      if (seen > at) items.push(shown(source, change));
      if (seen >= max) break;
    }
    const { added = 0, removed = 0, changed = 0 } = after.changes ?? {};
    const counts = isStored && after.changes !== null && { counts: { added, removed, changed } };
    return {
      head: { place, old, new: after.run, ...counts },
      items,
      listId: `${old} ${after.run}`,
    };
  },
});

async function openChanges(
  place: Place,
  { old, new: now }: { readonly old?: string | undefined; readonly new?: string | undefined },
  call: ToolCall,
) {
  const { signal } = call;
  const store = await call.store();
  const found = await changesBetween({ store, place, old, now, memoryBytes: MEMORY_BYTES, signal });
  if (found.kind === 'nothing-published')
    throw nothingPublished(store, `nothing of ${place}`, sourceOf(place));
  if (found.kind === 'found') return found;
  const named = found.runs.slice(0, 10).map(({ run }) => run);
  throw new ToolError(`${place}: expected a published run (${named.join(', ')} …), got ${found.run}`);
}
