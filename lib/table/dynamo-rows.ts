import {
  type AttributeValue,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
} from '@aws-sdk/client-dynamodb';
import { parseOwnJson } from '../base/index.ts';
import type { Row, RowKey, StoredRow } from './table.ts';

type Item = Record<string, AttributeValue>;

export type TableAddress = { readonly client: DynamoDBClient; readonly tableName: string };

/** The row under a key, by a consistent read; undefined if there is none. */
export async function readRow(
  { client, tableName }: TableAddress,
  key: RowKey,
): Promise<StoredRow | undefined> {
  const command = new GetItemCommand({
    TableName: tableName,
    Key: toItemKey(key),
    ConsistentRead: true,
  });
  const { Item } = await client.send(command);
  return Item && toStored(Item);
}

/**
 * The row that stood in the way of a conditional write: with ReturnValuesOnConditionCheckFailure it comes with the
 * failure. Undefined if there was none, or the table does not return it.
 */
export function rowInTheWay(error: unknown): StoredRow | undefined {
  const { Item } = error instanceof ConditionalCheckFailedException ? error : {};
  return Item && toStored(Item);
}

function toStored(item: Item): StoredRow {
  const found = fromItem(item);
  if (found === undefined) throw new Error('expected an item with a token, got one without');
  return { row: found.row, token: found.token };
}
type Start = { readonly ExclusiveStartKey?: Item };
type Page = { readonly Items?: Item[] | undefined; readonly LastEvaluatedKey?: Item | undefined };

/** The rows of all pages. A page may be empty, or have no rows that pass the filter, without being the last. */
export async function* rowsOf(send: (start: Start) => Promise<Page>) {
  let last: Item | undefined;
  do {
    const page = await send(last === undefined ? {} : { ExclusiveStartKey: last });
    for (const item of page.Items ?? []) {
      const found = fromItem(item);
      if (found) yield found;
    }
    last = page.LastEvaluatedKey;
  } while (last !== undefined);
}

/** A row as DynamoDB stores it, its members as one text; `expires` is in epoch seconds, as its TTL requires. */
export const toItem = (key: RowKey, text: string, token: string, expiresAtMs: number | undefined): Item => ({
  ...toItemKey(key),
  row: { S: text },
  token: { S: token },
  ...(expiresAtMs === undefined ? {} : { expires: { N: String(Math.ceil(expiresAtMs / 1_000)) } }),
});

export const toItemKey = ({ partition, sort }: RowKey): Item => ({ pk: { S: partition }, sk: { S: sort } });

/** Undefined for an item that was not written as a row: it has no token. */
function fromItem({ pk, sk, row, token }: Item): ({ readonly key: RowKey } & StoredRow) | undefined {
  if (token?.S === undefined || row?.S === undefined) return undefined;
  const key = { partition: pk?.S ?? '', sort: sk?.S ?? '' };
  return { key, row: parseOwnJson(row.S) as Row, token: token.S };
}
