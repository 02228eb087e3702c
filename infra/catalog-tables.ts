import type { CfnTable } from 'aws-cdk-lib/aws-glue';
import {
  type Columns,
  gluePartitionKeys,
  glueViews,
  jobTypes,
  latestParquetFolder,
  type ModelTable,
  modelColumns,
  type Place,
  type Source,
  type StoredTableName,
  sourceDefinitions,
  sources,
  splitPlace,
  storedTables,
  tableNameAmong,
} from '../lib/contract.ts';

export type TablesProps = {
  /** The location of the store: `s3://bucket/prefix/`. */
  readonly location: string;
  /** Every place at which a schedule publishes, and every source. */
  readonly places: readonly Place[];
  /** Lifetime of the results of jobs, in days. */
  readonly resultsDays: number;
};

/** The input of a Glue table. */
type TableInput = CfnTable.TableInputProperty & { readonly name: string };

/** All tables of a store; their names are unique. */
export const tablesOf = (props: TablesProps & { readonly database: string }): readonly TableInput[] => [
  ...props.places.map((place) => runsTable(place, props)),
  // Narrowed snapshots have no second table for the newest run, since a stack has at most 500 resources.
  ...sources.map((source) => latestTable(source, props)),
  ...(Object.keys(storedTables) as StoredTableName[]).map((name) => storedTable(name, props)),
  ...(Object.keys(modelColumns) as ModelTable[]).map((name) => modelTable(name, props)),
  ...glueViews(props.database).map(viewOf),
];

const IDS = "Ids are strings: WHERE id = '1036'.";

/** A table of runs. `write-tables` adds a partition for each run, with the location of its Parquet. */
function runsTable(place: Place, { location, places }: TablesProps): TableInput {
  return {
    name: `stored_${tableNameAmong(place, places)}`,
    description: `The records of ${place} in all published runs, with a partition for each run. ${IDS} Values that do not have the type of their column are in _other.`,
    tableType: 'EXTERNAL_TABLE',
    parameters: { EXTERNAL: 'TRUE', classification: 'parquet' },
    partitionKeys: gluePartitionKeys.map((name) => ({ name, type: 'string' })),
    storageDescriptor: {
      columns: columnsOf(sourceDefinitions[splitPlace(place).source].columns),
      location: `${location}parquet/${place}/`,
      ...PARQUET_FILES,
      serdeInfo: PARQUET,
    },
  };
}

/** A table of the newest run. Its only object, which `write-tables` writes, lists the run's Parquet files. */
function latestTable(source: Source, { location, places }: TablesProps): TableInput {
  return {
    name: `stored_latest_${tableNameAmong(source, places)}`,
    description: `The records of ${source} in the latest published run. ${IDS} Values that do not have the type of their column are in _other.`,
    tableType: 'EXTERNAL_TABLE',
    parameters: { EXTERNAL: 'TRUE' },
    partitionKeys: [],
    storageDescriptor: {
      columns: columnsOf(sourceDefinitions[source].columns),
      location: `${location}${latestParquetFolder(source)}`,
      inputFormat: 'org.apache.hadoop.hive.ql.io.SymlinkTextInputFormat',
      outputFormat: 'org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat',
      serdeInfo: PARQUET,
    },
  };
}

/** A view for users. Athena and Trino recognize a view by `comment`, which a description would replace. */
const viewOf = ({ name, columns, text }: ReturnType<typeof glueViews>[number]): TableInput => ({
  name,
  tableType: 'VIRTUAL_VIEW',
  parameters: { comment: 'Presto View', presto_view: 'true' },
  partitionKeys: [],
  storageDescriptor: { columns: [...columns], location: '', serdeInfo: {} },
  viewOriginalText: text,
  viewExpandedText: '/* Presto View */',
});

function storedTable(name: StoredTableName, props: TablesProps): TableInput {
  const { folder, columns, partitions } = storedTables[name];
  const location = `${props.location}${folder}`;
  const template = partitions.map((each) => `${each.prefix}\${${each.name}}/`).join('');
  const projections = projectionsOf(props)[name];
  return {
    name: `stored_${name}`,
    description: `The objects that the table ${name} shows. ${IDS}`,
    tableType: 'EXTERNAL_TABLE',
    parameters: {
      EXTERNAL: 'TRUE',
      classification: 'json',
      ...(Object.keys(projections).length > 0 && {
        'projection.enabled': 'true',
        'storage.location.template': `${location}${template}`,
        ...parametersOf(projections),
      }),
    },
    partitionKeys: partitions.map((partition) => ({ name: partition.name, type: 'string' })),
    storageDescriptor: {
      columns: columnsOf(columns),
      location,
      // The suffix of an object's key determines its compression.
      inputFormat: 'org.apache.hadoop.mapred.TextInputFormat',
      outputFormat: 'org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat',
      serdeInfo: jsonOf(name),
    },
  };
}

/**
 * How many days after the day in its key a result may still be written, at most: a job can be reopened while the ledger
 * has its row, which is for a month after its last step.
 */
const REOPENED_DAYS = 60;

type Projection = Readonly<Record<string, string>>;

/** Converts projections to parameters of a table. */
const parametersOf = (projections: Readonly<Record<string, Projection>>): Projection =>
  Object.fromEntries(
    Object.entries(projections).flatMap(([partition, projection]) =>
      Object.entries(projection).map(([key, value]) => [`projection.${partition}.${key}`, value]),
    ),
  );

/** The partition projections of the tables: Athena computes these partitions, so they need not be added one by one. */
const projectionsOf = ({
  resultsDays,
}: TablesProps): Readonly<Record<StoredTableName, Readonly<Record<string, Projection>>>> => ({
  jobs: {
    type: { type: 'enum', values: jobTypes.join(',') },
    dt: days(`NOW-${resultsDays + REOPENED_DAYS}DAYS`),
  },
  // `write-tables` writes one object for each place.
  runs: {},
  refused: {},
  scores: {},
  formulas: {},
  model_history: {},
  // `write-tables` adds a partition for each run, at the location in its manifest.
  changes: {},
});

/** The days from `first` to tomorrow, since clocks differ. */
const days = (first: string): Projection => ({
  type: 'date',
  format: 'yyyy-MM-dd',
  range: `${first},NOW+1DAYS`,
  interval: '1',
  'interval.unit': 'DAYS',
});

const PARQUET_FILES = {
  inputFormat: 'org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat',
  outputFormat: 'org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat',
} as const;

/** A table of the stored models, which are at least the last two; the views show only the last model. */
const modelTable = (name: ModelTable, { location }: TablesProps): TableInput => ({
  name: `stored_model_${name}`,
  description: `What the model knows about ${name}: flags and counts, as of the last time that it was computed. ${IDS}`,
  tableType: 'EXTERNAL_TABLE',
  parameters: { EXTERNAL: 'TRUE', classification: 'parquet' },
  partitionKeys: [],
  storageDescriptor: {
    columns: columnsOf(modelColumns[name]),
    location: `${location}model/${name}/`,
    ...PARQUET_FILES,
    serdeInfo: PARQUET,
  },
});

const PARQUET = {
  serializationLibrary: 'org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe',
  parameters: { 'serialization.format': '1' },
};

/**
 * The format of JSON lines, read by OpenX. It ignores members without a column, and reads any value into a string
 * column, as JSON if the value is not a string. Members are mapped to columns by name, since one of two names that
 * differ only in case would be lost otherwise. A line that is not JSON fails the query, so no row is skipped silently.
 */
const jsonOf = (name: StoredTableName) => ({
  serializationLibrary: 'org.openx.data.jsonserde.JsonSerDe',
  parameters: {
    'case.insensitive': 'false',
    ...Object.fromEntries(
      Object.keys(storedTables[name].columns)
        .filter((column) => column !== column.toLowerCase())
        .map((column) => [`mapping.${column.toLowerCase()}`, column]),
    ),
    'ignore.malformed.json': 'false',
  },
});

/** The columns of a table. In Athena, a column of JSON is a string. */
const columnsOf = (columns: Columns) =>
  Object.entries(columns).map(([name, type]) => ({
    name: name.toLowerCase(),
    type: type === 'json' ? 'string' : type.toLowerCase(),
  }));
