import * as z from 'zod/mini';
import { printExact } from '../../../base/json/index.ts';
import {
  columnsOfRuns,
  describedRecords,
  hasLinks,
  type LastRun,
  lastRuns,
  type Model,
  openModel,
} from '../../../model/index.ts';
import { canonicalId, flagBits, flagsOf } from '../../../model/rules/index.ts';
import { fieldsOf, findRecords } from '../../../snapshot/history/index.ts';
import { type Source, sourceDefinitions, sources } from '../../../snapshot/sources/index.ts';
import type { Store } from '../../../store/index.ts';
import { bytesOf, MAX_RESULT_BYTES } from '../answer.ts';
import {
  defineList,
  defineTool,
  described,
  nothingPublished,
  oneOf,
  type ToolCall,
  ToolError,
  textInput,
} from '../tool.ts';

/** A thing that the model counts but that has no records. */
type Counted = Model['datasets'][number] | Model['owners'][number];

/** The tables that come from the model, since the platform does not list these things. */
const MODEL_TABLES = ['datasets', 'owners'] as const;

const SEARCHED = [...sources, ...MODEL_TABLES] as const;

const isModelled = (source: string | undefined): boolean => MODEL_TABLES.some((table) => table === source);

/** The last published runs of these sources. Throws `ToolError` if they have none. */
async function publishedOf(store: Store, wanted: readonly Source[]): Promise<readonly LastRun[]> {
  const { runs } = await lastRuns(store, wanted);
  if (runs.length === 0) throw nothingPublished(store, `nothing of ${wanted.join(', ')}`, wanted[0]);
  return runs;
}

/** `search`: finds records by name, title, path or id. */
export const search = defineList({
  title: 'Search names and ids',
  description:
    'Finds calculations, files, cards, data files, datasets and owners of the last published snapshots by name, title, path or id. For a dataset it also returns how many things use it; for an owner, what they have and what is wrong with it. The keys that it returns are for get and where_used. Formulas are not searched, since the platform does not list them.',
  input: {
    text: described(
      textInput('a string of at most 500 characters', 500),
      'words that all occur in the name, title, path or id; case does not matter; "" finds all',
    ),
    source: described(z.optional(oneOf(SEARCHED)), 'only one source'),
  },
  list: 'matches',
  instead: 'search one source, or use the tool query',
  async run({ text, source }, { at, max }, call) {
    const wanted = sources.filter((each) => isModelled(source) || each === (source ?? each));
    const runs = await publishedOf(await call.store(), wanted);
    const matches = matchesOf({ text, source, runs: isModelled(source) ? [] : runs }, call);
    const found: unknown[] = [];
    for await (const each of matches) if (found.push(each) >= max) break;
    return {
      items: found.slice(at),
      data: { searched: runs.map(({ place, manifest: { run, records } }) => ({ place, run, records })) },
      listId: runs.map(({ place, manifest }) => `${place} ${manifest.run}`).join('\n'),
    };
  },
});

/** Yields the matches: first records, run by run in the order of the parts, then datasets and owners by id. */
async function* matchesOf(
  {
    text,
    runs,
    source,
  }: {
    readonly text: string;
    readonly runs: readonly LastRun[];
    readonly source: (typeof SEARCHED)[number] | undefined;
  },
  call: ToolCall,
) {
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
  for (const table of MODEL_TABLES.filter((each) => source === undefined || source === each)) {
    const { model } = await openModel({ ...call, store });
    const rows: readonly Counted[] = table === 'datasets' ? model.datasets : model.owners;
    for (const each of rows.map(rowOf).toSorted((a, b) => (a.key < b.key ? -1 : 1)))
      if (isFound(each.key, each.label)) yield { source: table, place: table, ...each };
  }
}

const plain = (text: string): string => text.normalize('NFC').toLowerCase();

/** A dataset or an owner as a match, with the model's counts. */
function rowOf(row: Counted) {
  const counts = Object.entries(row).flatMap(([column, count]) =>
    typeof count === 'number' && column !== 'node' ? [[column, count] as const] : [],
  );
  const [key, label] = 'user_id' in row ? [row.user_id, row.name ?? ''] : [row.dataset_id, ''];
  return { key, label, counts: Object.fromEntries(counts) };
}

/** Maximum records to return for an id: a card has one for each dataset that it uses, a file for each FileSet. */
const MAX_RECORDS = 20;

/** Maximum bytes of a record in a result. If a record is larger, `tooLarge` says how to read it. */
const MAX_BYTES = MAX_RESULT_BYTES - 5_000;

/** `get`: returns a record as it was stored. */
export const get = defineTool({
  title: 'Get a record',
  description:
    'Returns a calculation, file, card or data file of the last published snapshots, byte for byte as the platform sent it, by its id or key (OWNER/ID as search returns it): as a string of JSON (null if too large: see tooLarge). With fields: only these top-level fields, each as a string of JSON. Flags are what is wrong or odd about a calculation or card, such as unused.',
  input: z.strictObject({
    source: oneOf(sources),
    id: described(
      textInput('an id or key, as a string', 2_000).check(z.minLength(1, { error: 'an id or key' })),
      'the id, or OWNER/ID; a string, even where the platform has a number',
    ),
    fields: z.optional(
      z
        .array(z.string({ error: 'text' }), { error: 'a list of names' })
        .check(z.maxLength(50, { error: 'at most 50 names' })),
    ),
  }),
  instead: 'use the tool query',
  async run({ source, id, fields }, call) {
    const runs = await publishedOf(await call.store(), [source]);
    const records: object[] = [];
    const flagsAt = await flagsIn(source, call);
    for await (const line of linesIn(runs, id, call)) {
      if (records.push({ ...describeRecord(line, fields), ...flagsAt(line.key) }) > MAX_RECORDS) break;
    }
    if (records.length > 0)
      return { data: { records: records.slice(0, MAX_RECORDS) }, isCut: records.length > MAX_RECORDS };
    const searched = runs.map(({ place, manifest }) => `run ${manifest.run} of ${place}`).join(', ');
    throw new ToolError(
      `${source}: no record with the id ${JSON.stringify(id)} in ${searched}: use search to find its key`,
    );
  },
});

/**
 * Returns a function that finds the model's flags of a record, given its key; no flags if its source has none in the
 * model.
 */
async function flagsIn(source: Source, { store, now, signal }: ToolCall) {
  if (!hasLinks(source)) return () => ({});
  const { model } = await openModel({ store: await store(), now, signal });
  const kind = source === 'cards' ? 'card' : 'calculation';
  return (key: string) => {
    const id = canonicalId(key.slice(key.lastIndexOf('/') + 1)) ?? '';
    const bits = model.flags[model.things.find({ kind, id }) ?? -1] ?? 0;
    return { flags: flagsOf[kind].filter((flag) => (bits & flagBits[flag]) !== 0) };
  };
}

type Line = { readonly run: LastRun; readonly key: string; readonly text: string };

/** The records of these runs with this key, or with this id under any owner. */
async function* linesIn(runs: readonly LastRun[], id: string, call: ToolCall): AsyncGenerator<Line> {
  const store = await call.store();
  const { signal } = call;
  for (const run of runs) {
    const { source, manifest } = run;
    for await (const found of findRecords({ store, source, manifest, id, signal })) yield { run, ...found };
  }
}

const MAX_KEY_LENGTH = 1_000;
const MAX_NAMES = 100;

/** A record as the tool returns it, or only its requested fields; if it does not fit, what to request instead. */
function describeRecord({ run, key, text }: Line, fields?: readonly string[]) {
  const { place, manifest } = run;
  const about = {
    place,
    run: manifest.run,
    key: key.slice(0, MAX_KEY_LENGTH),
    bytes: Buffer.byteLength(text),
  };
  const known = new Map([...fieldsOf(text)].map(([name, value]) => [name, printExact(value)]));
  const found = fields && Object.fromEntries(fields.map((name) => [name, known.get(name) ?? null]));
  const shown = { ...about, ...(found ? { record: null, fields: found } : { record: text }) };
  if (bytesOf(shown) < MAX_BYTES) return shown;
  const names = [...known]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .slice(0, MAX_NAMES)
    .map(([name, value]) => `${name.slice(0, 60)} (${Buffer.byteLength(value)} bytes)`);
  const from = `${place.replaceAll(/[-.]/g, '_')} WHERE ${sourceDefinitions[run.source].records.key.id} = 'ID'`;
  return {
    ...about,
    record: null,
    tooLarge: `the record has ${about.bytes} bytes, more than a result can have; ask for some of its fields: ${names.join(', ')}; or run: platform-sync query --json "SELECT * FROM ${from}"`,
  };
}
