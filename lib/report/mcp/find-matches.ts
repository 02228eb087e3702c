import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { shortened } from '../../json/faults.ts';
import type { LastRun } from '../../model/stored/last-runs.ts';
import { createLineField } from '../../snapshot/changes/line-field.ts';
import { sourceDefinitions, sources } from '../../snapshot/sources/sources.ts';
import type { Store } from '../../store/store.ts';
import { countDatasets } from './count-datasets.ts';
import { recordsIn } from './stored-records.ts';
import { ToolError } from './tool.ts';

/** What can be searched: the sources, and the datasets that their records name, since the platform lists none. */
export const SEARCHED = [...sources, 'datasets'] as const;

type Searched = (typeof SEARCHED)[number];

/** A record or dataset that was found. `key` and `label` are shortened where they are very long. */
export type Match = {
  readonly source: Searched;
  readonly place: string;
  readonly key: string;
  readonly label: string;
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

/** What matches, run by run and in the order of the parts, and then the datasets by their ids. */
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
  const stages: readonly (LastRun | 'datasets')[] = [
    ...(source === 'datasets' ? [] : runs),
    ...(source === undefined || source === 'datasets' ? ['datasets' as const] : []),
  ];
  const first = stages.findIndex((stage) => from === undefined || placeOf(stage) === from.place);
  for (const stage of stages.slice(Math.max(0, first))) {
    const start = { place: placeOf(stage), at: placeOf(stage) === from?.place ? from.at : 0, runs: named };
    yield* stage === 'datasets' ? inDatasets(search, start) : inRun(stage, search, start);
  }
}

const placeOf = (stage: LastRun | 'datasets'): string => (stage === 'datasets' ? stage : stage.place);

async function* inRun(run: LastRun, search: Search, start: Position): AsyncGenerator<Finding> {
  const { source, place, manifest } = run;
  const labelOf = createLineField(sourceDefinitions[source].records.label);
  const untilMs = search.now() + LONGEST_MS;
  const { parts, skipped } = withoutFirst(manifest.parts, start.at);
  let at = skipped;
  for await (const { key, reader } of recordsIn(parts, { ...search, source })) {
    at += 1;
    if (at <= start.at) continue;
    const position = { ...start, at: at - 1 };
    if (at % RECORDS_A_LOOK === 0 && at > start.at + RECORDS_A_LOOK && search.now() > untilMs)
      return yield { match: undefined, position };
    const found = labelOf(reader);
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

async function* inDatasets(search: Search, start: Position): AsyncGenerator<Finding> {
  const counts = await countDatasets(search, (id) => holdsAll(id, search.words));
  const ids = [...counts.keys()].sort();
  for (const [at, id] of ids.entries()) {
    if (at < start.at) continue;
    const { cards = 0, calculations = 0 } = counts.get(id) ?? {};
    const label = `${cards} cards, ${calculations} calculations`;
    yield {
      match: matchOf({ source: 'datasets', place: 'datasets', key: id, label }),
      position: { ...start, at },
    };
  }
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
