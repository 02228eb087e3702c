import { conditionOf, type Item, type Scope, updateOf, type Value } from './dynamo-expressions.ts';

type Input = {
  readonly TableName?: string;
  readonly Key?: Item;
  readonly RequestItems?: Readonly<Record<string, { readonly Keys: readonly Item[] }>>;
  readonly Item?: Item;
  readonly ConditionExpression?: string;
  readonly UpdateExpression?: string;
  readonly KeyConditionExpression?: string;
  readonly FilterExpression?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: Readonly<Record<string, Value>>;
  readonly ReturnValues?: string;
  readonly ReturnValuesOnConditionCheckFailure?: string;
};

/** A reply. The body of an error has `__type`. `units`: capacity units of the write, or of the consistent read. */
export type DynamoReply = { readonly status: 200 | 400; readonly body: object; readonly units?: number };

const done = (body: object, units = 1): DynamoReply => ({ status: 200, body, units });

const WRITE_BYTES = 1_024;
const READ_BYTES = 4_096;

const unitsOf = (item: Item | undefined, bytes: number) => Math.max(1, Math.ceil(sizeOf(item) / bytes));

/** The size of an item, about as DynamoDB counts it: names and values. */
const sizeOf = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).reduce((sum, [name, each]) => sum + name.length + sizeOf(each), 0)
    : String(value).length;

/**
 * Creates the operations of DynamoDB that workers use, on items in memory with the keys `pk` and `sk`. It does not
 * check limits or input, and takes a tenth of dynalite's CPU, so that a race measures the contenders, not the table.
 * Every table name exists.
 */
export function createDynamoInMemory(): (operation: string, input: object) => DynamoReply {
  const tables = new Map<string, Map<string, Item>>();
  return (operation, given) => {
    const input = given as Input;
    const name = input.TableName ?? Object.keys(input.RequestItems ?? {})[0] ?? '';
    const items = tables.get(name) ?? new Map<string, Item>();
    tables.set(name, items);
    const operate = operations[operation];
    if (operate !== undefined) return operate(items, input);
    return { status: 400, body: { __type: 'UnknownOperationException', message: operation } };
  };
}

const keyOf = ({ Key, Item: item }: Pick<Input, 'Key' | 'Item'>): string =>
  JSON.stringify([(Key ?? item)?.['pk']?.['S'], (Key ?? item)?.['sk']?.['S']]);

const scopeOf = (input: Input, item: Item): Scope => ({
  item,
  names: input.ExpressionAttributeNames ?? {},
  values: input.ExpressionAttributeValues ?? {},
});

/** Applies a change if its condition holds for the stored item. */
function changed(
  items: Map<string, Item>,
  input: Input,
  change: (key: string, old: Item) => object,
): DynamoReply {
  const key = keyOf(input);
  const old = items.get(key);
  const { ConditionExpression: condition } = input;
  if (condition === undefined || conditionOf(condition)(scopeOf(input, old ?? {})))
    return done(change(key, old ?? {}), unitsOf(items.get(key) ?? old, WRITE_BYTES));
  const inTheWay = input.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' && old !== undefined;
  const body = {
    __type: 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException',
    message: 'The conditional request failed',
    ...(inTheWay ? { Item: old } : {}),
  };
  return { status: 400, body, units: unitsOf(old, WRITE_BYTES) };
}

function found(items: Map<string, Item>, input: Input): DynamoReply {
  const expression = input.KeyConditionExpression ?? input.FilterExpression;
  const all = [...items]
    .toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map(([, item]) => item);
  const Items =
    expression === undefined ? all : all.filter((item) => conditionOf(expression)(scopeOf(input, item)));
  return done({ Items, Count: Items.length }, unitsOf({ Items } as unknown as Item, READ_BYTES));
}

const operations: Readonly<Record<string, (items: Map<string, Item>, input: Input) => DynamoReply>> = {
  GetItem(items, input) {
    const item = items.get(keyOf(input));
    return done(item === undefined ? {} : { Item: item }, unitsOf(item, READ_BYTES));
  },
  BatchGetItem(items, input) {
    const [[table, { Keys }] = ['', { Keys: [] }]] = Object.entries(input.RequestItems ?? {});
    const found = Keys.flatMap((Key) => items.get(keyOf({ Key })) ?? []);
    return done({ Responses: { [table]: found }, UnprocessedKeys: {} }, Keys.length);
  },
  PutItem: (items, input) =>
    changed(items, input, (key) => {
      items.set(key, input.Item ?? {});
      return {};
    }),
  DeleteItem: (items, input) =>
    changed(items, input, (key) => {
      items.delete(key);
      return {};
    }),
  UpdateItem: (items, input) =>
    changed(items, input, (key, old) => {
      const item = updateOf(input.UpdateExpression ?? '')(scopeOf(input, { ...input.Key, ...old }));
      items.set(key, item);
      return input.ReturnValues === 'ALL_NEW' ? { Attributes: item } : {};
    }),
  Query: found,
  Scan: found,
};
