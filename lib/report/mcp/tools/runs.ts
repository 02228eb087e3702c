import * as z from 'zod/mini';
import { shortened } from '../../../base/index.ts';
import { placesIn } from '../../../snapshot/history/places.ts';
import { placeSchema, sourceOf } from '../../../snapshot/keys.ts';
import { sources } from '../../../snapshot/sources/sources.ts';
import type { RunsFound } from '../context.ts';
import { listEnd, listInput, offsetOf, pageOf } from '../pages.ts';
import { nothingPublished, shownFaults } from '../published.ts';
import { defineTool, READS } from '../tool.ts';

/** Without a place, so many of each. */
const NEWEST = 3;
/** The most runs of a place that can be paged through. */
const MOST_RUNS = 2_000;
const LONGEST_TEXT = 300;

const count = z.nullable(z.number());

const run = z.object({
  place: z.string(),
  run: z.string(),
  state: z.string(),
  startedAt: z.string(),
  ageHours: z.number(),
  finishedAt: z.nullable(z.string()),
  records: count,
  against: z.nullable(z.string()),
  added: count,
  removed: count,
  changed: count,
  consistency: z
    .nullable(z.string())
    .check(
      z.describe(
        'proved: every record that existed throughout the scan is in it; best-effort: that is not proved',
      ),
    ),
  forced: z.boolean(),
  refused: z.array(z.string()).check(z.describe('why it was refused publication')),
  fault: z.nullable(z.string()),
});

/** `runs`: which snapshots there are, and how old they are. */
export const runs = defineTool({
  title: 'Snapshots and their age',
  description: `Lists the published runs of a place, newest first, with their age, records, changes and consistency; without a place, the newest ${NEWEST} of each. With all: also unfinished, refused and superseded ones. Call it first to learn how old the data are.`,
  annotations: READS,
  input: z.strictObject({
    place: z
      .optional(placeSchema)
      .check(z.describe(`one of ${sources.join(', ')}, or SOURCE.NAME; default: every place`)),
    all: z._default(z.boolean({ error: 'true or false' }), false),
    ...listInput,
  }),
  output: z.object({
    store: z.string(),
    data: z.object({ runs: z.array(run), faults: z.array(z.string()) }),
    ...listEnd,
  }),
  instead: 'ask for one place',
  async run({ place, all, limit, cursor }, { signal, ...call }) {
    const store = await call.store();
    const at = offsetOf(cursor);
    const most = place === undefined ? NEWEST : Math.min(MOST_RUNS, at + limit + 1);
    const listed: RunsFound['listed'][number][] = [];
    const broken: string[] = [];
    for (const one of place === undefined ? await placesIn(store) : [place]) {
      const found = await call.runs({ store, place: one, all, limit: most, signal });
      listed.push(...found.listed);
      broken.push(...found.broken);
    }
    if (listed.length === 0 && broken.length === 0)
      throw place === undefined
        ? nothingPublished(store, 'nothing')
        : nothingPublished(store, `${place}: nothing`, sourceOf(place));
    const head = { store: shortened(store.location, LONGEST_TEXT) };
    const faults = shownFaults(broken);
    const shown = listed.slice(at).map((each) => showRun(each, call.now()));
    const { fitting, end } = pageOf(shown, { beside: { ...head, data: { runs: [], faults } }, at, limit });
    return { ...head, data: { runs: fitting, faults }, ...end };
  },
});

function showRun({ source, ...listed }: RunsFound['listed'][number], nowMs: number): z.infer<typeof run> {
  // In hours, with one digit.
  const ageHours = Math.round((nowMs - Date.parse(String(listed['startedAt']))) / 360_000) / 10 || 0;
  const shown = run.parse({ ...listed, place: source, ageHours });
  const fault = shown.fault === null ? null : shortened(shown.fault, LONGEST_TEXT);
  return { ...shown, refused: shownFaults(shown.refused), fault };
}
