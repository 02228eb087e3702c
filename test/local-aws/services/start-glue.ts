import {
  type JsonRequest,
  type JsonResponse,
  refusal,
  startJsonServer,
  unknownOperation,
} from './json-server.ts';
import type { LoopbackServer } from './loopback-server.ts';

/** A partition as the client sent it: `Values`, `StorageDescriptor` and any other members. */
type GluePartition = Readonly<Record<string, unknown>> & { readonly Values: readonly string[] };

export type GlueOptions = {
  readonly database: string;
  /** The tables, each with its storage descriptor. */
  readonly tables: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};

/** Glue's operations on partitions, for tables that exist from the start. Set `AWS_ENDPOINT_URL_GLUE` to its endpoint. */
export type LocalGlue = LoopbackServer & {
  /** All requests so far, including refused ones. */
  readonly requests: readonly Pick<JsonRequest, 'operation' | 'body'>[];
  /** The partitions of a table, in the order in which they were created. */
  partitions(table: string): readonly GluePartition[];
};

/** Starts Glue with GetTable, CreatePartition, UpdatePartition and DeletePartition. */
export async function startGlue({ database, tables }: GlueOptions): Promise<LocalGlue> {
  const requests: Pick<JsonRequest, 'operation' | 'body'>[] = [];
  const stored = new Map(Object.keys(tables).map((table) => [table, new Map<string, GluePartition>()]));
  const server = await startJsonServer((request) => {
    const { operation, body } = request;
    requests.push({ operation, body });
    const table = String(operation === 'GetTable' ? body['Name'] : body['TableName']);
    const partitions = stored.get(table);
    if (body['DatabaseName'] !== database || partitions === undefined)
      return refusal('EntityNotFoundException', `Table ${table} not found.`);
    if (operation !== 'GetTable') return changePartitions(partitions, request);
    return done({ Table: { Name: table, DatabaseName: database, StorageDescriptor: tables[table] } });
  });
  return { ...server, requests, partitions: (table) => [...(stored.get(table)?.values() ?? [])] };
}

function changePartitions(partitions: Map<string, GluePartition>, request: JsonRequest): JsonResponse {
  const { operation, body } = request;
  const input = body['PartitionInput'] as GluePartition | undefined;
  switch (operation) {
    case 'CreatePartition': {
      const key = keyOf(input?.Values);
      if (input === undefined || key === undefined) return invalid;
      if (partitions.has(key)) return refusal('AlreadyExistsException', 'Partition already exists.');
      partitions.set(key, input);
      return done({});
    }
    case 'UpdatePartition': {
      const [key, next] = [keyOf(body['PartitionValueList']), keyOf(input?.Values)];
      if (input === undefined || key === undefined || next === undefined) return invalid;
      if (!partitions.has(key)) return missing;
      if (next !== key) partitions.delete(key);
      partitions.set(next, input);
      return done({});
    }
    case 'DeletePartition': {
      const key = keyOf(body['PartitionValues']);
      if (key === undefined) return invalid;
      return partitions.delete(key) ? done({}) : missing;
    }
    default:
      return unknownOperation(request);
  }
}

/** A key for a partition's values; undefined if there are none. */
const keyOf = (values: unknown): string | undefined =>
  Array.isArray(values) && values.length > 0 ? JSON.stringify(values) : undefined;

const done = (body: object): JsonResponse => ({ status: 200, body });
const missing = refusal('EntityNotFoundException', 'Partition not found.');
const invalid = refusal('InvalidInputException', 'The values of the partition are missing.');
