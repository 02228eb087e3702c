import { Annotations, Duration, Names, Stack } from 'aws-cdk-lib';
import { CfnNamedQuery, CfnWorkGroup } from 'aws-cdk-lib/aws-athena';
import { CfnDatabase, CfnTable } from 'aws-cdk-lib/aws-glue';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Bucket, type IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct, type IConstruct } from 'constructs';
import { glueTableOf, type Place, savedQueries, sources } from '../lib/contract.ts';
import { tablesOf } from './catalog-tables.ts';
import { acknowledgeWildcard, arnText } from './nag.ts';

export type CatalogProps = {
  /** The bucket of the published runs and of query results. */
  readonly bucket: IBucket;
  /** The key that encrypts objects. Default: the key of the bucket. */
  readonly key?: IKey | undefined;
  /** The encryption header that the bucket requires, in the form of SYNC_ENCRYPTION. */
  readonly encryption?: string | undefined;
  /** The store's prefix in the bucket, with or without slashes at its ends. Default: none. */
  readonly prefix?: string;
  /** The places of narrowed snapshots. Default: none. */
  readonly narrowed?: readonly Place[];
  /** Lifetime of the results of jobs, in days. Default: 90. */
  readonly resultsDays?: number;
};

/** Maximum bytes that a query may read before it is stopped. At $5 a terabyte, a query costs at most half a dollar. */
const MAX_SCANNED_BYTES = 100_000_000_000;

/** How long query results are stored: a query can always be run again. */
const RESULTS_LIFETIME = Duration.days(30);

/**
 * The store as tables: a Glue database with tables for each source, each latest run, jobs, refused messages, scores and
 * changes; and an Athena workgroup with saved queries. The function that builds the tables of a run adds a partition
 * for the run and one for its changes (`grantPublish`); without its partition, a run is in no table. Athena ignores
 * objects whose names begin with `_`, so no table reads manifests or summaries of batches.
 */
export class Catalog extends Construct {
  /** The value of `SYNC_GLUE_DATABASE`. */
  readonly databaseName: string;
  /** The workgroup of the saved queries. */
  readonly workGroupName: string;

  constructor(scope: Construct, id: string, props: CatalogProps) {
    super(scope, id);
    const { bucket, prefix = '', narrowed = [], resultsDays = 90 } = props;
    const folder = prefix.replaceAll(/^\/+|\/+$/g, '');
    const root = folder === '' ? '' : `${folder}/`;
    // A name that needs no quotes in SQL.
    this.databaseName = Names.uniqueResourceName(this, {
      separator: '_',
      allowedSpecialCharacters: '_',
      maxLength: 128,
    }).toLowerCase();
    const database = new CfnDatabase(this, 'Database', {
      catalogId: Stack.of(this).account,
      databaseInput: {
        name: this.databaseName,
        description: 'Published runs, jobs, scores and changes of platform-sync',
      },
    });
    const location = `s3://${bucket.bucketName}/${root}`;
    const places = [...sources, ...narrowed];
    const tables = tablesOf({ location, places, resultsDays, database: this.databaseName });
    for (const tableInput of tables)
      new CfnTable(this, `Table-${tableInput.name}`, {
        catalogId: Stack.of(this).account,
        databaseName: database.ref,
        tableInput,
      });
    const workGroup = this.#addWorkGroup(props, `${root}athena-results/`);
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

  /** Grants queries of these tables in this workgroup. */
  grantQuery(grantee: IGrantable & IConstruct): void {
    const { workGroupName } = this;
    const arn = (service: string, resource: string, resourceName?: string) =>
      Stack.of(this).formatArn({ service, resource, ...(resourceName && { resourceName }) });
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
      resourceArns: this.#glueArns(grantee, ['*']),
    });
  }

  /** Grants adding, updating and removing partitions of these tables, and reading their descriptions. */
  grantPublish(grantee: IGrantable & IConstruct): Grant {
    return Grant.addToPrincipal({
      grantee,
      actions: ['glue:GetTable', 'glue:CreatePartition', 'glue:UpdatePartition', 'glue:DeletePartition'],
      // Narrowed snapshots without a table are included, since the function looks for their tables.
      resourceArns: this.#glueArns(grantee, [
        'stored_changes',
        ...sources.map(glueTableOf).flatMap((table) => [table, `${table}_*`]),
      ]),
    });
  }

  /** The catalog, the database and the tables: Glue requires a permission on all three. */
  #glueArns(grantee: IConstruct, tables: readonly string[]): string[] {
    const { databaseName } = this;
    const arn = (resource: string, resourceName?: string) =>
      Stack.of(this).formatArn({ service: 'glue', resource, ...(resourceName && { resourceName }) });
    const arns = tables.map((table) => arn('table', `${databaseName}/${table}`));
    for (const each of arns.filter((text) => text.endsWith('*')))
      acknowledgeWildcard(grantee, arnText(grantee, each), 'Tables of the database of this stack.');
    return [arn('catalog'), arn('database', databaseName), ...arns];
  }

  #addWorkGroup(
    { bucket, key = bucket.encryptionKey, encryption }: CatalogProps,
    resultsFolder: string,
  ): CfnWorkGroup {
    const isByKey = encryption?.startsWith('aws:kms') ?? key !== undefined;
    const kmsKey = key?.keyArn ?? Stack.of(this).formatArn({ service: 'kms', resource: 'alias/aws/s3' });
    if (bucket instanceof Bucket)
      bucket.addLifecycleRule({ id: 'athena-results', prefix: resultsFolder, expiration: RESULTS_LIFETIME });
    else
      Annotations.of(this).addWarningV2(
        'platform-sync:results-kept',
        `query results are never deleted: give the bucket a lifecycle rule that expires ${resultsFolder}`,
      );
    return new CfnWorkGroup(this, 'WorkGroup', {
      name: Names.uniqueResourceName(this, { separator: '-', maxLength: 128 }).toLowerCase(),
      description: 'Queries over what platform-sync has stored',
      // The workgroup's saved queries are deleted with this stack.
      recursiveDeleteOption: true,
      workGroupConfiguration: {
        enforceWorkGroupConfiguration: true,
        publishCloudWatchMetricsEnabled: true,
        bytesScannedCutoffPerQuery: MAX_SCANNED_BYTES,
        engineVersion: { selectedEngineVersion: 'Athena engine version 3' },
        resultConfiguration: {
          outputLocation: `s3://${bucket.bucketName}/${resultsFolder}`,
          expectedBucketOwner: Stack.of(this).account,
          encryptionConfiguration: isByKey
            ? { encryptionOption: 'SSE_KMS', kmsKey }
            : { encryptionOption: 'SSE_S3' },
        },
      },
    });
  }
}
