import { setTimeout as delay } from 'node:timers/promises';
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
  readonly sleep?: (ms: number) => Promise<unknown>;
};

/** Enough, since at most one other process adds, removes or changes the same partition at the same time. */
const MOST_ROUNDS = 3;
const PAUSE_MS = 200;

/** The partitions of a database's Glue tables. The client times out and tries three times, or `AWS_MAX_ATTEMPTS`. */
export function gluePartitions({
  database,
  location,
  environment,
  sleep = delay,
}: GluePartitionsOptions): Partitions {
  const client = new GlueClient(
    awsClientConfig(environment, {
      service: 'GLUE',
      connectionTimeoutMs: CONNECTION_TIMEOUT_MS,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
    }),
  );
  const searched = { client, database, location };
  const named = (table: string) => ({ DatabaseName: database, TableName: table });
  async function put(partition: PartitionOfRun): Promise<void> {
    const values = [...partition.values];
    const found = await findTable(partition, searched);
    if (found === undefined) return;
    const { name, description: table } = found;
    const Location = `${location}/${partition.folder}`;
    const PartitionInput = { Values: values, StorageDescriptor: { ...table, Location } };
    for (let round = 1; ; round += 1) {
      const mayContinue = ignoring(round < MOST_ROUNDS);
      const create = new CreatePartitionCommand({ ...named(name), PartitionInput });
      const created = await retryingConflicts(() => client.send(create), sleep).catch(
        mayContinue('AlreadyExistsException'),
      );
      if (created !== undefined) return;
      // It may point elsewhere. Updating it needs one permission fewer than looking first.
      const update = new UpdatePartitionCommand({
        ...named(name),
        PartitionValueList: values,
        PartitionInput,
      });
      const updated = await retryingConflicts(() => client.send(update), sleep).catch(
        mayContinue('EntityNotFoundException'),
      );
      if (updated !== undefined) return;
    }
  }

  async function drop(partition: PartitionOfRun): Promise<void> {
    const PartitionValues = [...partition.values];
    // The table of a source has one name: it is not looked at first.
    const table =
      partition.narrowed === undefined ? partition.table : (await findTable(partition, searched))?.name;
    if (table === undefined) return;
    const remove = new DeletePartitionCommand({ ...named(table), PartitionValues });
    await retryingConflicts(() => client.send(remove), sleep).catch(
      ignoring(true)('EntityNotFoundException'),
    );
  }

  const failedTo =
    (action: string, { table, values }: PartitionOfRun) =>
    (cause: unknown) => {
      throw new PartitionsError(`${action} ${values.join('/')} in ${database}.${table}`, failureOf(cause), {
        cause,
      });
    };

  const add = (partition: PartitionOfRun) => put(partition).catch(failedTo('add the partition', partition));
  const remove = (partition: PartitionOfRun) =>
    drop(partition).catch(failedTo('remove the partition', partition));

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

type FoundTable = { readonly name: string; readonly description: StorageDescriptor };

type Searched = Pick<GluePartitionsOptions, 'database' | 'location'> & { readonly client: GlueClient };

/** The table of a partition; undefined for a narrowed snapshot that has none. */
async function findTable(
  { table, narrowed }: PartitionOfRun,
  { client, database: DatabaseName, location }: Searched,
): Promise<FoundTable | undefined> {
  const find = (TableName: string) => describeTable(client, { DatabaseName, TableName });
  if (narrowed === undefined) return { name: table, description: await find(table) };
  for (const name of [table, narrowed.otherTable]) {
    const description = await find(name).catch(ignoring(true)('EntityNotFoundException'));
    if (description?.Location === `${location}/${narrowed.placeFolder}`) return { name, description };
  }
  return undefined;
}

/** Athena reads a partition by its own description of the parts, so it gets a copy of the table's current one. */
async function describeTable(
  client: GlueClient,
  { DatabaseName, TableName }: { readonly DatabaseName: string; readonly TableName: string },
): Promise<StorageDescriptor> {
  const { Table } = await client.send(new GetTableCommand({ DatabaseName, Name: TableName }));
  return Table?.StorageDescriptor ?? {};
}

/** Turns the named error of Glue into undefined if it may be ignored; throws all others. */
const ignoring =
  (mayIgnore: boolean) =>
  (name: string) =>
  (error: unknown): undefined => {
    if (!mayIgnore || !(error instanceof Error) || error.name !== name) throw error;
  };

/** Retries, after a pause, what failed because of a concurrent change of the table. The SDK does not. */
async function retryingConflicts<T>(
  work: () => Promise<T>,
  sleep: (ms: number) => Promise<unknown>,
): Promise<T> {
  for (let round = 1; ; round += 1) {
    try {
      return await work();
    } catch (error) {
      if (round === MOST_ROUNDS || readAwsFault(error).code !== 'ConcurrentModificationException')
        throw error;
      await sleep(PAUSE_MS * round);
    }
  }
}

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
