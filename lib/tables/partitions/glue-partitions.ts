import {
  CreatePartitionCommand,
  DeletePartitionCommand,
  GetTableCommand,
  GlueClient,
  type StorageDescriptor,
  UpdatePartitionCommand,
} from '@aws-sdk/client-glue';
import { type AwsEnvironment, awsClientConfig, kindOfFault, readAwsFault } from '../../base/index.ts';
import {
  changesPartitionOf,
  type PartitionOfRun,
  type Partitions,
  PartitionsError,
  partitionOf,
} from './partitions.ts';

export type GluePartitionsOptions = {
  readonly database: string;
  /** The store that contains the runs: `s3://bucket/prefix`, without a slash at its end. */
  readonly location: string;
  /** Where region, endpoint, credentials and a proxy are looked up; what is absent is left to the SDK. */
  readonly environment: AwsEnvironment;
};

/** The partitions of a database's Glue tables. The client times out and tries three times, or `AWS_MAX_ATTEMPTS`. */
export function gluePartitions({ database, location, environment }: GluePartitionsOptions): Partitions {
  const client = new GlueClient(
    awsClientConfig(environment, {
      service: 'GLUE',
      connectionTimeoutMs: CONNECTION_TIMEOUT_MS,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
    }),
  );
  const named = (TableName: string) => ({ DatabaseName: database, TableName });

  /** How a table describes its parts. Athena reads a partition by its own description, so it gets a copy of this one. */
  async function describeTable(Name: string): Promise<StorageDescriptor> {
    const { Table } = await client.send(new GetTableCommand({ DatabaseName: database, Name }));
    return Table?.StorageDescriptor ?? {};
  }

  /** The table of a partition; undefined for a narrowed snapshot that has none. */
  async function findTable({ table, narrowed }: PartitionOfRun) {
    if (narrowed === undefined) return { name: table, description: await describeTable(table) };
    for (const name of [table, narrowed.otherTable]) {
      const description = await describeTable(name).catch(unlessSaid('EntityNotFoundException'));
      if (description?.Location === `${location}/${narrowed.placeFolder}`) return { name, description };
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
    const isNew = async () => {
      await client.send(new CreatePartitionCommand(about));
      return true;
    };
    // One that is there may point elsewhere. Updating it needs one permission fewer than looking first.
    if (await isNew().catch(unlessSaid('AlreadyExistsException'))) return;
    await client.send(new UpdatePartitionCommand({ ...about, PartitionValueList: values }));
  }

  async function drop(partition: PartitionOfRun): Promise<void> {
    const { table, narrowed, values } = partition;
    // The table of a source has one name: it is not looked at first.
    const name = narrowed === undefined ? table : (await findTable(partition))?.name;
    if (name === undefined) return;
    const remove = new DeletePartitionCommand({ ...named(name), PartitionValues: [...values] });
    await client.send(remove).catch(unlessSaid('EntityNotFoundException'));
  }

  const orFail =
    (action: string, act: (partition: PartitionOfRun) => Promise<void>) => (partition: PartitionOfRun) =>
      act(partition).catch((cause: unknown) => {
        const tried = `${action} the partition ${partition.values.join('/')} in ${database}.${partition.table}`;
        throw new PartitionsError(tried, failureOf(cause), { cause });
      });
  const [add, remove] = [orFail('add', put), orFail('remove', drop)];

  return {
    async add(place, run, { changes }) {
      await add(partitionOf(place, run));
      if (changes === null) await remove(changesPartitionOf(place, run));
      else await add(changesPartitionOf(place, run, changes.key));
    },
    async remove(place, run) {
      await remove(partitionOf(place, run));
      await remove(changesPartitionOf(place, run));
    },
  };
}

/** Undefined for an error of Glue that has this name; throws all others. */
const unlessSaid =
  (name: string) =>
  (error: unknown): undefined => {
    if (!(error instanceof Error) || error.name !== name) throw error;
  };

function failureOf(error: unknown): PartitionsError['failure'] {
  const fault = readAwsFault(error);
  const { code, missing } = fault;
  if (missing !== undefined) return { kind: 'unconfigured', code, expected: missing };
  if (code === 'EntityNotFoundException') return { kind: 'no-table', code };
  return { kind: kindOfFault(fault) === 'denied' ? 'denied' : 'other', code };
}

const CONNECTION_TIMEOUT_MS = 5_000;
// Glue responds within a second.
const REQUEST_TIMEOUT_MS = 20_000;
