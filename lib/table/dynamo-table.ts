import { setTimeout as delay } from 'node:timers/promises';
import {
  DeleteItemCommand,
  DynamoDBClient,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { type AwsEnvironment, awsClientConfig } from '../base/index.ts';
import { checkedText, checkKey } from './check-row.ts';
import { explained, explaining, type FailedTable } from './dynamo-failure.ts';
import { absentOrWith, onlyOver, queryOf, scanOf } from './dynamo-requests.ts';
import { readRow, rowInTheWay, rowsOf, type TableAddress, toItem, toItemKey } from './dynamo-rows.ts';
import { settleWrite } from './settle-write.ts';
import type { Row, RowKey, StoredRow, Table, WriteOptions, WriteResult } from './table.ts';
import { checkKeysOnce } from './table-keys.ts';

export type DynamoTableOptions = {
  /** Its keys are the strings `pk` and `sk`; its TTL attribute, if there is one, is `expires`. */
  readonly tableName: string;
  /** Where the region, endpoint, credentials and proxy are looked up; anything absent is left to the SDK. */
  readonly environment: AwsEnvironment;
  /** Default: a client for `environment`. */
  readonly client?: DynamoDBClient;
  readonly sleep?: (ms: number) => Promise<unknown>;
};

/**
 * Rows in a DynamoDB table: the attribute `row` of an item holds one as JSON, beside `pk`, `sk`, `token` and `expires`.
 * All reads are consistent. The client has time-outs and makes four attempts (or `AWS_MAX_ATTEMPTS`); if the outcome of
 * a write is unknown, the row is read and the write repeated, in up to three rounds. A failed condition costs no read.
 */
export function createDynamoTable({
  tableName,
  environment,
  client = createDynamoClient(environment),
  sleep = delay,
}: DynamoTableOptions): Table {
  const place: RetriedTable = {
    client,
    tableName,
    sleep,
    checkKeys: checkKeysOnce(client, tableName),
    watch: watchAttemptsOf(client),
  };
  return {
    get: (key) => tryOn(place, 'get', key, (tried) => getRow(place, key, tried)),
    put: (key, row, options) =>
      tryOn(place, 'put', key, (tried) => putRow(place, { key, row, tried, ...options })),
    delete: (key, expected) =>
      tryOn(place, 'delete', key, (tried) => deleteRow(place, { key, expected, tried })),
    list: (partition) =>
      explainedEach(place, `list ${partition} in table ${tableName}`, (tried) =>
        listRows(place, partition, tried),
      ),
    scan: (prefix) =>
      explainedEach(place, `scan ${prefix}* in table ${tableName}`, () => scanRows(place, prefix)),
  };
}

/** A client configured by the SDK's own variables (`awsClientConfig`). */
export const createDynamoClient = (environment: AwsEnvironment): DynamoDBClient =>
  new DynamoDBClient(
    awsClientConfig(environment, {
      service: 'DYNAMODB',
      connectionTimeoutMs: 2_000,
      // DynamoDB responds within tens of milliseconds, and for it the SDK makes four attempts.
      requestTimeoutMs: 5_000,
    }),
  );

type RetriedTable = TableAddress &
  FailedTable & { readonly sleep: (ms: number) => Promise<unknown>; readonly watch: WatchAttempts };

/** An action on a row; `tried` describes it. */
type Act = { readonly key: RowKey; readonly tried: string };

async function getRow(place: RetriedTable, key: RowKey, tried: string): Promise<StoredRow | undefined> {
  checkKey(tried, key);
  return readRow(place, key);
}

type Put = Act & WriteOptions & { readonly row: Row };

async function putRow(
  place: RetriedTable,
  { key, tried, row, expected, token, expiresAtMs }: Put,
): Promise<WriteResult> {
  const { client, tableName: TableName, sleep, watch } = place;
  const Item = toItem(key, checkedText(tried, key, row), token, expiresAtMs);
  return settleWrite({
    write: (onFailed) => {
      const command = new PutItemCommand({ TableName, Item, ...onlyOver(expected) });
      watch(command.input, onFailed);
      return client.send(command);
    },
    read: () => readRow(place, key),
    rowOf: rowInTheWay,
    isMade: (current) => current?.token === token,
    expected,
    sleep,
  });
}

type Delete = Act & { readonly expected: string };

async function deleteRow(place: RetriedTable, { key, tried, expected }: Delete): Promise<WriteResult> {
  const { client, tableName: TableName, sleep, watch } = place;
  checkKey(tried, key);
  const Key = toItemKey(key);
  return settleWrite({
    write: (onFailed) => {
      const command = new DeleteItemCommand({ TableName, Key, ...absentOrWith(expected) });
      watch(command.input, onFailed);
      return client.send(command);
    },
    read: () => readRow(place, key),
    rowOf: rowInTheWay,
    isMade: (current) => current === undefined,
    expected,
    sleep,
  });
}

function listRows(
  { client, tableName }: RetriedTable,
  partition: string,
  tried: string,
): ReturnType<Table['list']> {
  checkKey(tried, { partition, sort: '-' });
  return rowsOf((start) => client.send(new QueryCommand({ ...queryOf(tableName, partition), ...start })));
}

const scanRows = ({ client, tableName }: RetriedTable, prefix: string) =>
  rowsOf((start) => client.send(new ScanCommand({ ...scanOf(tableName, prefix), ...start })));

const tryOn = <T>(
  place: RetriedTable,
  act: string,
  { partition, sort }: RowKey,
  work: (tried: string) => Promise<T>,
): Promise<T> => {
  const tried = `${act} ${partition} ${sort} in table ${place.tableName}`;
  return explaining(place, tried, () => work(tried));
};

async function* explainedEach<T>(
  place: RetriedTable,
  tried: string,
  source: (tried: string) => AsyncGenerator<T>,
): AsyncGenerator<T> {
  try {
    yield* source(tried);
  } catch (error) {
    throw await explained(place, tried, error);
  }
}

/** Has every failed attempt of a command reported, by the command's input. */
type WatchAttempts = (input: object, onFailed: (error: unknown) => void) => void;

/**
 * Reports why each attempt of a command failed: the SDK's error describes only the last one. The client is watched, not
 * the command: a client that caches its middleware ignores what is added to a command.
 */
function watchAttemptsOf(client: DynamoDBClient): WatchAttempts {
  const watched = new WeakMap<object, (error: unknown) => void>();
  client.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        watched.get(args.input)?.(error);
        throw error;
      }
    },
    // Inside the SDK's retries, after its errors have been parsed.
    { step: 'deserialize', priority: 'high' },
  );
  return (input, onFailed) => void watched.set(input, onFailed);
}
