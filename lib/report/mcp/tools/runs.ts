import * as z from 'zod/mini';
import { shortened } from '../../../json/faults.ts';
import { placesIn } from '../../../snapshot/history/places.ts';
import { placeSchema, sourceOf } from '../../../snapshot/keys.ts';
import { sources } from '../../../snapshot/sources/sources.ts';
import { createRoom } from '../bounds.ts';
import type { McpContext, RunsFound, RunsWanted } from '../context.ts';
import { cursorInput, cursorOf, limitInput, listEnd, offsetSchema, readCursor } from '../cursor.ts';
import { withinTime } from '../time-limit.ts';
import { defineTool, READS, ToolError } from '../tool.ts';

/** Without a place, so many of each. */
const NEWEST = 3;
/** The most runs of a place that can be paged through. */
const MOST_RUNS = 2_000;
const LONGEST_TEXT = 300;
const MOST_BROKEN = 5;

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

type ShownRun = z.infer<typeof run>;

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
    limit: limitInput(100, 20),
    cursor: cursorInput,
  }),
  output: z.object({
    store: z.string(),
    data: z.object({ runs: z.array(run), faults: z.array(z.string()) }),
    ...listEnd,
  }),
  async run({ place, all, limit, cursor }, call) {
    const store = await call.store();
    const at = cursor === undefined ? 0 : readCursor(cursor, offsetSchema).at;
    const most = place === undefined ? NEWEST : Math.min(MOST_RUNS, at + limit + 1);
    const { listed, broken } = await withinTime(
      call.signal,
      (signal) => runsOf({ store, place, all, limit: most, signal }, call),
      { instead: 'ask for one place' },
    );
    if (listed.length === 0 && broken.length === 0) throw nothingThere(store.location, place);
    const faults = broken.slice(0, MOST_BROKEN).map((each) => shortened(each, LONGEST_TEXT));
    const location = shortened(store.location, LONGEST_TEXT);
    const room = createRoom(
      { store: location, data: { runs: [], faults }, nextCursor: 'x'.repeat(200) },
      limit,
    );
    const shown = listed.slice(at).map((each) => showRun(each, call.now()));
    const fitting = shown.filter(room.takes);
    const end = at + fitting.length;
    return {
      store: location,
      data: { runs: fitting, faults },
      ...(end < listed.length ? { isCut: true, nextCursor: cursorOf({ at: end }) } : { isCut: false }),
    };
  },
});

async function runsOf(wanted: RunsWanted, { runs: find }: McpContext): Promise<RunsFound> {
  const listed: RunsFound['listed'][number][] = [];
  const broken: string[] = [];
  for (const place of wanted.place === undefined ? await placesIn(wanted.store) : [wanted.place]) {
    const found = await find({ ...wanted, place });
    listed.push(...found.listed);
    broken.push(...found.broken);
  }
  return { listed, broken };
}

const nothingThere = (location: string, place: string | undefined) =>
  new ToolError(
    `${place ?? 'nothing'}${place === undefined ? '' : ': nothing'} has been published in ${location}: check SYNC_STORE, or take a snapshot with platform-sync snapshot ${place === undefined ? 'calculations' : sourceOf(placeSchema.parse(place))}`,
  );

function showRun(
  { source, durationMs: _, ...listed }: Readonly<Record<string, unknown>>,
  nowMs: number,
): ShownRun {
  const shown = run.parse({ ...listed, place: source, ageHours: ageOf(listed['startedAt'], nowMs) });
  return {
    ...shown,
    refused: shown.refused.slice(0, MOST_BROKEN).map((each) => shortened(each, LONGEST_TEXT)),
    fault: shown.fault === null ? null : shortened(shown.fault, LONGEST_TEXT),
  };
}

/** In hours, with one digit. */
const ageOf = (startedAt: unknown, nowMs: number): number =>
  Math.round((nowMs - Date.parse(String(startedAt))) / 360_000) / 10 || 0;
