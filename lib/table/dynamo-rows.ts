import { type AttributeValue, type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { fromItem, toItemKey } from './dynamo-item.ts';
import type { RowKey, StoredRow } from './table.ts';

export type TableAddress = { readonly client: DynamoDBClient; readonly tableName: string };

/** The row under a key, by a consistent read; undefined if there is none. */
export async function readRow(
  { client, tableName }: TableAddress,
  key: RowKey,
): Promise<StoredRow | undefined> {
  const command = new GetItemCommand({
    TableName: tableName,
    Key: marshall(toItemKey(key)),
    ConsistentRead: true,
  });
  const { Item } = await client.send(command);
  if (Item === undefined) return undefined;
  const found = fromItem(Item);
  if (found === undefined) throw new Error('expected an item with a token, got one without');
  return { row: found.row, token: found.token };
}

type Item = Record<string, AttributeValue>;
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
