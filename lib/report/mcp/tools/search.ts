import * as z from 'zod/mini';
import {
  columnsOfRuns,
  type Dataset,
  describedRecords,
  type LastRun,
  type Owner,
  openModel,
} from '../../../model/index.ts';
import { sources } from '../../../snapshot/sources/sources.ts';
import { defineList, described, oneOf, publishedOf, type ToolCall, textInput } from '../tool.ts';

/** What the model finds in records, since the platform lists none. */
const MODELLED = ['datasets', 'owners'] as const;

const SEARCHED = [...sources, ...MODELLED] as const;

const isModelled = (source: string | undefined): boolean => MODELLED.some((table) => table === source);

/** `search`: records by the text that people know them by. */
export const search = defineList({
  title: 'Search names and ids',
  description:
    'Finds calculations, files, cards, data files, datasets and owners of the last published snapshots by name, title, path or id; of datasets and owners also what the model counts: how many use a dataset, what an owner has and what is wrong with it. The keys that it returns are for get and where_used. Formulas are not searched: the platform lists none.',
  input: {
    text: described(
      textInput('text of at most 500 characters', 500),
      'words that all occur in the name, title, path or id; upper and lower case are the same; "" finds all',
    ),
    source: described(z.optional(oneOf(SEARCHED)), 'only one source'),
  },
  list: 'matches',
  instead: 'search one source, or use the tool query',
  async run({ text, source }, { at, most }, call) {
    const wanted = sources.filter((each) => isModelled(source) || each === (source ?? each));
    const runs = await publishedOf(await call.store(), wanted);
    const matches = matchesOf({ text, source, runs: isModelled(source) ? [] : runs }, call);
    const found: unknown[] = [];
    for await (const each of matches) if (found.push(each) >= most) break;
    return {
      items: found.slice(at),
      data: { searched: runs.map(({ place, manifest: { run, records } }) => ({ place, run, records })) },
      over: runs.map(({ place, manifest }) => `${place} ${manifest.run}`).join('\n'),
    };
  },
});

type Search = {
  readonly text: string;
  readonly runs: readonly LastRun[];
  readonly source: (typeof SEARCHED)[number] | undefined;
};

/** What matches, run by run and in the order of the parts, and then the datasets and owners by their ids. */
async function* matchesOf({ text, runs, source }: Search, call: ToolCall) {
  const words = plain(text).split(/\s+/).filter(Boolean);
  const isFound = (key: string, label: string) => {
    const searched = words.length === 0 ? '' : plain(`${key} ${label}`);
    return words.every((word) => searched.includes(word));
  };
  const store = await call.store();
  for (const run of runs)
    for await (const records of describedRecords(columnsOfRuns({ ...call, store, runs: [run] })))
      for (const { source: of, key, name } of records)
        if (key !== undefined && isFound(key, name ?? ''))
          yield { source: of, place: run.place, key, label: name ?? '' };
  for (const table of MODELLED.filter((each) => source === undefined || source === each)) {
    const { model } = await openModel({ ...call, store });
    const rows: readonly (Dataset | Owner)[] = table === 'datasets' ? model.datasets : model.owners;
    for (const each of rows.map(rowOf).toSorted((a, b) => (a.key < b.key ? -1 : 1)))
      if (isFound(each.key, each.label)) yield { source: table, place: table, ...each };
  }
}

const plain = (text: string): string => text.normalize('NFC').toLowerCase();

/** A dataset or an owner: whatever the model counted, by the names of its columns. */
function rowOf(row: Dataset | Owner) {
  const counts = Object.entries(row).flatMap(([column, count]) =>
    typeof count === 'number' && column !== 'node' ? [[column, count] as const] : [],
  );
  const [key, label] = 'user_id' in row ? [row.user_id, row.name ?? ''] : [row.dataset_id, ''];
  return { key, label, counts: Object.fromEntries(counts) };
}
