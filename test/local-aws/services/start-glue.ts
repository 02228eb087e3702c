import type { IncomingMessage } from 'node:http';
import { type LoopbackServer, startLoopbackServer } from './loopback-server.ts';

/** A request as received: the operation, and its members. */
type GlueRequest = {
  readonly operation: string;
  readonly body: Readonly<Record<string, unknown>>;
};

type GlueResponse = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };

/** A partition as the client sent it: `Values`, `StorageDescriptor` and any other members. */
type GluePartition = Readonly<Record<string, unknown>> & { readonly Values: readonly string[] };

export type GlueOptions = {
  readonly database: string;
  /** The tables, each with its storage descriptor. */
  readonly tables: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};

/** A stand-in for Glue: the operations on partitions, for tables that exist from the start. */
export type Glue = {
  /** All requests so far, refused or not. */
  readonly requests: readonly GlueRequest[];
  /** The partitions of a table, in the order in which they were created. */
  partitions(table: string): readonly GluePartition[];
  respond(request: GlueRequest): GlueResponse;
};

/** Glue without a connection. It supports GetTable, CreatePartition, UpdatePartition and DeletePartition. */
function createGlue({ database, tables }: GlueOptions): Glue {
  const requests: GlueRequest[] = [];
  const stored = new Map(Object.keys(tables).map((table) => [table, new Map<string, GluePartition>()]));
  return {
    requests,
    partitions: (table) => [...(stored.get(table)?.values() ?? [])],
    respond(request) {
      requests.push(request);
      const { operation, body } = request;
      const table = String(operation === 'GetTable' ? body['Name'] : body['TableName']);
      const partitions = stored.get(table);
      if (body['DatabaseName'] !== database || partitions === undefined)
        return refusal('EntityNotFoundException', `Table ${table} not found.`);
      if (operation !== 'GetTable') return changePartitions(partitions, request);
      return done({ Table: { Name: table, DatabaseName: database, StorageDescriptor: tables[table] } });
    },
  };
}

function changePartitions(
  partitions: Map<string, GluePartition>,
  { operation, body }: GlueRequest,
): GlueResponse {
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
      return refusal('UnknownOperationException', operation);
  }
}

/** A key for a partition's values; undefined if there are none. */
const keyOf = (values: unknown): string | undefined =>
  Array.isArray(values) && values.length > 0 ? JSON.stringify(values) : undefined;

const done = (body: GlueResponse['body']): GlueResponse => ({ status: 200, body });
const refusal = (name: string, message: string): GlueResponse => ({
  status: 400,
  body: { __type: name, Message: message },
});
const missing = refusal('EntityNotFoundException', 'Partition not found.');
const invalid = refusal('InvalidInputException', 'The values of the partition are missing.');

/** Set `AWS_ENDPOINT_URL_GLUE` to its endpoint. */
export type LocalGlue = Glue & LoopbackServer;

/** Glue's protocol (JSON 1.1 by `X-Amz-Target`) on a free port of loopback; nothing remains after `close`. */
export async function startGlue(options: GlueOptions): Promise<LocalGlue> {
  const glue = createGlue(options);
  const server = await startLoopbackServer(async (request, response) => {
    const { status, body } = glue.respond(await readRequest(request));
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(JSON.stringify(body));
  });
  return { ...glue, ...server };
}

async function readRequest(request: IncomingMessage): Promise<GlueRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const operation = String(request.headers['x-amz-target']).replace(/^AWSGlue\./, '');
  return { operation, body: JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}') };
}
