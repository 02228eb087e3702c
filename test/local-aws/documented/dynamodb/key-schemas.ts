import { type AwsRequest, isMembers, listOf, type Members } from '../aws-request.ts';
import { succeeded } from '../reply.ts';
import type { Ask } from '../rule.ts';

/** The names of a table's keys. */
export type KeySchema = { readonly partition: string; readonly sort: string | undefined };

/** Reads the keys of tables, once each; undefined if there is no such table. */
export function keySchemas(ask: Ask) {
  const known = new Map<string, KeySchema>();
  return async (request: AwsRequest, TableName: string): Promise<KeySchema | undefined> => {
    const schema = known.get(TableName) ?? (await readSchema(request, { ask, TableName }));
    if (schema !== undefined) known.set(TableName, schema);
    return schema;
  };
}

type Read = { readonly ask: Ask; readonly TableName: string };

async function readSchema(request: AwsRequest, { ask, TableName }: Read): Promise<KeySchema | undefined> {
  const { Table } = succeeded(await ask(otherRequest(request, 'DescribeTable', { TableName }))) ?? {};
  if (!isMembers(Table)) return undefined;
  const nameOf = (type: string) =>
    listOf(Table['KeySchema']).find(({ KeyType }) => KeyType === type)?.['AttributeName'];
  const [partition, sort] = [nameOf('HASH'), nameOf('RANGE')];
  return { partition: String(partition), sort: sort === undefined ? undefined : String(sort) };
}

/** Another operation, signed as the request is. */
export const otherRequest = (request: AwsRequest, operation: string, members: Members): AwsRequest => ({
  ...request,
  operation,
  headers: { ...request.headers, 'x-amz-target': `DynamoDB_20120810.${operation}` },
  body: Buffer.from(JSON.stringify(members)),
});

/** The key of an item, without its other attributes. */
export const keyIn = (item: Members, { partition, sort }: KeySchema): Members => ({
  [partition]: item[partition],
  ...(sort === undefined ? {} : { [sort]: item[sort] }),
});
