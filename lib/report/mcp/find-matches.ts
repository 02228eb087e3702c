import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { shortened } from '../../json/faults.ts';
import { type LastRun, type ModelRow, modelRows } from '../../model/index.ts';
import { createRecordFields } from '../../snapshot/changes/record-fields.ts';
import { sourceDefinitions, sources } from '../../snapshot/sources/sources.ts';
import type { Store } from '../../store/store.ts';
import { recordsIn } from './stored-records.ts';
import { ToolError } from './tool.ts';

/** What the model finds in records, since the platform lists none. */
const MODELLED = ['datasets', 'owners'] as const;

/** What can be searched. */
export const SEARCHED = [...sources, ...MODELLED] as const;

/** True of what only the model has. */
export const isModelled = (source: Searched | undefined): source is (typeof MODELLED)[number] =>
  MODELLED.some((table) => table === source);

type Searched = (typeof SEARCHED)[number];

/** A record or dataset that was found. `key` and `label` are shortened where they are very long. */
export type Match = {
  readonly source: Searched;
  readonly place: string;
  readonly key: string;
  readonly label: string;
  /** Of a dataset or an owner: how many there are of what. */
  readonly counts?: Readonly<Record<string, number>>;
};

/** Where a search continues. */
export const matchPosition = z.strictObject({
  place: z.string(),
  /** How many records of the place come before. */
  at: z.number().check(z.int(), z.gte(0)),
  /** Names the runs in which that was counted. */
  runs: z.string(),
});

type Position = z.infer<typeof matchPosition>;

/** What was found, and where; without a match, the search takes too long for one call and continues there. */
type Finding = { readonly match: Match | undefined; readonly position: Position };

export type Search = {
  readonly store: Store;
  readonly runs: readonly LastRun[];
  /** Default: all. */
  readonly source: Searched | undefined;
  readonly from: Position | undefined;
  readonly words: readonly string[];
  readonly now: () => number;
  readonly signal: AbortSignal;
};

/** How long the records of runs are searched in one call. */
const LONGEST_MS = 10_000;
const RECORDS_A_LOOK = 2_000;
const LONGEST_KEY = 1_000;
const LONGEST_LABEL = 400;

const plain = (text: string): string => text.normalize('NFC').toLowerCase();

/** The words of a search. */
export const wordsOf = (text: string): readonly string[] => plain(text).split(/\s+/).filter(Boolean);

/** What matches, run by run and in the order of the parts, and then the datasets and owners by their ids. */
export async function* findMatches(search: Search): AsyncGenerator<Finding> {
  const { runs, source, from } = search;
  const named = hash(
    'sha256',
    runs.map(({ place, manifest }) => `${place} ${manifest.run}`).join('\n'),
  ).slice(0, 16);
  if (from !== undefined && from.runs !== named)
    throw new ToolError(
      'cursor: expected one of the runs that are the last now, got one of earlier runs: search again without it',
    );
  const tables = MODELLED.filter((table) => source === undefined || source === table);
  const stages: readonly Stage[] = [...(isModelled(source) ? [] : runs), ...tables];
  const first = stages.findIndex((stage) => from === undefined || placeOf(stage) === from.place);
  for (const stage of stages.slice(Math.max(0, first))) {
    const start = { place: placeOf(stage), at: placeOf(stage) === from?.place ? from.at : 0, runs: named };
    yield* typeof stage === 'string' ? inModel(stage, search, start) : inRun(stage, search, start);
  }
}

type Stage = LastRun | (typeof MODELLED)[number];

const placeOf = (stage: Stage): string => (typeof stage === 'string' ? stage : stage.place);

async function* inRun(run: LastRun, search: Search, start: Position): AsyncGenerator<Finding> {
  const { source, place, manifest } = run;
  const { label: field } = sourceDefinitions[source].records;
  const readFields = createRecordFields([field]);
  const untilMs = search.now() + LONGEST_MS;
  const { parts, skipped } = withoutFirst(manifest.parts, start.at);
  let at = skipped;
  for await (const { key, reader } of recordsIn(parts, { ...search, source })) {
    at += 1;
    if (at <= start.at) continue;
    const position = { ...start, at: at - 1 };
    if (at % RECORDS_A_LOOK === 0 && at > start.at + RECORDS_A_LOOK && search.now() > untilMs)
      return yield { match: undefined, position };
    const found = readFields(reader)[field];
    const label = typeof found === 'string' ? found : '';
    if (holdsAll(`${key} ${label}`, search.words))
      yield { match: matchOf({ source, place, key, label }), position };
  }
}

/** The parts after those that hold nothing but the first records. */
function withoutFirst(parts: LastRun['manifest']['parts'], records: number) {
  let skipped = 0;
  const from = parts.findIndex((part) => {
    if (skipped + part.records > records) return true;
    skipped += part.records;
    return false;
  });
  return { parts: from < 0 ? [] : parts.slice(from), skipped };
}

async function* inModel(
  table: (typeof MODELLED)[number],
  search: Search,
  start: Position,
): AsyncGenerator<Finding> {
  const rows = await modelRows({ ...search, addFault: () => undefined }, table);
  const found = rows
    .map(matchOfRow)
    .filter(({ key, label }) => holdsAll(`${key} ${label}`, search.words))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
  for (const [at, match] of found.entries())
    if (at >= start.at)
      yield { match: matchOf({ source: table, place: table, ...match }), position: { ...start, at } };
}

/** A dataset or an owner: whatever the model counted, by the names of its columns. */
function matchOfRow({ dataset_id, user_id, name, ...others }: ModelRow) {
  const counts = Object.entries(others).flatMap(([column, count]) =>
    typeof count === 'number' ? [[column, count] as const] : [],
  );
  const key = String(dataset_id ?? user_id);
  return { key, label: typeof name === 'string' ? name : '', counts: Object.fromEntries(counts) };
}

function holdsAll(text: string, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const searched = plain(text);
  return words.every((word) => searched.includes(word));
}

const matchOf = ({ key, label, ...match }: Match): Match => ({
  ...match,
  key: shortened(key, LONGEST_KEY),
  label: shortened(label, LONGEST_LABEL),
});
