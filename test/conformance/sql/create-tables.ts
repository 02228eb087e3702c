import { CreateDatabaseCommand, CreateTableCommand, GlueClient, type TableInput } from '@aws-sdk/client-glue';
import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { Catalog } from '../../../infra/catalog.ts';
import { awsClientConfig } from '../../../lib/base/aws/client-config.ts';
import type { Place } from '../../../lib/snapshot/keys.ts';
import { createS3Client } from '../../../lib/store/s3-client.ts';
import { servicesEnvironment, uniqueName } from '../services/services-environment.ts';
import { runTrino, untilReady } from './trino-client.ts';

/** The tables over a bucket, as in the stack's template. */
export const tablesOver = (bucket: string): readonly TableInput[] => catalogOver(bucket, [], 'stack').tables;

/** The tables, and the database that contains them, whose name views use. */
function catalogOver(bucket: string, narrowed: readonly Place[], name: string) {
  const stack = new Stack(new App(), name);
  const catalog = new Catalog(stack, 'Catalog', {
    bucket: Bucket.fromBucketName(stack, 'Bucket', bucket),
    narrowed,
  });
  const resources = Template.fromStack(stack).findResources('AWS::Glue::Table');
  const tables: TableInput[] = Object.values(resources).map(({ Properties }) => Properties.TableInput);
  return { tables, database: catalog.databaseName };
}

/** Creates a bucket, and a database with the stack's tables over it. */
export async function createTables(narrowed: readonly Place[]) {
  const environment = servicesEnvironment();
  const bucket = uniqueName('tables').replaceAll('_', '-');
  const s3 = createS3Client(environment);
  await s3.send(new CreateBucketCommand({ Bucket: bucket }));
  s3.destroy();
  const times = { connectionTimeoutMs: 5_000, requestTimeoutMs: 20_000 };
  const glue = new GlueClient(awsClientConfig(environment, { service: 'GLUE', ...times }));
  const { tables, database } = catalogOver(bucket, narrowed, bucket);
  await glue.send(new CreateDatabaseCommand({ DatabaseInput: { Name: database } }));
  for (const TableInput of tables)
    await glue.send(new CreateTableCommand({ DatabaseName: database, TableInput }));
  glue.destroy();
  return { bucket, database, names: tables.map(({ Name = '' }) => Name) };
}

/** Connects Trino to the databases and buckets of the other engine, with Athena's settings. */
export async function connectTrino(endpoint: string): Promise<void> {
  const { AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = servicesEnvironment();
  const keys = (prefix: string) => ({
    [`${prefix}region`]: AWS_REGION,
    [`${prefix}aws-access-key`]: AWS_ACCESS_KEY_ID,
    [`${prefix}aws-secret-key`]: AWS_SECRET_ACCESS_KEY,
  });
  const properties = {
    'hive.metastore': 'glue',
    'hive.metastore.glue.endpoint-url': AWS_ENDPOINT_URL,
    'hive.metastore.glue.catalogid': '123456789012',
    ...keys('hive.metastore.glue.'),
    'fs.native-s3.enabled': 'true',
    's3.endpoint': AWS_ENDPOINT_URL,
    's3.path-style-access': 'true',
    ...keys('s3.'),
    'hive.partition-projection-enabled': 'true',
    // As in Athena, a table without partitions includes subfolders.
    'hive.recursive-directories': 'true',
    // moto does not support statistics.
    'hive.table-statistics-enabled': 'false',
  };
  const settings = Object.entries(properties).map(([name, value]) => `"${name}" = '${value}'`);
  await untilReady(endpoint);
  await runTrino(
    endpoint,
    `CREATE CATALOG IF NOT EXISTS awsdatacatalog USING hive WITH (${settings.join(', ')})`,
  );
}
