import {
  CreatePartitionCommand,
  DeletePartitionCommand,
  GetTableCommand,
  GlueClient,
  type StorageDescriptor,
  UpdatePartitionCommand,
} from '@aws-sdk/client-glue';
import { type AwsEnvironment, awsClientConfig } from '../../aws/client-config.ts';
import { type PartitionOfRun, type Partitions, PartitionsError, partitionOf } from './partitions.ts';

export type GluePartitionsOptions = {
  readonly database: string;
  /** The store that the runs lie in: `s3://bucket/prefix`, without a slash at its end. */
  readonly location: string;
  /** Where region, endpoint, credentials and a proxy are looked up; what is absent is left to the SDK. */
  readonly environment: AwsEnvironment;
};

/** Two others that add and remove the same partition meanwhile are more than there can be. */
const MOST_ROUNDS = 3;

/** The partitions of the Glue tables of a database. */
export function gluePartitions({ database, location, environment }: GluePartitionsOptions): Partitions {
  const client = new GlueClient(
    awsClientConfig(environment, { service: 'GLUE', connectionTimeoutMs, requestTimeoutMs }),
  );
  const named = ({ table }: PartitionOfRun) => ({ DatabaseName: database, TableName: table });

  async function put(partition: PartitionOfRun): Promise<void> {
    const values = [...partition.values];
    const PartitionInput = {
      Values: values,
      StorageDescriptor: {
        ...(await describeTable(client, named(partition))),
        Location: `${location}/${partition.folder}`,
      },
    };
    for (let round = 1; ; round += 1) {
      const mayGoOn = ignoring(round < MOST_ROUNDS);
      const created = await client
        .send(new CreatePartitionCommand({ ...named(partition), PartitionInput }))
        .catch(mayGoOn('AlreadyExistsException'));
      if (created !== undefined) return;
      // It may lie elsewhere: setting it asks for one right less than looking first.
      const updated = await client
        .send(new UpdatePartitionCommand({ ...named(partition), PartitionValueList: values, PartitionInput }))
        .catch(mayGoOn('EntityNotFoundException'));
      if (updated !== undefined) return;
    }
  }

  async function drop(partition: PartitionOfRun): Promise<void> {
    await client
      .send(new DeletePartitionCommand({ ...named(partition), PartitionValues: [...partition.values] }))
      .catch(ignoring(true)('EntityNotFoundException'));
  }

  const told =
    (act: string, { table, values }: PartitionOfRun) =>
    (cause: unknown) => {
      throw new PartitionsError(`${act} ${values.join('/')} in ${database}.${table}`, failureOf(cause), {
        cause,
      });
    };

  return {
    async add(place, run) {
      const partition = partitionOf(place, run);
      if (partition !== undefined) await put(partition).catch(told('add the partition', partition));
    },
    async remove(place, run) {
      const partition = partitionOf(place, run);
      if (partition !== undefined) await drop(partition).catch(told('remove the partition', partition));
    },
  };
}

/** A partition is read by its own description of the parts, so it takes over the table's as it is now. */
async function describeTable(
  client: GlueClient,
  { DatabaseName, TableName }: { readonly DatabaseName: string; readonly TableName: string },
): Promise<StorageDescriptor> {
  const { Table } = await client.send(new GetTableCommand({ DatabaseName, Name: TableName }));
  return Table?.StorageDescriptor ?? {};
}

/** Turns one refusal of Glue into undefined, if it may be ignored; throws everything else. */
const ignoring =
  (mayIgnore: boolean) =>
  (name: string) =>
  (error: unknown): undefined => {
    if (!mayIgnore || !(error instanceof Error) || error.name !== name) throw error;
  };

function failureOf(error: unknown): PartitionsError['failure'] {
  const code = error instanceof Error ? error.name : 'unknown';
  if (code === 'EntityNotFoundException') return { kind: 'no-table', code };
  return { kind: code === 'AccessDeniedException' ? 'denied' : 'other', code };
}

const connectionTimeoutMs = 5_000;
// Glue answers within a second; the SDK tries three times.
const requestTimeoutMs = 20_000;
