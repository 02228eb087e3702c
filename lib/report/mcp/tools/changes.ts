import * as z from 'zod/mini';
import { shortened } from '../../../json/faults.ts';
import { type Change, fieldsOf } from '../../../snapshot/changes/change.ts';
import { changesBetween } from '../../../snapshot/changes/changes-between.ts';
import { describeChanges } from '../../../snapshot/changes/describe-changes.ts';
import { publishedRuns } from '../../../snapshot/changes/published-runs.ts';
import { findRunPair } from '../../../snapshot/changes/run-pair.ts';
import { type Place, placeSchema, sourceOf } from '../../../snapshot/keys.ts';
import type { Manifest } from '../../../snapshot/manifest.ts';
import { type Source, sourceDefinitions, sources } from '../../../snapshot/sources/sources.ts';
import type { Store } from '../../../store/store.ts';
import { createRoom } from '../bounds.ts';
import { cursorInput, cursorOf, limitInput, listEnd, readCursor } from '../cursor.ts';
import { readFields } from '../record-fields.ts';
import { withinTime } from '../time-limit.ts';
import { defineTool, READS, type ToolCall, ToolError } from '../tool.ts';

/** A value of a field that is longer is cut. */
const LONGEST_VALUE = 1_000;
const MOST_FIELDS = 20;
const LONGEST_NAME = 200;
/** For records that are not in order. */
const MEMORY_BYTES = 128_000_000;

const positionSchema = z.strictObject({
  old: z.string(),
  new: z.string(),
  at: z.number().check(z.int(), z.gte(0)),
});

const runInput = z.optional(
  z.string({ error: 'the name of a run' }).check(z.maxLength(100, { error: 'the name of a run' })),
);

const value = z.nullable(z.string());

const changeShape = z.object({
  change: z.enum(['added', 'removed', 'changed']),
  key: z.string(),
  label: z.string(),
  words: z.array(z.string()),
  fields: z
    .array(z.object({ name: z.string(), before: value, after: value }))
    .check(z.describe('what differs, as the text of its JSON; null where it is absent')),
});

type ShownChange = z.infer<typeof changeShape>;

const input = z.strictObject({
  place: z
    .optional(placeSchema)
    .check(z.describe(`one of ${sources.join(', ')}, or SOURCE.NAME; default: calculations`)),
  old: runInput,
  new: runInput,
  limit: limitInput(100, 20),
  cursor: cursorInput,
});

/** `changes`: what differs between two published runs. */
export const changes = defineTool({
  title: 'What changed',
  description:
    'Lists what changed in the last published run of a place, or between two published runs: records added, removed and changed, each in words and as JSON by field. The tool runs lists the runs.',
  annotations: READS,
  input,
  output: z.object({
    place: z.string(),
    old: z.nullable(z.string()).check(z.describe('null: nothing was published before')),
    new: z.string(),
    counts: z.optional(z.object({ added: z.number(), removed: z.number(), changed: z.number() })),
    data: z.object({ changes: z.array(changeShape) }),
    ...listEnd,
  }),
  async run({ place = 'calculations', old, new: now, limit, cursor }, call) {
    const store = await call.store();
    const from = cursor === undefined ? undefined : readCursor(cursor, positionSchema);
    return await withinTime(
      call.signal,
      async (signal) => {
        const found = await openChanges({
          store,
          place,
          old: from?.old ?? old,
          now: from?.new ?? now,
          signal,
        });
        return await pageOf(found, { place, limit, at: from?.at ?? 0 });
      },
      { instead: `run: platform-sync diff ${place}` },
    );
  },
});

type Wanted = Pick<ToolCall, 'signal'> & {
  readonly store: Store;
  readonly place: Place;
  readonly old: string | undefined;
  readonly now: string | undefined;
};

async function openChanges({ store, place, old, now, signal }: Wanted) {
  const runs = await publishedRuns(store, place, { signal });
  if (runs.length === 0)
    throw new ToolError(
      `nothing of ${place} has been published in ${store.location}: check SYNC_STORE, or take a snapshot with platform-sync snapshot ${sourceOf(place)}`,
    );
  const pair = await findRunPair({ store, place, runs, old, now });
  if (pair.kind === 'unknown-run') {
    const named = runs.slice(0, 10).map(({ run }) => run);
    throw new ToolError(`${place}: expected a published run (${named.join(', ')} …), got ${pair.run}`);
  }
  const { before, after } = pair;
  const between = await changesBetween({ store, place, before, after, memoryBytes: MEMORY_BYTES, signal });
  return { ...between, after };
}

type Page = { readonly place: Place; readonly limit: number; readonly at: number };

async function pageOf(
  { old, steps, isStored, after }: Awaited<ReturnType<typeof openChanges>>,
  { place, limit, at }: Page,
) {
  const counts = isStored ? countsOf(after) : undefined;
  const head = { place, old, new: after.run, ...(counts === undefined ? {} : { counts }) };
  const listed: ShownChange[] = [];
  if (steps === undefined || old === null) return { ...head, data: { changes: listed }, isCut: false };
  let room = createRoom({ ...head, data: { changes: [] }, nextCursor: 'x'.repeat(400) }, limit);
  let seen = 0;
  for await (const step of steps) {
    if (step.change === 'restart') {
      listed.length = 0;
      seen = 0;
      room = createRoom({ ...head, data: { changes: [] }, nextCursor: 'x'.repeat(400) }, limit);
      continue;
    }
    seen += 1;
    if (seen <= at) continue;
    const shown = showChange(sourceOf(place), step, room.couldTake);
    if (!room.takes(shown))
      return {
        ...head,
        data: { changes: listed },
        isCut: true,
        nextCursor: cursorOf({ old, new: after.run, at: seen - 1 }),
      };
    listed.push(shown);
  }
  return { ...head, data: { changes: listed }, isCut: false };
}

function countsOf({ changes: stored }: Manifest) {
  if (stored === null) return undefined;
  const { added, removed, changed } = stored;
  return { added, removed, changed };
}

function showChange(source: Source, change: Change, fits: (item: unknown) => boolean): ShownChange {
  const label = fieldsOf('after' in change ? change.after : change.before).get(
    sourceDefinitions[source].records.label,
  );
  const head = {
    change: change.change,
    key: shortened(change.key, LONGEST_NAME),
    label: typeof label === 'string' ? shortened(label, LONGEST_NAME) : '',
  };
  const whole = { ...head, words: [...describeChanges(source, [change])], fields: differing(change) };
  if (fits(whole)) return whole;
  return { ...head, words: [`${change.change}: too large to show; see platform-sync diff`], fields: [] };
}

function differing(change: Change): ShownChange['fields'] {
  if (change.change !== 'changed') return [];
  const [before, after] = [readFields(change.before), readFields(change.after)];
  return change.fields.slice(0, MOST_FIELDS).map((name) => ({
    name: shortened(name, LONGEST_NAME),
    before: shownValue(before.get(name)),
    after: shownValue(after.get(name)),
  }));
}

const shownValue = (text: string | undefined): string | null =>
  text === undefined ? null : shortened(text, LONGEST_VALUE);
