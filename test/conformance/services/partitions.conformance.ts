import {
  CreateDatabaseCommand,
  CreateTableCommand,
  GetPartitionsCommand,
  GetTableCommand,
  GlueClient,
  type TableInput,
} from '@aws-sdk/client-glue';
import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { afterAll, expect, test } from 'vitest';
import { awsClientConfig } from '../../../lib/base/aws/client-config.ts';
import { startPlatform } from '../../../lib/sandbox/platform/start-platform.ts';
import { createS3Client } from '../../../lib/store/s3-client.ts';
import { openPartitions } from '../../../lib/tables/partitions/partitions.ts';
import { runCommand, settingsOf } from '../../cli/run-command.ts';
import { describePartitions } from '../../tables/partitions/partitions-suite.ts';
import { tablesOver } from '../sql/create-tables.ts';
import { servicesEnvironment, uniqueName } from './services-environment.ts';

const environment = servicesEnvironment();
const glue = new GlueClient(
  awsClientConfig(environment, { service: 'GLUE', connectionTimeoutMs: 5_000, requestTimeoutMs: 20_000 }),
);

afterAll(() => glue.destroy());

/** Creates a database with these tables, and returns functions that read it. */
async function createDatabase(tables: readonly TableInput[]) {
  const database = uniqueName('sync');
  await glue.send(new CreateDatabaseCommand({ DatabaseInput: { Name: database } }));
  for (const TableInput of tables)
    await glue.send(new CreateTableCommand({ DatabaseName: database, TableInput }));
  return {
    database,
    async description(table: string) {
      const { Table } = await glue.send(new GetTableCommand({ DatabaseName: database, Name: table }));
      return Table?.StorageDescriptor ?? {};
    },
    async stored(table: string) {
      const { Partitions = [] } = await glue.send(
        new GetPartitionsCommand({ DatabaseName: database, TableName: table }),
      );
      return Partitions.map(({ Values, StorageDescriptor }) => ({ Values, StorageDescriptor }));
    },
  };
}

/** Creates a database with two of the stack's tables. */
async function openStackTables() {
  const tables = tablesOver('bucket').filter(({ Name }) =>
    ['stored_calculations', 'stored_data_files'].includes(`${Name}`),
  );
  const { database, ...rest } = await createDatabase(tables);
  return {
    ...rest,
    partitionsIn(location: string) {
      const partitions = openPartitions({ database, store: { location }, environment });
      if (partitions === undefined) throw new Error('expected partitions, got none');
      return partitions;
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

describePartitions('the partitions of the stack’s tables', openStackTables);

test('each published run is a partition of its table, with the table’s columns', async () => {
  await using platform = await startPlatform({ calculations: 20, datasets: 2, cards: 0, dataFiles: 3 });
  const bucket = uniqueName('runs').replaceAll('_', '-');
  await createBucket(bucket);
  const { database, description, stored } = await createDatabase(tablesOver(bucket));
  const store = settingsOf(platform, `s3://${bucket}`);
  const settings = { ...environment, ...store, SYNC_GLUE_DATABASE: database };

  const manifests: { readonly run: string; readonly startedAt: string }[] = [];
  for (let round = 0; round < 2; round += 1) {
    const { code, out } = await runCommand(['snapshot', 'calculations', '--json'], settings);
    expect(code).toBe(0);
    manifests.push(JSON.parse(out));
  }

  const table = await description('stored_calculations');
  expect(await stored('stored_calculations')).toEqual(
    manifests.map(({ run, startedAt }) => {
      const day = startedAt.slice(0, 10);
      const Location = `s3://${bucket}/parquet/calculations/dt=${day}/run=${run}/`;
      return { Values: [day, run], StorageDescriptor: { ...table, Location } };
    }),
  );
  expect(await stored('stored_data_files')).toEqual([]);
});

async function createBucket(Bucket: string): Promise<void> {
  const client = createS3Client(environment);
  await client.send(new CreateBucketCommand({ Bucket }));
  client.destroy();
}
