import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import {
  asText,
  columnsOfRuns,
  type Dataset,
  groupsOf,
  type LastRun,
  type Owner,
  openModel,
} from '../../../model/index.ts';
import { recordKey } from '../../../snapshot/changes/record-key.ts';
import { sourceDefinitions, sources } from '../../../snapshot/sources/sources.ts';
import { defineList } from '../pages.ts';
import { publishedOf, shownRuns } from '../published.ts';
import { described, oneOf, type ToolCall, ToolError, textInput } from '../tool.ts';

/** What the model finds in records, since the platform lists none. */
const MODELLED = ['datasets', 'owners'] as const;

const SEARCHED = [...sources, ...MODELLED] as const;

const isModelled = (source: string | undefined): boolean => MODELLED.some((table) => table === source);

type Match = {
  readonly source: (typeof SEARCHED)[number];
  readonly place: string;
  readonly key: string;
  readonly label: string;
  /** Of a dataset or an owner. */
  readonly counts?: Readonly<Record<string, number>>;
};

/** `search`: records by the text that people know them by. */
export const search = defineList({
  title: 'Search names and ids',
  description:
    'Finds calculations, files, cards, data files, datasets and owners of the last published snapshots by name, title, path or id; of datasets and owners also what the model counts: how many use a dataset, what an owner has and what is wrong with it. Faults are what is damaged and was not searched. The keys that it returns are for get and where_used. Formulas are not searched: the platform lists none.',
  input: {
    text: described(
      textInput('text of at most 500 characters', 500),
      'words that all occur in the name, title, path or id; upper and lower case are the same; "" finds all',
    ),
    source: described(z.optional(oneOf(SEARCHED)), 'only one source'),
  },
  list: 'matches',
  instead: 'search one source, or use the tool query',
  async run({ text, source }, { at, most, from }, call) {
    const wanted = sources.filter((each) => isModelled(source) || each === (source ?? each));
    const { runs, faults } = await publishedOf(await call.store(), wanted);
    const named = runs.map(({ place, manifest }) => `${place} ${manifest.run}`).join('\n');
    const position = { runs: hash('sha256', named).slice(0, 16) };
    if (from !== undefined && from['runs'] !== position.runs)
      throw new ToolError(
        'cursor: expected one of the runs that are the last now, got one of earlier runs: search again without it',
      );
    const found: Match[] = [];
    for await (const each of matchesOf({ text, runs: isModelled(source) ? [] : runs, source }, call)) {
      found.push(each);
      if (found.length >= most) break;
    }
    return {
      head: { searched: shownRuns(runs.map(({ place, manifest }) => ({ ...manifest, place }))) },
      data: { faults },
      items: found.slice(at),
      position,
    };
  },
});

type Search = {
  readonly text: string;
  readonly runs: readonly LastRun[];
  readonly source: Match['source'] | undefined;
};

/** What matches, run by run and in the order of the parts, and then the datasets and owners by their ids. */
async function* matchesOf({ text, runs, source }: Search, call: ToolCall): AsyncGenerator<Match> {
  const words = plain(text).split(/\s+/).filter(Boolean);
  const isFound = ({ key, label }: Pick<Match, 'key' | 'label'>) => {
    const searched = words.length === 0 ? '' : plain(`${key} ${label}`);
    return words.every((word) => searched.includes(word));
  };
  for (const run of runs)
    for await (const each of namesIn(run, call))
      if (isFound(each)) yield { source: run.source, place: run.place, ...each };
  for (const table of MODELLED.filter((each) => source === undefined || source === each)) {
    const { model } = await openModel({ ...call, store: await call.store() });
    const rows: readonly (Dataset | Owner)[] = table === 'datasets' ? model.datasets : model.owners;
    for (const each of rows.map(rowOf).toSorted((a, b) => (a.key < b.key ? -1 : 1)))
      if (isFound(each)) yield { source: table, place: table, ...each };
  }
}

const plain = (text: string): string => text.normalize('NFC').toLowerCase();

/** The keys and labels of a run's records, by the columns of its parts. */
async function* namesIn(run: LastRun, { store, signal }: Pick<ToolCall, 'store' | 'signal'>) {
  const { key: rule, label } = sourceDefinitions[run.source].records;
  const columns = columnsOfRuns({ store: await store(), runs: [run], signal });
  for await (const { group } of groupsOf(columns[run.source])) {
    signal.throwIfAborted();
    const read = (name: string) => group.texts(name.toLowerCase(), asText);
    const labels = await read(label);
    const parts: (readonly [string, (row: number) => string | null])[] = [];
    for (const name of [...(rule.owner ?? []), rule.id]) parts.push([name, await read(name)]);
    for (let row = 0; row < group.rows; row += 1) {
      const key = recordKey(rule, Object.fromEntries(parts.map(([name, texts]) => [name, texts(row)])));
      if (key !== undefined) yield { key, label: labels(row) ?? '' };
    }
  }
}

/** A dataset or an owner: whatever the model counted, by the names of its columns. */
function rowOf(row: Dataset | Owner) {
  const counts = Object.entries(row).flatMap(([column, count]) =>
    typeof count === 'number' && column !== 'node' ? [[column, count] as const] : [],
  );
  const [key, label] = 'user_id' in row ? [row.user_id, row.name ?? ''] : [row.dataset_id, ''];
  return { key, label, counts: Object.fromEntries(counts) };
}
