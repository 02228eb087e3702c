import {
  CANONICAL_DIGITS,
  type FlaggedKind,
  flagMeanings,
  flagsOf,
  modelColumns,
} from '../../model/rules/index.ts';
import { type Place, sourceOf } from '../../snapshot/keys.ts';
import { isSource, type Source, sourceDefinitions } from '../../snapshot/sources/sources.ts';
import {
  AS_OF,
  type ColumnUse,
  id,
  latestModel,
  type Made,
  moment,
  momentOf,
  NEEDS_MODEL,
  number,
  text,
  type View,
  viewOf,
  word,
} from './view.ts';

/** A line on a field of the platform, and what a query may make of it. */
type FieldLine = string | readonly [about: string, use: ColumnUse];

/** What the tables of a source have: columns under the names that people guess, and a line on each field of the platform. */
type RecordTable<Field extends string> = {
  /** What a row is, after `a `: `card of a dataset`. */
  readonly row: string;
  /** The field that says who owns it. */
  readonly owner: Lowercase<Field>;
  readonly made: Readonly<Record<string, Made>>;
  readonly fields: Readonly<Record<Field, FieldLine>>;
};

type FieldOf<S extends Source> = Exclude<keyof (typeof sourceDefinitions)[S]['columns'] & string, '_other'>;

const CANONICAL_ID = 'coalesce(thing_id, id)';

/** The columns of that of the model which names the owner. */
const OWNERS = `(SELECT user_id AS id_of_owner, name AS name_of_owner FROM ${latestModel('owners')} AS owners)`;

const ownerName = (given = 'name_of_owner'): Made =>
  text(given, 'the name of the owner, if a card gives it', {
    guesses: ['owner_display_name', 'displayname'],
  });

const isId = { isId: true } as const;
/** As the platform sent it, where another column has it in lower case. */
const isWord = { isWord: true } as const;
const sent = (of: string): FieldLine => [`${of} as the platform sent it`, isWord];
/** Epoch milliseconds, or text. */
const timeOf = (column: string, about: string): FieldLine => [about, { moment: column }];
const unsent = (about: string, field: string, use: ColumnUse = {}): FieldLine => [
  `${about}; a search does not return it, so it is null in snapshots`,
  { unsent: field, ...use },
];

/** Columns by the names that people guess; below, the fields as the platform calls them. */
const recordTables: { readonly [S in Source]: RecordTable<FieldOf<S>> } = {
  calculations: {
    row: 'calculation',
    owner: 'owner',
    made: {
      calculation_id: id(CANONICAL_ID, 'the id of the calculation, as text; uses have it as it is here'),
      owner_id: id('owner', 'the id of the user who owns it', ['user_id']),
      owner_name: ownerName(),
      status: word('status', 'valid, or what the platform says instead, in lower case', {
        guesses: ['state', 'validity'],
      }),
      created_at: moment('created_at', 'when it was created, in UTC'),
      modified_at: moment('lastmodified_at', 'when it was last changed, in UTC'),
      last_modified: moment('lastmodified_at', 'the same as modified_at'),
      status_sent: text('status', 'the status as the platform sent it', isWord),
    },
    fields: {
      id: ['the same as calculation_id', isId],
      name: ['its name', { guesses: ['title', 'calculation', 'calculation_name'] }],
      owner: ['the same as owner_id', isId],
      locked: 'whether only its owner or an administrator may change it',
      global: 'whether it may be used everywhere',
      expression: unsent('the formula', 'expression', { guesses: ['formula'] }),
      checkSum: unsent('the SHA-1 of the formula', 'checkSum'),
      links: 'what it is linked to, as the platform says it',
      legacyId: ['another id of it on the platform', isId],
      lastModified: timeOf('modified_at', 'when it was last changed, in epoch milliseconds'),
      created: timeOf('created_at', 'when it was created, in epoch milliseconds'),
      aggregated: unsent('whether it aggregates rows', 'aggregated'),
      analytic: unsent('whether it uses a window function', 'analytic'),
      nonAggregatedColumns: unsent(
        'the columns that it uses without aggregating them',
        'nonAggregatedColumns',
        { guesses: ['columns'] },
      ),
      dataType: unsent('the type of its result', 'dataType', { ...isWord, guesses: ['result_type', 'type'] }),
      status: '',
      cacheWindow: unsent('how long the platform caches its result', 'cacheWindow', isWord),
      columnPositions: unsent('which columns are where in the formula', 'columnPositions'),
      functions: unsent('the functions that the formula uses', 'functions'),
      functionTemplateDependencies: unsent(
        'the ids of the calculations that it refers to',
        'functionTemplateDependencies',
      ),
      archived: 'whether it is archived',
      hidden: unsent('whether it is hidden', 'hidden'),
      variable: unsent('whether it is a variable', 'variable'),
      activeLinks: 'ids of what uses it at present, by type',
      lastModified_at: 'the same as modified_at',
      created_at: '',
    },
  },
  files: {
    row: 'file or directory of a FileSet',
    owner: 'createdby',
    made: {
      fileset_id: id('_filesetid', 'the id of the FileSet that it is in', ['fileset']),
      file_id: id('id', 'the id of the file'),
      file_type: word('filetype', 'text, image, directory and so on, in lower case', {
        guesses: ['type', 'extension'],
      }),
      size_bytes: number('size', 'its size in bytes; null for a directory', { guesses: ['bytes', 'length'] }),
      created_at: moment(momentOf('created'), 'when it was created, in UTC'),
      owner_id: id('createdby', 'the id of the user who created it', ['owner', 'user_id']),
      owner_name: ownerName(),
      index_status: word('indexstatus', 'how far the platform has indexed it, in lower case', {
        guesses: ['status'],
      }),
    },
    fields: {
      _filesetId: ['the same as fileset_id', isId],
      id: ['the same as file_id', isId],
      path: ['its path in the FileSet', { guesses: ['directory', 'folder', 'file_path'] }],
      name: ['its name', { guesses: ['filename', 'file_name', 'title'] }],
      fileType: sent('file_type'),
      contentType: ['its media type', { ...isWord, guesses: ['mime_type', 'media_type'] }],
      size: 'the same as size_bytes',
      created: timeOf('created_at', 'when it was created, as the platform wrote it'),
      createdBy: ['the same as owner_id', isId],
      hash: ['the hash of its content', { ...isId, guesses: ['md5', 'sha256', 'checksum'] }],
      hashAlgorithm: ['how the hash was made', isWord],
      downloadUrl: 'where it was to be downloaded when the snapshot was taken',
      connectorKey: 'the connector that it came by',
      indexStatus: sent('index_status'),
      indexReason: 'why it is not indexed',
    },
  },
  cards: {
    row: 'card of a dataset',
    owner: 'ownerid',
    made: {
      card_id: id(CANONICAL_ID, 'the id of the card; a card may be listed for several datasets'),
      type: word('type', 'its type, in lower case', { guesses: ['card_type'] }),
      chart_type: word('charttype', 'the type of its chart, in lower case', { guesses: ['chart'] }),
      owner_id: id('ownerid', 'the id of the user who owns it', ['owner', 'user_id']),
      owner_name: ownerName(
        'coalesce(element_at(filter(owners, owner -> owner.id = ownerid), 1).displayname, name_of_owner)',
      ),
      dataset_id: id('coalesce(_datasetid, datasourceid)', 'the dataset that it was listed for', [
        'dataset',
        'datasource',
        'datasource_id',
      ]),
      type_sent: text('type', 'the type as the platform sent it', isWord),
    },
    fields: {
      _datasetId: ['the dataset that it was listed for, where that is not its own', isId],
      id: ['the same as card_id', isId],
      urn: ['its name on the platform; of a drill dr:DRILL:ROOT', isId],
      type: '',
      chartType: sent('chart_type'),
      title: ['its title', { guesses: ['name', 'card_name', 'card_title', 'card'] }],
      ownerId: ['the same as owner_id', isId],
      owners: 'users and groups that own it',
      access: 'false for a card that the token may not open',
      datasourceId: ['the dataset that it is built on', isId],
      datasetId: ['the same of a drill that was listed inside its card', isId],
    },
  },
  'data-files': {
    row: 'data file',
    owner: 'responsibleuserid',
    made: {
      data_file_id: id('datafileid', 'the id of the data file', ['id', 'file_id']),
      owner_id: id('responsibleuserid', 'the id of the user who is responsible for it', ['owner', 'user_id']),
      owner_name: ownerName(),
      created_at: moment('datetimecreated_at', 'when it was created, in UTC'),
      size_bytes: number('currentrevision.sizebytes', 'the size of its current revision in bytes', {
        guesses: ['size', 'bytes'],
      }),
      scan_state: word(
        'currentrevision.scanstate',
        'what the scan of its current revision found, in lower case',
        {
          guesses: ['scan', 'status', 'state'],
        },
      ),
    },
    fields: {
      dataFileId: ['the same as data_file_id', isId],
      name: ['its name', { guesses: ['title', 'filename', 'file_name'] }],
      responsibleUserId: ['the same as owner_id', isId],
      currentRevision: 'its current revision, if it was asked for',
      datetimeCreated: timeOf('created_at', 'when it was created, in epoch milliseconds'),
      revisions: 'all of its revisions, if they were asked for; a row each in the table revisions',
      existing: 'whether it exists',
      datetimeCreated_at: ['the same as created_at', { guesses: ['created'] }],
    },
  },
};

const OTHER: Made = text('_other', 'what has no column or does not fit its own, as JSON; else null');

const RUN: Readonly<Record<string, Made>> = {
  dt: text('dt', 'the day on which the run began, as text: 2026-11-21', { guesses: ['day', 'date'] }),
  run: text('run', 'the run that the row is of', { guesses: ['run_id'] }),
};

/** What people call the flags. */
const flagGuesses: Partial<Record<string, readonly string[]>> = {
  broken_links: ['broken', 'is_broken'],
  unused: ['is_unused', 'used', 'in_use'],
  same_name: ['duplicate', 'duplicates', 'is_duplicate'],
};

/** What the model says of records, in the table of a latest run. */
const flagged = {
  calculations: { ...flagsShown('calculation'), as_of: AS_OF },
  cards: { ...flagsShown('card'), as_of: AS_OF },
} as const satisfies Partial<Record<Source, Readonly<Record<string, Made>>>>;

function flagsShown(kind: FlaggedKind): Readonly<Record<string, Made>> {
  return Object.fromEntries(
    flagsOf[kind].map((flag) => [
      flag,
      ['boolean', flag, flagMeanings[flag], { guesses: flagGuesses[flag] ?? [] }],
    ]),
  );
}

/** A source whose ids the model writes in one form. */
const isFlagged = (source: Source): source is keyof typeof flagged => Object.hasOwn(flagged, source);

/** The columns of a source's tables: under the names that people guess, then as the platform calls them. */
function columnsOf(source: Source): Readonly<Record<string, Made>> {
  const { made, fields } = recordTables[source];
  const { columns } = sourceDefinitions[source];
  const platforms = Object.entries<string>(columns).flatMap(([name, type]): [string, Made][] => {
    const line = (fields as Readonly<Record<string, FieldLine>>)[name];
    const lower = name.toLowerCase();
    if (line === undefined || lower in made) return [];
    const [about, use] = typeof line === 'string' ? [line, {}] : line;
    return [[lower, [type, lower, about, use]]];
  });
  return { ...made, ...Object.fromEntries(platforms), _other: OTHER, ...RUN };
}

/** The columns of a source that are of a field that a list lacks, with that field. */
export const unsentColumns = (source: Source): readonly (readonly [column: string, field: string])[] =>
  Object.entries(columnsOf(source)).flatMap(([name, [, , , use]]) =>
    use?.unsent === undefined ? [] : [[name, use.unsent] as const],
  );

/** A column of the model where there is none yet: to read it fails the query, but for a row with a value of its own. */
const lacking = (name: string, type: string, given = ''): string =>
  `CASE ${given}WHEN error('${NEEDS_MODEL}' || left(coalesce(_other, ''), 0)) IS NULL THEN CAST(NULL AS ${type === 'string' ? 'varchar' : type}) END AS ${name}`;

const LACKING_OWNER = lacking('name_of_owner', 'string');

/** The name of the owner as no card of these runs gives it: the model is of the last runs alone. */
const OF_ANY_RUN = 'CAST(NULL AS varchar) AS name_of_owner';

/** The tables of a place: its latest run, and all of its runs. `name` is that of its table. */
export function recordViews(place: Place, name: string): readonly View[] {
  const source = sourceOf(place);
  const { row, owner } = recordTables[source];
  const { owner_name: _, ...unnamed } = columnsOf(source);
  const flags = isFlagged(source) ? flagged[source] : {};
  const columns = { ...columnsOf(source), ...flags };
  const instead = isSource(place) ? ', or where it has none, of its narrowed snapshots' : '';
  const latest = `a ${row}, in the latest published run of ${place}${instead}`;
  const stored = `stored_latest_${name}`;
  const owned = `LEFT JOIN ${OWNERS} AS of_owner ON id_of_owner = lower(${owner})`;
  const [model, lacked] = isFlagged(source)
    ? [`LEFT JOIN ${latestModel(source)} AS model ON record_id = id ${owned}`, lackedOf(source)]
    : [owned, []];
  const missing = [...lacked, LACKING_OWNER].join(', ');
  return [
    {
      ...viewOf(name, latest, columns, `FROM ${stored} ${model}`),
      withoutModel: viewOf(name, latest, columns, `FROM (SELECT *, ${missing} FROM ${stored}) AS plain`).sql,
    },
    // Where the model does not say how an id is written, it is as it was sent.
    viewOf(
      `all_${name}`,
      `a ${row}, in any published run of ${place}`,
      source === 'cards' ? columnsOf(source) : unnamed,
      `FROM (SELECT *, CAST(NULL AS varchar) AS thing_id, ${OF_ANY_RUN} FROM stored_${name}) AS plain`,
    ),
  ];
}

/** What the model says of the records of a source, where there is none yet; an id that is digits is known all the same. */
const lackedOf = (source: keyof typeof flagged): readonly string[] =>
  Object.entries(modelColumns[source]).map(([column, type]) =>
    lacking(
      column,
      type,
      column === 'thing_id' ? `WHEN regexp_like(id, '${CANONICAL_DIGITS.source}') THEN id ` : '',
    ),
  );
