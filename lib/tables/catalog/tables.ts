import {
  alternatives,
  epochMoment,
  id,
  moment,
  momentOf,
  number,
  type StoredTypes,
  stored,
  storedId,
  storedTypes,
  storedWord,
  type TableColumns,
  type TableDefinition,
  text,
  word,
} from '../../columns.ts';
import { endStates, jobTypes } from '../../jobs/types/index.ts';
import { type ModelTable, modelColumns, modelTables } from '../../model/index.ts';
import { CANONICAL_DIGITS, wrongFlags } from '../../model/rules/index.ts';
import {
  consistencies,
  isSource,
  type Place,
  type Source,
  sourceDefinitions,
  sourceOf,
  sources,
} from '../../snapshot/sources/index.ts';
import { batchTables, scores } from './batch-tables.ts';
import { tableNames } from './table-names.ts';
import { latestModel, NEEDS_MODEL, type View, viewOf } from './view.ts';

const member = (column: string, name: string) => `json_extract_scalar(${column}, '$.${name}')`;

/** The batch of a job: from its response, or else from its id, since the job of a chunk is named after its batch. */
const BATCH = `coalesce(${member('response', 'batch')}, CASE WHEN type = 'score' AND id LIKE '%.chunk-%' THEN regexp_replace(id, '\\.chunk-[0-9]+$', '') END)`;

const runs = {
  about: 'a published run of any place',
  columns: {
    place: stored('string', 'what was taken: a source, or a narrowed snapshot'),
    source: storedWord('source', sources),
    run: stored('string', 'the name of the run', { guesses: ['id', 'run_id'] }),
    dt: stored('string', 'the day on which it began, as a string', { guesses: ['day', 'date'] }),
    latest: stored('boolean', 'whether it is the latest of its place'),
    started_at: moment(momentOf('startedat'), 'when it began, in UTC'),
    finished_at: moment(momentOf('finishedat'), 'when it had read everything, in UTC'),
    records: stored('bigint', 'how many records it has', { guesses: ['rows', 'count', 'total'] }),
    missing: stored('bigint', 'how many ids could not be read'),
    consistency: storedWord('consistency', consistencies, { guesses: ['status', 'state'] }),
    degraded_pages: stored('bigint', 'how many pages stayed degraded', { guesses: ['degraded'] }),
    against: stored('string', 'the run that it was compared with'),
    added: stored('bigint', 'how many records the other run lacks'),
    removed: stored('bigint', 'how many records of the other run it lacks'),
    changed: stored('bigint', 'how many records differ'),
    parts: stored('bigint', 'how many parts it has'),
    bytes: stored('bigint', 'the size of its parts, compressed'),
    requests: stored('bigint', 'how many requests it took'),
    retries: stored('bigint', 'how many of these were retries'),
    throttled: stored('bigint', 'how many times the platform responded with 429'),
    parquetbytes: stored('bigint', 'the size of its Parquet files; null until they are built'),
    other: stored('bigint', 'how many members of its records are in _other'),
    forced: stored('boolean', 'whether it was published by force'),
    refused: stored('array<string>', 'why it would have been refused, if it was published by force'),
    platform: stored('string', 'the host of the platform'),
    startedat: stored('string', moment(momentOf('startedat'), 'the same as started_at')),
    finishedat: stored('string', moment(momentOf('finishedat'), 'the same as finished_at')),
  },
  guesses: ['snapshots'],
} as const satisfies TableDefinition;

const jobs = {
  about: 'a job that has ended',
  columns: {
    job_id: text('id', 'the id of the job', { guesses: ['job', 'name'] }),
    // The column is not converted, since Athena uses it to skip the folders of other types.
    type: text('type', alternatives(jobTypes), { values: jobTypes }),
    status: storedWord('status', Object.keys(endStates), { guesses: ['state', 'outcome'] }),
    error_kind: text(member('error', 'kind'), 'the kind of the error, if it has one', { guesses: ['kind'] }),
    error_message: text(member('error', 'message'), 'what went wrong, in words', {
      guesses: ['message', 'reason'],
    }),
    batch: text(BATCH, 'the batch that the job scored a chunk of'),
    chunk: number(
      `TRY_CAST(${member('response', 'chunk')} AS bigint)`,
      'the number of the chunk in its batch',
    ),
    attempts: stored('bigint', 'how many times a send was started', { guesses: ['tries', 'retries'] }),
    started_at: moment(momentOf('startedat'), 'when the job was first claimed, in UTC'),
    finished_at: moment(momentOf('finishedat'), 'when it ended, in UTC'),
    id: stored('string', 'the same as job_id'),
    startedAt: stored('string', 'the same as started_at, as a string', {
      moment: 'started_at',
      guesses: ['created_at', 'created'],
    }),
    finishedAt: stored('string', 'the same as finished_at, as a string', {
      moment: 'finished_at',
      guesses: ['ended_at', 'completed_at'],
    }),
    sender: stored('string', 'who sent the message'),
    note: stored('string', 'the note of the user who settled its outcome'),
    error: stored('json', 'the error, as JSON'),
    response: stored('json', 'what the platform returned, as JSON', { guesses: ['result', 'output'] }),
    dt: text('dt', 'the day on which the job was first claimed, as a string', { guesses: ['day', 'date'] }),
  },
  guesses: ['results', 'executions', 'functions', 'failures', 'errors'],
} as const satisfies TableDefinition;

const refused = {
  about: 'a message that could not become a job',
  columns: {
    message_id: text('messageid', 'the id of the message on the queue'),
    sender: stored('string', 'who sent it'),
    sent_at: moment(momentOf('sentat'), 'when it was sent, in UTC'),
    faults: stored('array<string>', 'every reason why it could not become a job'),
    body: stored('string', 'the message'),
    messageId: stored('string', 'the same as message_id'),
    sentAt: stored('string', 'the same as sent_at, as a string', { moment: 'sent_at' }),
  },
} as const satisfies TableDefinition;

const formulaLog = {
  about: 'a formula that platform-sync set',
  columns: {
    calculation_id: id('id', 'the calculation', ['id']),
    modified_at: moment(
      epochMoment('lastmodified'),
      'when platform-sync set it, by the platform’s clock, in UTC',
    ),
    name: stored('string', 'its name then'),
    expression: stored('string', 'its formula from then on', { guesses: ['formula'] }),
    status: storedWord(
      'status',
      'the status in lower case: valid, or any other value that the platform sent',
    ),
    status_sent: text('status', 'the status as the platform sent it', { isWord: true }),
    id: stored('string'),
    lastModified: stored('bigint'),
    importedAt: stored('string'),
  },
  // Imports are in the same folder, but they are not updates.
  from: 'FROM stored_formulas WHERE importedat IS NULL',
} as const satisfies TableDefinition;

const changes = {
  about: 'a record that a published run found added, removed or changed',
  columns: {
    place: text('place', 'what changed: a source, or a narrowed snapshot'),
    dt: text('dt', 'the day of the run that found it'),
    run: text('run', 'the run that found it'),
    change: storedWord('change', ['added', 'removed', 'changed'], {
      guesses: ['type', 'kind', 'action', 'status'],
    }),
    key: storedId(
      'the key of the record: its id, for files after the FileSet and a slash, for cards after the dataset and a slash',
      'id',
      'record_id',
      'calculation_id',
    ),
    name: text(
      `coalesce(${['path', 'name', 'title'].map((each) => member('coalesce(after, before)', each)).join(', ')})`,
      'its path, name or title',
    ),
    fields: stored('array<string>', 'the fields that differ', { guesses: ['field'] }),
    before: stored('json', 'the record before, as JSON'),
    after: stored('json', 'the record after, as JSON'),
  },
  guesses: ['history', 'diff', 'diffs'],
} as const satisfies TableDefinition;

const revisions: TableDefinition = {
  about: 'a revision of a data file, if revisions were requested',
  columns: {
    data_file_id: id('f.datafileid', 'the data file'),
    revision_id: id('r.datafilerevisionid', 'the id of the revision'),
    owner_id: id('r.uploaduserid', 'the id of the user who uploaded it'),
    owner_name: text('name_of_owner', 'the name of that user, if a card gives it'),
    size_bytes: number('r.sizebytes', 'its size in bytes', { guesses: ['size', 'bytes'] }),
    content_type: word('r.contenttype', 'its media type, in lower case'),
    scan_state: word('r.scanstate', 'what its scan found, in lower case'),
    uploaded_at: moment(epochMoment('r.datetimeuploaded'), 'when it was uploaded, in UTC'),
    md5: id('r.md5hash', 'its MD5'),
    sha256: id('r.sha256hashvalue', 'its SHA-256'),
  },
  from: `FROM stored_latest_data_files AS f CROSS JOIN UNNEST(f.revisions)
  AS r (datafilerevisionid, datafileid, contenttype, uploaduserid, sizebytes, uploadtimemillis, md5hash, datetimeuploaded, scanstate, sha256hashvalue)
  LEFT JOIN (SELECT user_id AS id_of_owner, name AS name_of_owner FROM owners) AS of_owner ON id_of_owner = lower(r.uploaduserid)`,
};

const filesets: TableDefinition = {
  about: 'a FileSet of the latest published run of files',
  columns: {
    fileset_id: id('fileset_id', 'the id of the FileSet', ['id', 'fileset']),
    files: number("count(*) FILTER (WHERE coalesce(file_type, '') <> 'directory')", 'how many files it has'),
    directories: number("count(*) FILTER (WHERE file_type = 'directory')", 'how many directories it has', {
      guesses: ['folders'],
    }),
    size_bytes: number('sum(size_bytes)', 'the size of all files together, in bytes', {
      guesses: ['size', 'bytes'],
    }),
  },
  from: 'FROM files GROUP BY fileset_id',
};

const cardDatasets: TableDefinition = {
  about: 'a dataset that a card uses',
  columns: {
    card_id: id('user_id', 'the card'),
    dataset_id: id('used_id', 'a dataset that it uses'),
  },
  from: "FROM uses WHERE user_kind = 'card' AND used_kind = 'dataset'",
};

const modelHistory = {
  about:
    'how many things had a flag on a day, according to the last model of that day: in total, or for one owner',
  columns: {
    day: stored('string', 'the day of the newest run in the model, as a string', {
      guesses: ['dt', 'date'],
    }),
    flag: storedWord('flag', wrongFlags, { guesses: ['kind', 'name'] }),
    owner_id: storedId('the owner; null in the row that counts all things', 'owner', 'user_id'),
    owner_name: stored('string', 'the name of the owner then, if a card gave it'),
    count: stored('bigint', 'how many calculations and cards had the flag', {
      guesses: ['n', 'total', 'things'],
    }),
    as_of: stored('bigint', moment(epochMoment('as_of'), 'when that run began, in UTC')),
  },
  guesses: ['progress', 'trend', 'flag_history'],
} as const satisfies TableDefinition;

/** Shows a table of the latest model. `as`: another name under which the same table is shown. */
const ofModel = (table: ModelTable, as?: string): TableDefinition => ({
  ...modelTables[table],
  ...(as && { about: `${modelTables[table].about}: the same as ${table}`, guesses: [] }),
  from: `FROM ${latestModel(table)} AS model`,
});

/** The tables that belong to no place, in the order in which they are listed. */
const otherTables: Readonly<Record<string, TableDefinition>> = {
  uses: ofModel('uses'),
  links: ofModel('uses', 'links'),
  datasets: ofModel('datasets'),
  owners: ofModel('owners'),
  users: ofModel('owners', 'users'),
  model_history: modelHistory,
  card_datasets: cardDatasets,
  filesets,
  revisions,
  formulas: ofModel('formulas'),
  formula_log: formulaLog,
  jobs,
  refused,
  ...batchTables,
  changes,
  runs,
};

/** The views of the tables that belong to no place. */
export const otherViews: readonly View[] = Object.entries(otherTables).map(([name, table]) =>
  viewOf(name, table),
);

/** SQL for the owners in the model. The names of its columns are used nowhere else. */
const OWNERS = `(SELECT user_id AS id_of_owner, name AS name_of_owner FROM ${latestModel('owners')} AS owners)`;

/** The last columns of every table of records. */
const LAST_COLUMNS: TableColumns = {
  _other: text(
    '_other',
    'the members that have no column or do not fit it, as JSON; null if there are no such members',
  ),
  dt: text('dt', 'the day on which the run began, as a string: 2026-11-21', { guesses: ['day', 'date'] }),
  run: text('run', 'the run of the row', { guesses: ['run_id'] }),
};

/** Whether the model has canonical ids for a source. */
const isFlagged = (source: Source): source is 'calculations' | 'cards' => Object.hasOwn(modelTables, source);

/**
 * SQL for a column of the model while there is no model. Reading it makes the query fail, except in a row for which
 * `known`, a `WHEN … THEN …`, has a value.
 */
const missingColumn = (name: string, type: string, known = ''): string =>
  `CASE ${known}WHEN error('${NEEDS_MODEL}' || left(coalesce(_other, ''), 0)) IS NULL THEN CAST(NULL AS ${type === 'string' ? 'varchar' : type}) END AS ${name}`;

const MISSING_OWNER = missingColumn('name_of_owner', 'string');

/** SQL for the owner's name in tables of all runs: null, since the model covers only the last runs. */
const NO_OWNER_NAME = 'CAST(NULL AS varchar) AS name_of_owner';

/** The two views of a place: of its latest run (`name`), and of all of its runs. */
function recordViews(place: Place, name: string): readonly View[] {
  const source = sourceOf(place);
  const { table, described } = sourceDefinitions[source];
  const { row, guesses = [], columns: own } = table;
  const columns = { ...own, ...LAST_COLUMNS };
  const { owner_name: _, ...unnamed } = columns;
  const flags = isFlagged(source) ? modelTables[source].columns : {};
  const instead = isSource(place) ? ', or, if no whole run is published, of its narrowed snapshots' : '';
  const latest = `a ${row}, in the latest published run of ${place}${instead}`;
  const stored = `stored_latest_${name}`;
  const owned = `LEFT JOIN ${OWNERS} AS of_owner ON id_of_owner = lower(${described.owner ?? 'CAST(NULL AS varchar)'})`;
  const [model, lacked] = isFlagged(source)
    ? [`LEFT JOIN ${latestModel(source)} AS model ON record_id = id ${owned}`, missingColumnsOf(source)]
    : [owned, []];
  const missing = [...lacked, MISSING_OWNER].join(', ');
  const shown = { about: latest, columns: { ...columns, ...flags } };
  return [
    {
      ...viewOf(name, { ...shown, guesses: isSource(place) ? guesses : [], from: `FROM ${stored} ${model}` }),
      withoutModel: viewOf(name, { ...shown, from: `FROM (SELECT *, ${missing} FROM ${stored}) AS plain` })
        .sql,
    },
    // Without the model, an id stays as the platform sent it.
    viewOf(`all_${name}`, {
      about: `a ${row}, in any published run of ${place}`,
      columns: source === 'cards' ? columns : unnamed,
      from: `FROM (SELECT *, CAST(NULL AS varchar) AS thing_id, ${NO_OWNER_NAME} FROM stored_${name}) AS plain`,
    }),
  ];
}

/** SQL for the columns of the model while there is no model. An id of digits is known even then. */
const missingColumnsOf = (source: 'calculations' | 'cards'): readonly string[] =>
  Object.entries(modelColumns[source]).map(([column, type]) =>
    missingColumn(
      column,
      type,
      column === 'thing_id' ? `WHEN regexp_like(id, '${CANONICAL_DIGITS.source}') THEN id ` : '',
    ),
  );

/** All views of a store that has these places, in the order in which they are listed. */
export const viewsOver = (places: readonly Place[]): readonly View[] => [
  ...[...tableNames(places)].flatMap(([place, name]) => recordViews(place, name)),
  ...otherViews,
];

/** A table of objects in `folder` of the store. */
type StoredTable<Columns = Readonly<Record<string, string>>> = {
  /** The folder; ends in a slash. */
  readonly folder: string;
  /**
   * The columns, named as in the objects. New columns are only appended. A `json` column may have any value that the
   * platform or a user sent.
   */
  readonly columns: Columns;
  /**
   * The columns whose values are in the names of the subfolders, in order. Each is a string, and follows `prefix` in
   * the name.
   */
  readonly partitions: readonly { readonly name: string; readonly prefix: string }[];
};

/**
 * The stored tables. A value that the platform or a user sent is a string (JSON if it was not a string), so that no
 * value breaks a query. A value that only this program writes has its own type.
 */
export const storedTables = {
  runs: storedTable('parquet/runs/', runs),
  jobs: storedTable('results/', jobs, { type: '', dt: 'dt=' }),
  refused: storedTable('refused/', refused),
  scores: storedTable('scores/', scores),
  formulas: storedTable('formulas/', formulaLog),
  changes: storedTable('changes/', changes, { place: '', dt: 'dt=', run: 'run=' }),
  model_history: storedTable('model/history/', modelHistory),
};

/** The name of one of `storedTables`. */
export type StoredTableName = keyof typeof storedTables;

function storedTable<Table extends TableDefinition>(
  folder: string,
  { columns }: Table,
  prefixes: Readonly<Record<string, string>> = {},
): StoredTable<StoredTypes<Table['columns']>> {
  const partitions = Object.entries(prefixes).map(([name, prefix]) => ({ name, prefix }));
  return { folder, columns: storedTypes(columns), partitions };
}
