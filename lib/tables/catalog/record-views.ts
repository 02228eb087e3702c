import { type FlaggedKind, flagMeanings, flagsOf } from '../../model/flags.ts';
import { modelColumns } from '../../model/model-columns.ts';
import { CANONICAL_DIGITS } from '../../model/rules.ts';
import { type Place, sourceOf } from '../../snapshot/keys.ts';
import { isSource, type Source, sourceDefinitions } from '../../snapshot/sources/sources.ts';
import { AS_OF, latestModel, type Made, momentOf, NEEDS_MODEL, type View, viewOf } from './view.ts';

/** What the tables of a source have: columns under the names that people guess, and a line on each field of the platform. */
type RecordTable<Field extends string> = {
  /** What a row is, after `a `: `card of a dataset`. */
  readonly row: string;
  readonly made: Readonly<Record<string, Made>>;
  readonly fields: Readonly<Record<Field, string>>;
};

type FieldOf<S extends Source> = Exclude<keyof (typeof sourceDefinitions)[S]['columns'] & string, '_other'>;

const CANONICAL_ID = 'coalesce(thing_id, id)';

/** Columns by the names that people guess; below, the fields as the platform calls them. */
const recordTables: { readonly [S in Source]: RecordTable<FieldOf<S>> } = {
  calculations: {
    row: 'calculation',
    made: {
      calculation_id: [
        'string',
        CANONICAL_ID,
        'the id of the calculation, as text; uses have it as it is here',
      ],
      owner_id: ['string', 'owner', 'the id of the user who owns it'],
      created_at: ['timestamp', 'created_at', 'when it was created, in UTC'],
      modified_at: ['timestamp', 'lastmodified_at', 'when it was last changed, in UTC'],
    },
    fields: {
      id: 'the same as calculation_id',
      name: 'its name',
      owner: 'the same as owner_id',
      locked: 'whether only its owner or an administrator may change it',
      global: 'whether it may be used everywhere',
      expression: 'the formula; a search does not return it, so it is null in snapshots',
      checkSum: 'the SHA-1 of the formula',
      links: 'what it is linked to, as the platform says it',
      legacyId: 'another id of it on the platform',
      lastModified: 'when it was last changed, in epoch milliseconds',
      created: 'when it was created, in epoch milliseconds',
      aggregated: 'whether it aggregates rows',
      analytic: 'whether it uses a window function',
      nonAggregatedColumns: 'the columns that it uses without aggregating them',
      dataType: 'the type of its result',
      status: 'VALID, or what the platform says instead',
      cacheWindow: 'how long the platform caches its result',
      columnPositions: 'which columns are where in the formula',
      functions: 'the functions that the formula uses',
      functionTemplateDependencies: 'the ids of the calculations that it refers to',
      archived: 'whether it is archived',
      hidden: 'whether it is hidden',
      variable: 'whether it is a variable',
      activeLinks: 'ids of what uses it at present, by type',
      lastModified_at: 'the same as modified_at',
      created_at: 'when it was created, in UTC',
    },
  },
  files: {
    row: 'file or directory of a FileSet',
    made: {
      fileset_id: ['string', '_filesetid', 'the id of the FileSet that it is in'],
      file_id: ['string', 'id', 'the id of the file'],
      size_bytes: ['bigint', 'size', 'its size in bytes; null for a directory'],
      created_at: ['timestamp', momentOf('created'), 'when it was created, in UTC'],
      owner_id: ['string', 'createdby', 'the id of the user who created it'],
    },
    fields: {
      _filesetId: 'the same as fileset_id',
      id: 'the same as file_id',
      path: 'its path in the FileSet',
      name: 'its name',
      fileType: 'TEXT, IMAGE, DIRECTORY and so on',
      contentType: 'its media type',
      size: 'the same as size_bytes',
      created: 'when it was created, as the platform wrote it',
      createdBy: 'the same as owner_id',
      hash: 'the hash of its content',
      hashAlgorithm: 'how the hash was made',
      downloadUrl: 'where it was to be downloaded when the snapshot was taken',
      connectorKey: 'the connector that it came by',
      indexStatus: 'how far the platform has indexed it',
      indexReason: 'why it is not indexed',
    },
  },
  cards: {
    row: 'card of a dataset',
    made: {
      card_id: ['string', CANONICAL_ID, 'the id of the card; a card may be listed for several datasets'],
      owner_id: ['string', 'ownerid', 'the id of the user who owns it'],
      owner_name: [
        'string',
        'element_at(filter(owners, owner -> owner.id = ownerid), 1).displayname',
        'the name of the owner, if the card gives it',
      ],
      dataset_id: ['string', 'coalesce(_datasetid, datasourceid)', 'the dataset that it was listed for'],
    },
    fields: {
      _datasetId: 'the dataset that it was listed for, where that is not its own',
      id: 'the same as card_id',
      urn: 'its name on the platform; of a drill dr:DRILL:ROOT',
      type: 'its type',
      chartType: 'the type of its chart',
      title: 'its title',
      ownerId: 'the same as owner_id',
      owners: 'users and groups that own it',
      access: 'false for a card that the token may not open',
      datasourceId: 'the dataset that it is built on',
      datasetId: 'the same of a drill that was listed inside its card',
    },
  },
  'data-files': {
    row: 'data file',
    made: {
      data_file_id: ['string', 'datafileid', 'the id of the data file'],
      owner_id: ['string', 'responsibleuserid', 'the id of the user who is responsible for it'],
      created_at: ['timestamp', 'datetimecreated_at', 'when it was created, in UTC'],
      size_bytes: ['bigint', 'currentrevision.sizebytes', 'the size of its current revision in bytes'],
      scan_state: ['string', 'currentrevision.scanstate', 'what the scan of its current revision found'],
    },
    fields: {
      dataFileId: 'the same as data_file_id',
      name: 'its name',
      responsibleUserId: 'the same as owner_id',
      currentRevision: 'its current revision, if it was asked for',
      datetimeCreated: 'when it was created, in epoch milliseconds',
      revisions: 'all of its revisions, if they were asked for; a row each in the table revisions',
      existing: 'whether it exists',
      datetimeCreated_at: 'the same as created_at',
    },
  },
};

const OTHER: Made = ['string', '_other', 'what has no column or does not fit its own, as JSON; else null'];

const RUN: Readonly<Record<string, Made>> = {
  dt: ['string', 'dt', 'the day on which the run began, as text: 2026-11-21'],
  run: ['string', 'run', 'the run that the row is of'],
};

/** What the model says of records, in the table of a latest run. */
const flagged = {
  calculations: { ...flagsShown('calculation'), as_of: AS_OF },
  cards: { ...flagsShown('card'), as_of: AS_OF },
} as const satisfies Partial<Record<Source, Readonly<Record<string, Made>>>>;

function flagsShown(kind: FlaggedKind): Readonly<Record<string, Made>> {
  return Object.fromEntries(flagsOf[kind].map((flag) => [flag, ['boolean', flag, flagMeanings[flag]]]));
}

/** A source whose ids the model writes in one form. */
const isFlagged = (source: Source): source is keyof typeof flagged => Object.hasOwn(flagged, source);

/** The columns of a source's tables: under the names that people guess, then as the platform calls them. */
function columnsOf(source: Source): Readonly<Record<string, Made>> {
  const { made, fields } = recordTables[source];
  const { columns } = sourceDefinitions[source];
  const platforms = Object.entries<string>(columns).flatMap(([name, type]): [string, Made][] => {
    const about = (fields as Readonly<Record<string, string>>)[name];
    const lower = name.toLowerCase();
    return about === undefined || lower in made ? [] : [[lower, [type, lower, about]]];
  });
  return { ...made, ...Object.fromEntries(platforms), _other: OTHER, ...RUN };
}

function flaggedView(source: keyof typeof flagged, { name, about }: Pick<View, 'name' | 'about'>): View {
  const stored = `stored_latest_${name}`;
  const all = { ...columnsOf(source), ...flagged[source] };
  const needed = Object.entries(modelColumns[source]).map(([column, type]) => {
    const isGiven =
      column === 'thing_id' ? `WHEN regexp_matches(id, '${CANONICAL_DIGITS.source}') THEN id ` : '';
    return `CASE ${isGiven}WHEN error('${NEEDS_MODEL}' || left(coalesce(id, ''), 0)) IS NULL THEN CAST(NULL AS ${type === 'string' ? 'varchar' : type}) END AS ${column}`;
  });
  return {
    ...viewOf(name, about, all, `FROM ${stored} LEFT JOIN ${latestModel(source)} AS model ON record_id = id`),
    withoutModel: viewOf(name, about, all, `FROM (SELECT *, ${needed.join(', ')} FROM ${stored}) AS model`)
      .sql,
  };
}

/** The tables of a place: its latest run, and all of its runs. `name` is that of its table. */
export function recordViews(place: Place, name: string): readonly View[] {
  const source = sourceOf(place);
  const columns = columnsOf(source);
  const { row } = recordTables[source];
  // Where the model does not say how an id is written, it is as it was sent.
  const of = (view: string, about: string, stored: string) =>
    viewOf(
      view,
      about,
      columns,
      `FROM (SELECT *, CAST(NULL AS varchar) AS thing_id FROM ${stored}) AS plain`,
    );
  const instead = isSource(place) ? ', or where it has none, of its narrowed snapshots' : '';
  const latest = `a ${row}, in the latest published run of ${place}${instead}`;
  return [
    isFlagged(source)
      ? flaggedView(source, { name, about: latest })
      : of(name, latest, `stored_latest_${name}`),
    of(`all_${name}`, `a ${row}, in any published run of ${place}`, `stored_${name}`),
  ];
}
