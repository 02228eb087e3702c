import {
  type AttributeValue,
  DynamoDBClient,
  GetItemCommand,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { type AwsEnvironment, awsClientConfig } from '../base/index.ts';
import { explaining, isConditionFailed } from './dynamo-failure.ts';
import type { RowKey } from './table.ts';
import { type OnDate, onDateOf } from './table-dates.ts';

/** The attributes of an item that many processes change at once: each update is one conditional write, without a read. */
export type Attributes = Readonly<Record<string, number | string | undefined>>;

/** One update: in its expressions `#name` is the attribute of that name, and `:name` the value. */
export type ItemUpdate = {
  readonly update: string;
  readonly condition: string;
  readonly values: Attributes;
};

export type DynamoItemOptions = {
  /** Its keys are the strings `pk` and `sk`. */
  readonly tableName: string;
  readonly key: RowKey;
  readonly environment: AwsEnvironment;
  /** How often a request is made. Default: once, since a call waits for it. */
  readonly attempts?: number | undefined;
  /** Default: a client for `environment` that gives up after a second. */
  readonly client?: DynamoDBClient | undefined;
  /** Epoch milliseconds. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
};

export type DynamoItem = {
  /** Sees every write that got a response; no attributes if there is no item. `act` goes into errors. */
  read(act: string): Promise<Attributes>;
  /** What the item holds after the update; undefined if its condition does not hold. */
  update(act: string, update: ItemUpdate): Promise<Attributes | undefined>;
  readonly onDate: OnDate;
};

/** A call waits for these writes: no response is better than a late one. */
const TIMEOUT_MS = 1_000;

/** The client for such items. */
export const createItemClient = (environment: AwsEnvironment, attempts = 1): DynamoDBClient =>
  new DynamoDBClient({
    ...awsClientConfig(environment, {
      service: 'DYNAMODB',
      connectionTimeoutMs: TIMEOUT_MS,
      requestTimeoutMs: TIMEOUT_MS,
    }),
    maxAttempts: attempts,
    // `onDate` may be called after its first requests.
    cacheMiddleware: false,
  });

/** The item under a key of a DynamoDB table. Throws `TableError`; a write that throws may have been made all the same. */
export function createDynamoItem(options: DynamoItemOptions): DynamoItem {
  const { tableName, key, environment, attempts, now } = options;
  const { client = createItemClient(environment, attempts) } = options;
  const item = { TableName: tableName, Key: toItemKey(key) };
  const tried = (act: string) => `${act} ${key.partition} ${key.sort} in table ${tableName}`;
  return {
    read: (act) =>
      explaining(tableName, tried(act), async () => {
        const { Item } = await client.send(new GetItemCommand({ ...item, ConsistentRead: true }));
        return toAttributes(Item);
      }),
    update: (act, update) =>
      explaining(tableName, tried(act), async () => {
        const command = new UpdateItemCommand({ ...item, ReturnValues: 'ALL_NEW', ...toInput(update) });
        try {
          return toAttributes((await client.send(command)).Attributes);
        } catch (error) {
          if (isConditionFailed(error)) return undefined;
          throw error;
        }
      }),
    onDate: onDateOf(client, now),
  };
}

export const toItemKey = ({ partition, sort }: RowKey): Record<string, AttributeValue> => ({
  pk: { S: partition },
  sk: { S: sort },
});

type UpdateInput = Pick<
  UpdateItemCommandInput,
  'UpdateExpression' | 'ConditionExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
>;

function toInput({ update, condition, values }: ItemUpdate): UpdateInput {
  const names = [...`${update} ${condition}`.matchAll(/#\w+/g)].map(String);
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === undefined
      ? []
      : [[`:${name}`, typeof value === 'string' ? { S: value } : { N: String(value) }]],
  );
  return {
    UpdateExpression: update,
    ConditionExpression: condition,
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [name, name.slice(1)])),
    ...(given.length === 0 ? {} : { ExpressionAttributeValues: Object.fromEntries(given) }),
  };
}

const toAttributes = (item: Readonly<Record<string, AttributeValue>> = {}): Attributes =>
  Object.fromEntries(Object.entries(item).map(([name, { N, S }]) => [name, N === undefined ? S : Number(N)]));
