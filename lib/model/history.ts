import { ifUnchanged, printStoredLine, type Store, updateObject } from '../store/index.ts';
import type { PackedModel } from './compute-model.ts';
import { PACKED_TYPE, pack, unpack } from './packed.ts';
import { hasLinks } from './part-uses.ts';
import { type DayCounts, flagBits, WRONG, wrongFlags } from './rules/flags.ts';
import type { LastRun } from './runs.ts';
import { thingsIn } from './uses-graph.ts';

/**
 * The folder of the history of models, which cannot be computed again. It has two objects for each day: for SQL, how
 * many things had each flag, by owner; for the next model, when each thing became unused or broken. The day is
 * when the newest run of calculations or cards began, not when the model was computed.
 */
export const HISTORY_FOLDER = 'model/history/';
const rowsKey = (day: string) => `${HISTORY_FOLDER}${day}.json`;
const stateKey = (day: string) => `${HISTORY_FOLDER}_${day}.packed`;

/**
 * For each node, since when it has been unused or broken: the start of the first run that showed it so, in epoch
 * seconds; 0 if it is not unused or broken.
 */
type Since = Readonly<Record<'unused' | 'broken', Uint32Array>>;

/** A model with its history: `since`, and the counts of all days, the oldest first. */
export type DatedModel = PackedModel & { readonly since: Since; readonly days: readonly DayCounts[] };

const KINDS = ['calculations', 'cards'] as const;

/**
 * What is stored for the next model: `since` by the ids of things, so that it does not depend on the version of the
 * rules; the runs of the model, by place; and the counts of all days.
 */
type State = Readonly<Record<(typeof KINDS)[number], { readonly ids: readonly string[] } & Since>> & {
  readonly version: 1;
  readonly runs: Readonly<Record<string, string>>;
  readonly days: readonly DayCounts[];
};

/** The newest stored state up to a day, skipping damaged ones. `etag`: the etag of this day's state, if it has one. */
async function findState(store: Store, day: string) {
  const keys: string[] = [];
  for await (const { key } of store.list(`${HISTORY_FOLDER}_`)) if (key <= stateKey(day)) keys.push(key);
  let etag: string | undefined;
  for (const key of keys.reverse()) {
    const stored = await store.get(key);
    if (key === stateKey(day)) etag = stored?.etag;
    const state = stored && unpack<State>(stored.body);
    if (state?.version === 1) return { state, etag };
  }
  return { state: undefined, etag };
}

/** When the newest run of calculations or cards started. Flags that are new in this model are dated from then. */
function newestStart(runs: readonly LastRun[]): string | undefined {
  const starts = runs.flatMap(({ source, manifest }) => (hasLinks(source) ? [manifest.startedAt] : []));
  return starts.sort().at(-1);
}

/**
 * Adds the history to a model. Returns the model, and a function that stores the history (`write`). A flag that was
 * already set in the previous state keeps its time.
 */
export async function datedModel(store: Store, computed: PackedModel, runs: readonly LastRun[]) {
  const start = newestStart(runs);
  if (start === undefined) return { model: withoutHistory(computed), write: async () => undefined };
  const day = start.slice(0, 10);
  const { state, etag } = await findState(store, day);
  const since = sinceIn(computed, Math.floor(Date.parse(start) / 1_000), state);
  const counts = countsOf(computed, day);
  const days = [...(state?.days ?? []).filter((each) => each.day < day), counts];
  const model: DatedModel = { ...computed, since, days };
  return { model, write: () => writeDay(store, { model, runs, start, before: { state, etag } }) };
}

const withoutHistory = (computed: PackedModel): DatedModel => {
  const none = new Uint32Array(computed.flags.length);
  return { ...computed, since: { unused: none, broken: none }, days: [] };
};

function sinceIn(
  { flags, uses, ...of }: PackedModel,
  startSeconds: number,
  before: State | undefined,
): Since {
  const { thingAt } = thingsIn(uses.things);
  const since = { unused: new Uint32Array(flags.length), broken: new Uint32Array(flags.length) };
  for (const kind of KINDS)
    for (const [what, bits] of [
      ['unused', flagBits.unused],
      ['broken', WRONG],
    ] as const) {
      const known = new Map<string, number>();
      const { ids = [], [what]: times = [] } = before?.[kind] ?? {};
      for (const [index, id] of ids.entries()) known.set(id, times[index] ?? 0);
      for (const node of of[kind].nodes)
        if (((flags[node] ?? 0) & bits) !== 0)
          since[what][node] = Math.min(known.get(thingAt(node).id) || startSeconds, startSeconds);
    }
  return since;
}

function countsOf({ flags, calculations, cards }: PackedModel, day: string): DayCounts {
  const having = (nodes: Uint32Array, flag: (typeof wrongFlags)[number]) =>
    nodes.reduce((sum, node) => sum + (((flags[node] ?? 0) & flagBits[flag]) === 0 ? 0 : 1), 0);
  const counts = wrongFlags.map((flag) => [
    flag,
    having(calculations.nodes, flag) + having(cards.nodes, flag),
  ]);
  return { day, ...Object.fromEntries(counts) };
}

type DayToWrite = {
  readonly model: DatedModel;
  readonly runs: readonly LastRun[];
  readonly start: string;
  readonly before: Awaited<ReturnType<typeof findState>>;
};

/**
 * Stores the history of a day. Call it before `model/latest.json` moves: if the writer is killed in between, the next
 * writer stores the same bytes. If the stored state is from newer runs, nothing is written.
 */
async function writeDay(store: Store, { model, runs, start, before: { state, etag } }: DayToWrite) {
  const day = start.slice(0, 10);
  const names = runs.map(({ place, manifest }) => [place, manifest.run] as const);
  if (names.some(([place, run]) => run < (state?.runs[place] ?? ''))) return;
  const { since, days } = model;
  const { thingAt } = thingsIn(model.uses.things);
  const ofKind = (kind: (typeof KINDS)[number]) => {
    const nodes = model[kind].nodes.filter((node) => since.unused[node] || since.broken[node]);
    const ids = Array.from(nodes, (node) => thingAt(node).id);
    return {
      ids,
      unused: nodes.map((node) => since.unused[node] ?? 0),
      broken: nodes.map((node) => since.broken[node] ?? 0),
    };
  };
  const next: State = {
    version: 1,
    runs: Object.fromEntries(names),
    days,
    calculations: ofKind('calculations'),
    cards: ofKind('cards'),
  };
  const put = await store.put(stateKey(day), pack(next), {
    contentType: PACKED_TYPE,
    condition: ifUnchanged(etag),
  });
  // If the state was not stored, another writer has stored its own, and will store the rows that belong to it.
  if (put.kind !== 'stored') return;
  const body = Buffer.concat(rowsOf(model, day, Date.parse(start)).map(printStoredLine));
  await updateObject(
    store,
    rowsKey(day),
    (found) => (found === undefined || startOf(found.body) <= Date.parse(start) ? body : undefined),
    { contentType: 'application/x-ndjson' },
  );
}

/** The rows of a day for SQL: for each flag, one that counts all things and has no owner, and one for each owner. */
function rowsOf({ days, owners }: DatedModel, day: string, as_of: number) {
  const all = { owner_id: null, owner_name: null };
  return wrongFlags.flatMap((flag) => [
    { day, flag, ...all, count: days.at(-1)?.[flag] ?? 0, as_of },
    ...owners
      .filter((owner) => owner[flag] > 0)
      .map((owner) => ({
        day,
        flag,
        owner_id: owner.user_id,
        owner_name: owner.name,
        count: owner[flag],
        as_of,
      })),
  ]);
}

/**
 * When the run started that the stored rows belong to, in epoch milliseconds; negative infinity if the rows are
 * damaged.
 */
const startOf = (rows: Buffer): number =>
  Number(/"as_of":(\d+)/.exec(rows.toString('utf8', 0, 1_024))?.[1] ?? Number.NEGATIVE_INFINITY);
