import {
  CreatePartitionCommand,
  DeletePartitionCommand,
  GetTableCommand,
  GlueClient,
  type StorageDescriptor,
  UpdatePartitionCommand,
} from '@aws-sdk/client-glue';
import { type AwsEnvironment, asAwsError, awsClientConfig } from '../../base/aws/index.ts';
import type { Manifest } from '../../snapshot/history/index.ts';
import { isSource, type Place, parquetFolder, type Run } from '../../snapshot/sources/index.ts';
import { glueTableOf, otherGlueTableOf } from '../catalog/table-names.ts';

function createGlueClient(environment: AwsEnvironment): GlueClient {
  const limits = { connectionTimeoutMs: CONNECTION_TIMEOUT_MS, requestTimeoutMs: REQUEST_TIMEOUT_MS };
  return new GlueClient(awsClientConfig(environment, { service: 'GLUE', ...limits }));
}

/**
 * Reads the description of a table, with the same request as adding a partition. Throws `AwsError` if it is missing or
 * access is denied.
 */
export const seeGlueTable = (database: string, Name: string, environment: AwsEnvironment): Promise<unknown> =>
  asAwsError({ resource: 'catalog', tried: `look at ${database}.${Name}` }, () =>
    createGlueClient(environment).send(new GetTableCommand({ DatabaseName: database, Name })),
  );

/**
 * Creates the `Partitions` of a database's Glue tables. The client has time-outs and tries three times, or
 * `AWS_MAX_ATTEMPTS`.
 */
export function gluePartitions(options: {
  readonly database: string;
  /** The location of the store: `s3://bucket/prefix`, without a slash at its end. */
  readonly location: string;
  readonly environment: AwsEnvironment;
}) {
  const { database, location, environment } = options;
  const client = createGlueClient(environment);
  const named = (TableName: string) => ({ DatabaseName: database, TableName });

  /**
   * Reads the description of how a table's files are stored. Each partition gets a copy of it, since Athena reads a
   * partition according to the partition's own description.
   */
  async function describeTable(Name: string): Promise<StorageDescriptor> {
    const { Table } = await client.send(new GetTableCommand({ DatabaseName: database, Name }));
    return Table?.StorageDescriptor ?? {};
  }

  /** The table that a partition belongs to; undefined for a narrowed snapshot without a table. */
  async function findTable({ table, narrowed }: PartitionOfRun) {
    if (narrowed === undefined) return { name: table, description: await describeTable(table) };
    for (const name of [table, otherGlueTableOf(narrowed)]) {
      const description = await describeTable(name).catch(ignoreError('EntityNotFoundException'));
      if (description?.Location === `${location}/parquet/${narrowed}/`) return { name, description };
    }
    return undefined;
  }

  async function put(partition: PartitionOfRun): Promise<void> {
    const table = await findTable(partition);
    if (table === undefined) return;
    const values = [...partition.values];
    const Location = `${location}/${partition.folder}`;
    const PartitionInput = { Values: values, StorageDescriptor: { ...table.description, Location } };
    const about = { ...named(table.name), PartitionInput };
    const created = await client
      .send(new CreatePartitionCommand(about))
      .catch(ignoreError('AlreadyExistsException'));
    // An existing partition may point to another folder, so it is updated. Reading it first would need another
    // permission.
    if (created === undefined)
      await client.send(new UpdatePartitionCommand({ ...about, PartitionValueList: values }));
  }

  async function drop(partition: PartitionOfRun): Promise<void> {
    const { table, narrowed, values } = partition;
    // The table of a whole source has a fixed name, so it need not be looked up.
    const name = narrowed === undefined ? table : (await findTable(partition))?.name;
    if (name === undefined) return;
    const remove = new DeletePartitionCommand({ ...named(name), PartitionValues: [...values] });
    await client.send(remove).catch(ignoreError('EntityNotFoundException'));
  }

  const withContext =
    (action: string, act: (partition: PartitionOfRun) => Promise<void>) => (partition: PartitionOfRun) =>
      asAwsError(
        {
          resource: 'catalog',
          tried: `${action} the partition ${partition.values.join('/')} in ${database}.${partition.table}`,
        },
        () => act(partition),
      );
  const add = withContext('add', put);
  const remove = withContext('remove', drop);

  return {
    async add(place: Place, run: Run, { changes }: Pick<Manifest, 'changes'>) {
      await add(partitionOf(place, run));
      if (changes === null) await remove(changesPartitionOf(place, run));
      else await add(changesPartitionOf(place, run, changes.key));
    },
    async remove(place: Place, run: Run) {
      await remove(partitionOf(place, run));
      await remove(changesPartitionOf(place, run));
    },
  };
}

/** The partition of a run. `folder`: its folder in the store; ends in a slash. */
type PartitionOfRun = {
  readonly table: string;
  /** The place, for a narrowed snapshot. It may lack a table, and `table` may belong to another place. */
  readonly narrowed: Place | undefined;
  /** The values in the order of the table's keys: `gluePartitionKeys`; for changes, the place comes before them. */
  readonly values: readonly string[];
  readonly folder: string;
};

const partitionOf = (place: Place, run: Run): PartitionOfRun => ({
  table: glueTableOf(place),
  narrowed: isSource(place) ? undefined : place,
  values: [run.startedAt.slice(0, 10), run.id],
  folder: parquetFolder(place, run),
});

/** The partition of a run's changes. `key`: the key under which they are stored. */
function changesPartitionOf(place: Place, run: Run, key = ''): PartitionOfRun {
  const folder = key.slice(0, key.lastIndexOf('/') + 1);
  const values = [place, ...partitionOf(place, run).values];
  return { table: 'stored_changes', narrowed: undefined, values, folder };
}

/** Returns a handler that ignores the error of this name, and rethrows any other error. */
const ignoreError =
  (name: string) =>
  (error: unknown): undefined => {
    if (!(error instanceof Error) || error.name !== name) throw error;
  };

const CONNECTION_TIMEOUT_MS = 5_000;
// Glue usually responds within a second.
const REQUEST_TIMEOUT_MS = 20_000;
