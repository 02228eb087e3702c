import { setTimeout as delay } from 'node:timers/promises';
import {
  type AttributeValue,
  BatchGetItemCommand,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import {
  type AwsEnvironment,
  awsClientConfig,
  kindOfFault,
  readAwsFault,
  withoutUnusedMiddleware,
} from '../base/aws/index.ts';
import { backoffMs } from '../base/index.ts';
import { parseOwnJson } from '../base/json/index.ts';
import { checkedText, checkKey } from './check-row.ts';
import type { Row, RowKey, StoredRow, Table, WriteResult } from './table.ts';
import { TableError, type TableFailure } from './table-error.ts';

type DynamoTableOptions = {
  /** The table's name. Its keys are the strings `pk` and `sk`; its TTL attribute, if any, is `expires`. */
  readonly tableName: string;
  readonly environment: AwsEnvironment;
  readonly client?: DynamoDBClient;
  /** Registers a listener for the dates of the client's responses. Default: none, and rows do not expire. */
  readonly onDate?: (listener: (seen: { readonly dateMs: number }) => void) => void;
  readonly sleep?: (ms: number) => Promise<unknown>;
};

/**
 * Opens a DynamoDB table. An item has the row as JSON in the attribute `row`, and the attributes `pk`, `sk`, `token` and
 * `expires`. All reads are consistent. The client has time-outs and makes four attempts (or
 * `AWS_MAX_ATTEMPTS`). If the outcome of a write is unknown, reads the row and repeats the write, in up to three
 * rounds. A failed condition costs no read.
 */
export function createDynamoTable({
  tableName: TableName,
  environment,
  client = createDynamoClient(environment),
  onDate,
  sleep = delay,
}: DynamoTableOptions): Table {
  const toExpiry = createExpiry(onDate);
  const onRow = <T>(act: string, key: RowKey, work: (tried: string) => Promise<T>): Promise<T> => {
    const tried = `${act} ${key.partition} ${key.sort} in table ${TableName}`;
    return explaining(TableName, tried, async () => {
      checkKey(tried, key);
      return work(tried);
    });
  };
  const read = async (key: RowKey) => {
    const command = new GetItemCommand({ TableName, Key: toItemKey(key), ConsistentRead: true });
    const { Item } = await client.send(command);
    return toStored(Item);
  };
  const settle = (key: RowKey, write: Pick<SettleWriteOptions, 'write' | 'isStored' | 'expected'>) =>
    settleWrite({ ...write, read: () => read(key), rowOf: currentRowIn, sleep });
  return {
    get: (key) => onRow('get', key, () => read(key)),
    getAll: (keys) => readAll(keys, { TableName, client, sleep }),
    put: (key, row, { expected, token, lifetimeMs }) =>
      onRow('put', key, async (tried) => {
        const Item = toItem(key, checkedText(tried, row), token, toExpiry(lifetimeMs));
        return settle(key, {
          write: () => client.send(new PutItemCommand({ TableName, Item, ...ifToken(expected) })),
          isStored: (current) => current?.token === token,
          expected,
        });
      }),
    delete: (key, expected) =>
      onRow('delete', key, () =>
        settle(key, {
          write: () =>
            client.send(
              new DeleteItemCommand({ TableName, Key: toItemKey(key), ...ifTokenOrAbsent(expected) }),
            ),
          isStored: (current) => current === undefined,
          expected,
        }),
      ),
    list: (partition) =>
      rowsOf(TableName, `list ${partition} in table ${TableName}`, (start) =>
        client.send(new QueryCommand({ ...within(partition), ...start })),
      ),
    scan: (prefix) =>
      rowsOf(TableName, `scan ${prefix}* in table ${TableName}`, (start) =>
        client.send(new ScanCommand({ ...beginningWith(prefix), ...start })),
      ),
  };
}

/**
 * Computes when DynamoDB may delete a row, by DynamoDB's own clock, since the clock here may be wrong: the lifetime
 * counts from the `Date` of the last response. Rows that are written before the first response do not expire.
 */
function createExpiry(onDate: DynamoTableOptions['onDate']) {
  let seen: { readonly dateMs: number; readonly atMs: number; readonly hereMs: number } | undefined;
  onDate?.(({ dateMs }) => {
    seen = { dateMs, atMs: performance.now(), hereMs: Date.now() };
  });
  return (lifetimeMs: number | undefined): number | undefined => {
    if (lifetimeMs === undefined || seen === undefined) return undefined;
    // The longer of two measures, since the steady clock stops while a machine sleeps. A `Date` is in whole seconds,
    // so the real time is up to one second later.
    const sinceMs = Math.max(performance.now() - seen.atMs, Date.now() - seen.hereMs);
    return seen.dateMs + 1_000 + sinceMs + lifetimeMs;
  };
}

/**
 * Under load, or beyond 16 MB, DynamoDB omits rows from a response. They are read again, with these pauses, up to this
 * number of reads in total.
 */
const MAX_READS = 8;
const UNREAD_PAUSE = { baseDelayMs: 50, maxDelayMs: 5_000 };

const nameOf = ({ partition, sort }: RowKey) => JSON.stringify([partition, sort]);

function readAll(
  keys: readonly RowKey[],
  options: Required<Pick<DynamoTableOptions, 'client' | 'sleep'>> & { readonly TableName: string },
) {
  const { TableName, client, sleep } = options;
  const tried = `get ${keys.length} rows in table ${TableName}`;
  return explaining(TableName, tried, async () => {
    for (const key of keys) checkKey(tried, key);
    const found = new Map<string, StoredRow | undefined>();
    let Keys = keys.map(toItemKey);
    for (let reads = 1; Keys.length > 0; reads += 1) {
      if (reads > MAX_READS) throw new TableError(tried, { kind: 'busy', code: 'UnprocessedKeys' });
      if (reads > 1) await sleep(backoffMs(reads - 1, Math.random(), UNREAD_PAUSE));
      const RequestItems = { [TableName]: { Keys, ConsistentRead: true } };
      const { Responses, UnprocessedKeys } = await client.send(new BatchGetItemCommand({ RequestItems }));
      for (const item of Responses?.[TableName] ?? []) found.set(nameOf(toKey(item)), toStored(item));
      Keys = UnprocessedKeys?.[TableName]?.Keys ?? [];
    }
    return keys.map((key) => found.get(nameOf(key)));
  });
}

/** Limits for a client of DynamoDB. */
export type ClientLimits = {
  /** How many times a request is sent at most. Default: 4, or `AWS_MAX_ATTEMPTS`. */
  readonly attempts?: number | undefined;
  /** The time limit of one request, in milliseconds. Default: 5,000. DynamoDB usually responds within tens of milliseconds. */
  readonly timeoutMs?: number | undefined;
};

/** Creates a client of DynamoDB with time-outs. */
export const createDynamoClient = (
  environment: AwsEnvironment,
  { attempts, timeoutMs = 5_000 }: ClientLimits = {},
): DynamoDBClient =>
  withoutUnusedMiddleware(
    new DynamoDBClient({
      ...awsClientConfig(environment, {
        service: 'DYNAMODB',
        connectionTimeoutMs: Math.min(2_000, timeoutMs),
        requestTimeoutMs: timeoutMs,
      }),
      ...(attempts === undefined ? {} : { maxAttempts: attempts }),
    }),
  );

/** With this, a write that fails its condition returns the current row, which saves a read. */
const RETURNED = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;

/** The condition of a put that replaces the row with this token or, for null, creates the row. */
const ifToken = (expected: string | null) =>
  expected === null
    ? { ...RETURNED, ConditionExpression: 'attribute_not_exists(pk)' }
    : { ...ifTokenOrAbsent(expected), ConditionExpression: '#token = :expected' };

const ifTokenOrAbsent = (expected: string) => ({
  ...RETURNED,
  ConditionExpression: 'attribute_not_exists(pk) OR #token = :expected',
  ExpressionAttributeNames: { '#token': 'token' },
  ExpressionAttributeValues: { ':expected': { S: expected } },
});

const within = (partition: string) => ({
  KeyConditionExpression: 'pk = :pk',
  ExpressionAttributeValues: { ':pk': { S: partition } },
});

/** The filter for partitions that begin with `prefix`. DynamoDB does not accept an empty string as an operand. */
const beginningWith = (prefix: string) =>
  prefix === ''
    ? {}
    : {
        FilterExpression: 'begins_with(pk, :prefix)',
        ExpressionAttributeValues: { ':prefix': { S: prefix } },
      };

type Item = Record<string, AttributeValue>;

const toItemKey = ({ partition, sort }: RowKey): Item => ({ pk: { S: partition }, sk: { S: sort } });

const toKey = ({ pk, sk }: Item): RowKey => ({ partition: pk?.S ?? '', sort: sk?.S ?? '' });

/** A row as an item, with its content as one string. `expires` is in epoch seconds, as DynamoDB's TTL requires. */
const toItem = (key: RowKey, text: string, token: string, expiresAtMs: number | undefined): Item => ({
  ...toItemKey(key),
  row: { S: text },
  token: { S: token },
  ...(expiresAtMs === undefined ? {} : { expires: { N: String(Math.ceil(expiresAtMs / 1_000)) } }),
});

/** The row of an item; undefined for an item without a token, which was not written as a row. */
const toStored = ({ row, token }: Item = {}): StoredRow | undefined =>
  row?.S === undefined || token?.S === undefined
    ? undefined
    : { row: parseOwnJson(row.S) as Row, token: token.S };

/** The current row from the error of a failed condition; undefined if there is no row, or the error lacks it. */
function currentRowIn(error: unknown): StoredRow | undefined {
  return error instanceof ConditionalCheckFailedException ? toStored(error.Item) : undefined;
}

/** The rows of all pages. A page without rows need not be the last page. */
async function* rowsOf(
  TableName: string,
  tried: string,
  send: (
    start: Readonly<{ TableName: string; ConsistentRead: true; ExclusiveStartKey: Item | undefined }>,
  ) => Promise<{ readonly Items?: Item[] | undefined; readonly LastEvaluatedKey?: Item | undefined }>,
) {
  let last: Item | undefined;
  try {
    do {
      const page = await send({ TableName, ConsistentRead: true, ExclusiveStartKey: last });
      for (const item of page.Items ?? []) {
        const found = toStored(item);
        if (found) yield { key: toKey(item), ...found };
      }
      last = page.LastEvaluatedKey;
    } while (last !== undefined);
  } catch (error) {
    throw asTableError(TableName, tried, error);
  }
}

const isConditionFailed = (error: unknown): boolean =>
  readAwsFault(error).code === 'ConditionalCheckFailedException';

/** Codes of errors thrown before any request is sent. */
const UNSENT_CODES: readonly string[] = ['CredentialsProviderError', 'MissingRegion', 'TokenProviderError'];

/**
 * Whether the write may have been stored: a connection broke, or the service failed, in this attempt or an earlier one.
 */
function isAmbiguous(failure: unknown): boolean {
  const { code, status, attempts } = readAwsFault(failure);
  if (UNSENT_CODES.includes(code)) return false;
  return attempts > 1 || status === undefined || status < 400 || status >= 500;
}

async function explaining<T>(table: string, tried: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asTableError(table, tried, error);
  }
}

const asTableError = (table: string, tried: string, error: unknown): TableError =>
  error instanceof TableError ? error : new TableError(tried, failureOf(table, error), { cause: error });

const EXPECTED = 'an ACTIVE table with the strings pk and sk as its keys';

function failureOf(table: string, error: unknown): TableFailure {
  const fault = readAwsFault(error);
  const { code, status, missing } = fault;
  if (missing !== undefined) return { kind: 'unconfigured', code, expected: missing };
  if (code === 'ResourceNotFoundException')
    return { kind: 'bad-table', table, expected: EXPECTED, got: 'none' };
  // Keys and rows are checked before they are sent, so only the table itself can be invalid.
  if (code === 'ValidationException')
    return { kind: 'bad-table', table, expected: EXPECTED, got: 'a table with other keys' };
  const kind = kindOfFault(fault);
  if (kind !== 'other' && kind !== 'missing') return { kind, code };
  return { kind: 'other', code: status === undefined ? code : `${status} ${code}` };
}

type SettleWriteOptions = {
  /** Sends the write. It is conditional, so it may be repeated. */
  readonly write: () => Promise<unknown>;
  readonly read: () => Promise<StoredRow | undefined>;
  /** The current row from the error of a failed condition; undefined if the error lacks it, and it must be read. */
  readonly rowOf: (conditionFailed: unknown) => StoredRow | undefined;
  /** Whether the row shows that the write was stored. */
  readonly isStored: (current: StoredRow | undefined) => boolean;
  readonly expected: string | null;
  readonly sleep: (ms: number) => Promise<unknown>;
};

const ROUNDS = 3;
const PAUSE_MS = 100;

/**
 * Sends a write and finds out whether it was stored. If an attempt succeeded but its response was lost, the next
 * attempt fails by its condition, and the row has the write's token. After an ambiguous failure the row is read. If it
 * is unchanged, the write is repeated, up to three times in total, and then the last error is thrown. A failure that
 * certainly stored nothing is thrown immediately.
 */
export async function settleWrite(options: SettleWriteOptions): Promise<WriteResult> {
  const { write, read, rowOf, isStored, expected, sleep } = options;
  for (let round = 1; ; round += 1) {
    try {
      await write();
      return { kind: 'stored' };
    } catch (error) {
      const isRefused = isConditionFailed(error);
      if (!isRefused && !isAmbiguous(error)) throw error;
      const seen = await rowAfter(isRefused ? rowOf(error) : undefined, read);
      if (seen.kind === 'read') {
        if (isStored(seen.current)) return { kind: 'stored' };
        // A token that was replaced never returns, so the write cannot succeed any more.
        if (isRefused || (seen.current?.token ?? null) !== expected)
          return { kind: 'other', current: seen.current };
      }
      if (round === ROUNDS) throw isRefused && seen.kind === 'unread' ? seen.error : error;
    }
    await sleep(PAUSE_MS * round);
  }
}

async function rowAfter(returned: StoredRow | undefined, read: SettleWriteOptions['read']) {
  try {
    return { kind: 'read', current: returned ?? (await read()) } as const;
  } catch (error) {
    return { kind: 'unread', error } as const;
  }
}
