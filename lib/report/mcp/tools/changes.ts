import * as z from 'zod/mini';
import type { Change } from '../../../snapshot/changes/change.ts';
import { changesBetween } from '../../../snapshot/changes/changes-between.ts';
import { describeChanges } from '../../../snapshot/changes/describe-changes.ts';
import { publishedRuns } from '../../../snapshot/changes/published-runs.ts';
import { findRunPair } from '../../../snapshot/changes/run-pair.ts';
import { type Place, placeSchema, sourceOf } from '../../../snapshot/keys.ts';
import type { Source } from '../../../snapshot/sources/sources.ts';
import { sources } from '../../../snapshot/sources/sources.ts';
import { shownChange } from '../../collect/changes.ts';
import { createRoom, listEnd, listInput, pageOf, readCursor } from '../pages.ts';
import { nothingPublished } from '../published.ts';
import { defineTool, READS, type ToolCall, ToolError, textInput } from '../tool.ts';

const LIMITS = { fields: 20, value: 1_000 };
/** For records that are not in order. */
const MEMORY_BYTES = 128_000_000;

const runInput = z.optional(textInput('the name of a run', 100));

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

/** `changes`: what differs between two published runs. */
export const changes = defineTool({
  title: 'What changed',
  description:
    'Lists what changed in the last published run of a place, or between two published runs: records added, removed and changed, each in words and as JSON by field. The tool runs lists the runs.',
  annotations: READS,
  input: z.strictObject({
    place: z
      .optional(placeSchema)
      .check(z.describe(`one of ${sources.join(', ')}, or SOURCE.NAME; default: calculations`)),
    old: runInput,
    new: runInput,
    ...listInput,
  }),
  output: z.object({
    place: z.string(),
    old: z.nullable(z.string()).check(z.describe('null: nothing was published before')),
    new: z.string(),
    counts: z.optional(z.object({ added: z.number(), removed: z.number(), changed: z.number() })),
    data: z.object({ changes: z.array(changeShape) }),
    ...listEnd,
  }),
  instead: 'run: platform-sync diff PLACE',
  async run({ place = 'calculations', old, new: now, limit, cursor }, call) {
    const from = cursor === undefined ? undefined : readCursor(cursor, { old: z.string(), new: z.string() });
    const { at, ...pair } = from ?? { at: 0, old, new: now };
    const found = await openChanges(place, pair, call);
    const run = found.after.run;
    const head = { place, old: found.old, new: run, ...(found.isStored && countsOf(found.after.changes)) };
    const beside = { ...head, data: { changes: [] } };
    const { couldTake } = createRoom({ beside, nextCursor: 'x'.repeat(400) }, limit);
    const listed = await firstOf(found.steps, { at, limit }, (change) =>
      showChange(sourceOf(place), change, couldTake),
    );
    const position = { old: found.old, new: run };
    const { fitting, end } = pageOf(listed, { beside, at, limit, position });
    return { ...head, data: { changes: fitting }, ...end };
  },
});

type Pair = { readonly old: string | undefined; readonly new: string | undefined };

async function openChanges(place: Place, { old, new: now }: Pair, call: ToolCall) {
  const { signal } = call;
  const store = await call.store();
  const runs = await publishedRuns(store, place, { signal });
  if (runs.length === 0) throw nothingPublished(store, `nothing of ${place}`, sourceOf(place));
  const pair = await findRunPair({ store, place, runs, old, now });
  if (pair.kind === 'unknown-run') {
    const named = runs.slice(0, 10).map(({ run }) => run);
    throw new ToolError(`${place}: expected a published run (${named.join(', ')} …), got ${pair.run}`);
  }
  const { before, after } = pair;
  const between = await changesBetween({ store, place, before, after, memoryBytes: MEMORY_BYTES, signal });
  return { ...between, after };
}

type Found = Awaited<ReturnType<typeof openChanges>>;

/** One more than a page, from the first that no page before had. */
async function firstOf(
  steps: Found['steps'],
  { at, limit }: { readonly at: number; readonly limit: number },
  show: (change: Change) => ShownChange,
): Promise<readonly ShownChange[]> {
  const listed: ShownChange[] = [];
  let seen = 0;
  for await (const step of steps ?? []) {
    seen += 1;
    if (seen > at) listed.push(show(step));
    if (listed.length > limit) break;
  }
  return listed;
}

function countsOf(stored: Found['after']['changes']) {
  if (stored === null) return {};
  const { added, removed, changed } = stored;
  return { counts: { added, removed, changed } };
}

function showChange(source: Source, change: Change, fits: (item: unknown) => boolean): ShownChange {
  const { fields, ...head } = shownChange(source, change, LIMITS);
  const whole = { ...head, words: [...describeChanges(source, [change])], fields: [...fields] };
  if (fits(whole)) return whole;
  return { ...head, words: [`${change.change}: too large to show; see platform-sync diff`], fields: [] };
}
