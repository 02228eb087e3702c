import { setTimeout as delay } from 'node:timers/promises';
import {
  type AttributeValue,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { checkKey, checkRow } from './check-row.ts';
import { createDynamoClient, type DynamoEnvironment } from './dynamo-client.ts';
import { explainDynamoError } from './dynamo-failure.ts';
import { fromItem, toItem, toItemKey } from './dynamo-item.ts';
import { absentOrWith, onlyOver, queryOf, scanOf } from './dynamo-requests.ts';
import { settleWrite } from './settle-write.ts';
import type { RowKey, StoredRow, Table } from './table.ts';
import { TableError } from './table-error.ts';
import { OF_EACH_ATTEMPT, watchAttempts } from './watch-attempts.ts';

export type DynamoTableOptions = {
  /** Its keys are the strings `pk` and `sk`; its TTL attribute, if it has one, is `expires`. */
  readonly tableName: string;
  /** Where region, endpoint, credentials and proxy are looked up; what is absent is left to the SDK. */
  readonly environment: DynamoEnvironment;
  /** Default: one by `environment`. */
  readonly client?: DynamoDBClient;
  readonly sleep?: (ms: number) => Promise<unknown>;
};

/**
 * Rows in a DynamoDB table: a row's members are attributes of its item, beside `pk`, `sk`, `token` and `expires`.
 * All reads are consistent. The client times out and tries four times, or `AWS_MAX_ATTEMPTS`; a write whose outcome
 * is unknown is looked for and made again in up to three such rounds.
 */
export const createDynamoTable = ({
  tableName,
  environment,
  client = createDynamoClient(environment),
  sleep = delay,
}: DynamoTableOptions): Table => {
  const place: Place = { client, tableName };
  const name = (act: string, { partition, sort }: RowKey) =>
    `${act} ${partition} ${sort} in table ${tableName}`;
  const read = (key: RowKey) => readRow(place, key);
  return {
    get(key) {
      const tried = name('get', key);
      return explained(place, tried, async () => {
        checkKey(tried, key);
        return read(key);
      });
    },
    put(key, row, { expected, token, expiresAtMs }) {
      const tried = name('put', key);
      return explained(place, tried, async () => {
        checkRow(tried, key, row);
        const item = toItem(key, row, token, expiresAtMs);
        const isMade = (current: StoredRow | undefined) => current?.token === token;
        const write = (onFailed: OnFailed) => {
          const command = new PutItemCommand({ TableName: tableName, Item: item, ...onlyOver(expected) });
          command.middlewareStack.add(watchAttempts(onFailed), OF_EACH_ATTEMPT);
          return client.send(command);
        };
        return settleWrite({ write, read: () => read(key), isMade, expected, sleep });
      });
    },
    delete(key, expected) {
      const tried = name('delete', key);
      return explained(place, tried, async () => {
        checkKey(tried, key);
        const isMade = (current: StoredRow | undefined) => current === undefined;
        const write = (onFailed: OnFailed) => {
          const Key = marshall(toItemKey(key));
          const command = new DeleteItemCommand({ TableName: tableName, Key, ...absentOrWith(expected) });
          command.middlewareStack.add(watchAttempts(onFailed), OF_EACH_ATTEMPT);
          return client.send(command);
        };
        return settleWrite({ write, read: () => read(key), isMade, expected, sleep });
      });
    },
    list(partition) {
      const tried = `list ${partition} in table ${tableName}`;
      return explainedEach(place, tried, () => {
        checkKey(tried, { partition, sort: '-' });
        return rowsOf((start) =>
          client.send(new QueryCommand({ ...queryOf(tableName, partition), ...start })),
        );
      });
    },
    scan(prefix) {
      return explainedEach(place, `scan ${prefix}* in table ${tableName}`, () =>
        rowsOf((start) => client.send(new ScanCommand({ ...scanOf(tableName, prefix), ...start }))),
      );
    },
  };
};

type Place = { readonly client: DynamoDBClient; readonly tableName: string };
type OnFailed = (error: unknown) => void;

const readRow = async ({ client, tableName }: Place, key: RowKey): Promise<StoredRow | undefined> => {
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
};

type Item = Record<string, AttributeValue>;
type Start = { readonly ExclusiveStartKey?: Item };
type Page = { readonly Items?: Item[] | undefined; readonly LastEvaluatedKey?: Item | undefined };

// A page may be empty, or without rows that pass the filter, and not be the last.
async function* rowsOf(send: (start: Start) => Promise<Page>) {
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

const translate = ({ tableName }: Place, tried: string, error: unknown): TableError =>
  error instanceof TableError
    ? error
    : new TableError(tried, explainDynamoError(tableName, error), { cause: error });

const explained = async <T>(place: Place, tried: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw translate(place, tried, error);
  }
};

async function* explainedEach<T>(
  place: Place,
  tried: string,
  source: () => AsyncGenerator<T>,
): AsyncGenerator<T> {
  try {
    yield* source();
  } catch (error) {
    throw translate(place, tried, error);
  }
}
