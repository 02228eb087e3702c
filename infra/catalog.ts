import { Annotations, Duration, Names, Stack } from 'aws-cdk-lib';
import { CfnNamedQuery, CfnWorkGroup } from 'aws-cdk-lib/aws-athena';
import { CfnDatabase, CfnTable } from 'aws-cdk-lib/aws-glue';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import { Bucket, type IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { gluePartitionKeys, glueTableOf, type Source, sourceDefinitions, sources } from '../lib/contract.ts';
import { latestView } from './latest-view.ts';
import { type Column, viewText } from './presto-view.ts';
import { savedQueries } from './saved-queries.ts';

export type CatalogProps = {
  /** Where the published runs are, and where query results go. */
  readonly bucket: IBucket;
  /** The store's prefix in the bucket, with or without slashes at its ends. Default: none. */
  readonly prefix?: string;
};

const TABLE_NAMES = sources.map(glueTableOf);
const PARTITION_KEYS: readonly Column[] = gluePartitionKeys.map((name) => ({ name, type: 'string' }));

/** A query that reads more is stopped: at $5 a terabyte, it costs half a dollar at most. */
const MOST_SCANNED_BYTES = 100_000_000_000;

/** A query can always be run again. */
const RESULTS_LIFETIME = Duration.days(30);

/**
 * The published runs as tables: a Glue database with one table for each source, a view of its latest run, an Athena
 * workgroup and its saved queries. Publishing adds a partition for a run (`grantPublish`); a run without one is in no
 * table. The file beside the parts in a run's folder, `_manifest.json`, is not read: Athena treats names that begin with
 * `_` as hidden files. Nor is `latest.json`, since tables read only their partitions.
 */
export class Catalog extends Construct {
  /** What `SYNC_GLUE_DATABASE` is set to. */
  readonly databaseName: string;
  /** The workgroup that the saved queries are in. */
  readonly workGroupName: string;

  constructor(scope: Construct, id: string, { bucket, prefix = '' }: CatalogProps) {
    super(scope, id);
    const folder = prefix.replaceAll(/^\/+|\/+$/g, '');
    const root = folder === '' ? '' : `${folder}/`;
    // So that SQL needs no quotes around it.
    this.databaseName = Names.uniqueResourceName(this, {
      separator: '_',
      allowedSpecialCharacters: '_',
      maxLength: 128,
    }).toLowerCase();
    const database = new CfnDatabase(this, 'Database', {
      catalogId: Stack.of(this).account,
      databaseInput: {
        name: this.databaseName,
        description: 'The published runs of platform-sync, by source',
      },
    });
    const place = { database, location: `s3://${bucket.bucketName}/${root}` };
    for (const source of sources) this.#addTable(source, place);
    for (const source of sources) this.#addView(source, database);
    const workGroup = this.#addWorkGroup(bucket, `${root}athena-results/`);
    this.workGroupName = workGroup.name;
    for (const { name, description, sql } of savedQueries())
      new CfnNamedQuery(this, `Query-${name}`, {
        name,
        description,
        queryString: sql,
        database: database.ref,
        workGroup: this.workGroupName,
      }).addResourceDependency(workGroup);
  }

  /** Lets somebody query these tables in this workgroup. */
  grantQuery(grantee: IGrantable): void {
    const { databaseName, workGroupName } = this;
    const arn = (service: string, resource: string, resourceName?: string) =>
      Stack.of(this).formatArn({ service, resource, ...(resourceName && { resourceName }) });
    const tables = sources.flatMap((source) => [glueTableOf(source), latestView(source).name]);
    Grant.addToPrincipal({
      grantee,
      actions: [
        'athena:StartQueryExecution',
        'athena:StopQueryExecution',
        'athena:GetQueryExecution',
        'athena:GetQueryResults',
        'athena:GetWorkGroup',
        'athena:ListQueryExecutions',
        'athena:ListNamedQueries',
        'athena:GetNamedQuery',
        'athena:BatchGetNamedQuery',
      ],
      resourceArns: [arn('athena', 'workgroup', workGroupName)],
    });
    Grant.addToPrincipal({
      grantee,
      actions: [
        'glue:GetDatabase',
        'glue:GetTable',
        'glue:GetTables',
        'glue:GetPartition',
        'glue:GetPartitions',
      ],
      resourceArns: [
        arn('glue', 'catalog'),
        arn('glue', 'database', databaseName),
        ...tables.map((table) => arn('glue', 'table', `${databaseName}/${table}`)),
      ],
    });
  }

  /** Lets publishing add, update and remove partitions of these tables, and read how a table describes its parts. */
  grantPublish(grantee: IGrantable): Grant {
    const { databaseName } = this;
    const arn = (resource: string, resourceName?: string) =>
      Stack.of(this).formatArn({ service: 'glue', resource, ...(resourceName && { resourceName }) });
    return Grant.addToPrincipal({
      grantee,
      actions: ['glue:GetTable', 'glue:CreatePartition', 'glue:UpdatePartition', 'glue:DeletePartition'],
      // Glue requires the permission on all three: the catalog, the database and the table.
      resourceArns: [
        arn('catalog'),
        arn('database', databaseName),
        ...TABLE_NAMES.map((table) => arn('table', `${databaseName}/${table}`)),
      ],
    });
  }

  #addTable(source: Source, { database, location }: { database: CfnDatabase; location: string }): void {
    const name = glueTableOf(source);
    new CfnTable(this, `Table-${name}`, {
      catalogId: Stack.of(this).account,
      databaseName: database.ref,
      tableInput: {
        name,
        description: `The records of ${source}, one partition for each published run`,
        tableType: 'EXTERNAL_TABLE',
        parameters: { EXTERNAL: 'TRUE', classification: 'json' },
        partitionKeys: [...PARTITION_KEYS],
        storageDescriptor: {
          columns: [...columnsOf(source)],
          location: `${location}${source}/`,
          // The suffix of a part says how it is compressed: .gz and .zst are both understood.
          inputFormat: 'org.apache.hadoop.mapred.TextInputFormat',
          outputFormat: 'org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat',
          serdeInfo: SERDE,
        },
      },
    });
  }

  #addView(source: Source, database: CfnDatabase): void {
    const { name, description, sql } = latestView(source);
    const columns = [...columnsOf(source), ...PARTITION_KEYS];
    new CfnTable(this, `View-${name}`, {
      catalogId: Stack.of(this).account,
      databaseName: database.ref,
      tableInput: {
        name,
        description,
        tableType: 'VIRTUAL_VIEW',
        parameters: { presto_view: 'true', comment: 'Presto View' },
        partitionKeys: [],
        storageDescriptor: { columns, serdeInfo: { name: '-', serializationLibrary: '-' } },
        viewOriginalText: viewText({ sql, schema: this.databaseName, columns }),
        viewExpandedText: '/* Presto View */',
      },
    });
  }

  #addWorkGroup(bucket: IBucket, resultsFolder: string): CfnWorkGroup {
    const key = bucket.encryptionKey;
    if (bucket instanceof Bucket)
      bucket.addLifecycleRule({ id: 'athena-results', prefix: resultsFolder, expiration: RESULTS_LIFETIME });
    else
      Annotations.of(this).addWarningV2(
        'platform-sync:results-kept',
        `query results stay under ${resultsFolder}: expire them where the bucket is created`,
      );
    return new CfnWorkGroup(this, 'WorkGroup', {
      name: Names.uniqueResourceName(this, { separator: '-', maxLength: 128 }).toLowerCase(),
      description: 'Queries over the published runs of platform-sync',
      // Its saved queries belong to this stack, and go with it.
      recursiveDeleteOption: true,
      workGroupConfiguration: {
        enforceWorkGroupConfiguration: true,
        publishCloudWatchMetricsEnabled: true,
        bytesScannedCutoffPerQuery: MOST_SCANNED_BYTES,
        engineVersion: { selectedEngineVersion: 'Athena engine version 3' },
        resultConfiguration: {
          outputLocation: `s3://${bucket.bucketName}/${resultsFolder}`,
          expectedBucketOwner: Stack.of(this).account,
          encryptionConfiguration:
            key === undefined
              ? { encryptionOption: 'SSE_S3' }
              : { encryptionOption: 'SSE_KMS', kmsKey: key.keyArn },
        },
      },
    });
  }
}

/**
 * OpenX reads the platform's names, in either case and at any depth, under Glue's lower-case ones, ignores fields that
 * no column names, and reads any value into a text column, so that an id keeps its digits. (Hive's own JSON reader
 * fails if a value has another type than its column.) A line that is not JSON fails the query: no row is left out
 * silently.
 */
const SERDE = {
  serializationLibrary: 'org.openx.data.jsonserde.JsonSerDe',
  parameters: { 'case.insensitive': 'true', 'ignore.malformed.json': 'false' },
};

const columnsOf = (source: Source): readonly Column[] =>
  Object.entries(sourceDefinitions[source].columns).map(([name, type]) => ({
    name: name.toLowerCase(),
    type: type.toLowerCase(),
  }));
