import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, describe, expect, test } from 'vitest';
import { createDynamoTable } from '../../lib/table/dynamo-table.ts';
import { startDynamo } from './start-dynamo.ts';

let tables = 0;

const scripted = 'each test says itself which requests fail';

const dynamo = await startDynamo({ 'dynamodb-refuses': scripted, 'dynamodb-loses-responses': scripted });

afterAll(() => dynamo.close());

/** The fate of one request: its response is lost, it never arrives, it is rejected in one of several ways, or it succeeds. */
type Fate = 'lose' | 'drop' | 'fail' | 'throttle' | 'deny' | 'unsigned' | 'pass';

const key = { partition: 'job#a', sort: '-' };

const serviceError = (name: string, httpStatusCode: number): Error =>
  Object.assign(new Error(name), { name, $fault: 'client', $metadata: { httpStatusCode } });

const broken = (): Error => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

/** A table whose requests meet `fates` in turn and then succeed, a reliable one beside it, and the sent requests. */
async function fatedTable(fates: readonly Fate[], sdkAttempts: number) {
  tables += 1;
  const tableName = `table-${tables}`;
  await dynamo.createTable(tableName);
  const sent: string[] = [];
  const slept: number[] = [];
  const client = new DynamoDBClient({
    endpoint: dynamo.endpoint,
    region: 'eu-central-1',
    credentials: dynamo.credentials,
    maxAttempts: sdkAttempts,
  });
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const fate = fates[sent.length] ?? 'pass';
      sent.push((context.commandName ?? '').replace('ItemCommand', ''));
      if (fate === 'drop') throw broken();
      if (fate === 'fail') throw serviceError('InternalServerError', 500);
      if (fate === 'throttle') throw serviceError('ThrottlingException', 400);
      if (fate === 'deny') throw serviceError('AccessDeniedException', 400);
      if (fate === 'unsigned')
        throw Object.assign(new Error('no credentials'), { name: 'CredentialsProviderError' });
      const response = await next(args);
      if (fate === 'lose') throw broken();
      return response;
    },
    { step: 'deserialize', priority: 'low' },
  );
  const environment = dynamo.environment;
  const sleep = async (ms: number) => slept.push(ms);
  return {
    table: createDynamoTable({ tableName, environment, client, sleep }),
    reliable: createDynamoTable({ tableName, environment }),
    sent,
    slept,
  };
}

describe('a put whose response was lost', () => {
  test('is repeated by the SDK, fails its own condition, and is recognized by its token', async () => {
    const { table, sent } = await fatedTable(['lose'], 3);

    const result = await table.put(key, { a: 1 }, { expected: null, token: 't1' });

    expect(result).toEqual({ kind: 'stored' });
    expect(sent).toEqual(['Put', 'Put']);
  });

  test('is recognized by its token if the SDK does not repeat it', async () => {
    const { table, sent } = await fatedTable(['lose'], 1);

    const result = await table.put(key, { a: 1 }, { expected: null, token: 't1' });

    expect(result).toEqual({ kind: 'stored' });
    expect(sent).toEqual(['Put', 'Get']);
  });

  test('and that replaces a row is recognized by its token too', async () => {
    const { table, reliable } = await fatedTable(['lose'], 1);
    await reliable.put(key, { a: 1 }, { expected: null, token: 't1' });

    const result = await table.put(key, { a: 2 }, { expected: 't1', token: 't2' });

    expect(result).toEqual({ kind: 'stored' });
    expect(await reliable.get(key)).toEqual({ row: { a: 2 }, token: 't2' });
  });

  test('is thrown if the row cannot be read either, within a bounded number of requests', async () => {
    const { table, reliable, sent, slept } = await fatedTable(
      ['lose', 'deny', 'lose', 'deny', 'lose', 'deny'],
      1,
    );

    const put = table.put(key, { a: 1 }, { expected: null, token: 't1' });

    await expect(put).rejects.toMatchObject({ failure: { kind: 'unreachable', code: 'ECONNRESET' } });
    expect(sent).toEqual(['Put', 'Get', 'Put', 'Get', 'Put', 'Get']);
    expect(slept).toEqual([100, 200]);
    expect((await reliable.get(key))?.token).toBe('t1');
  });
});

describe('a put that never arrived', () => {
  test('is repeated', async () => {
    const { table, sent, slept } = await fatedTable(['drop'], 1);

    const result = await table.put(key, { a: 1 }, { expected: null, token: 't1' });

    expect(result).toEqual({ kind: 'stored' });
    expect(sent).toEqual(['Put', 'Get', 'Put']);
    expect(slept).toEqual([100]);
  });

  test('finds another writer’s row and does not replace it', async () => {
    const { table, reliable, sent } = await fatedTable(['fail'], 1);
    await reliable.put(key, { by: 'them' }, { expected: null, token: 'theirs' });

    const result = await table.put(key, { by: 'us' }, { expected: null, token: 'ours' });

    expect(result).toEqual({ kind: 'other', current: { row: { by: 'them' }, token: 'theirs' } });
    expect(sent).toEqual(['Put', 'Get']);
  });

  test('is thrown if it never arrives', async () => {
    const { table, reliable, sent } = await fatedTable(['fail', 'pass', 'fail', 'pass', 'fail', 'pass'], 1);

    const put = table.put(key, { a: 1 }, { expected: null, token: 't1' });

    await expect(put).rejects.toMatchObject({ failure: { kind: 'busy', code: 'InternalServerError' } });
    expect(sent).toEqual(['Put', 'Get', 'Put', 'Get', 'Put', 'Get']);
    expect(await reliable.get(key)).toBeUndefined();
  });
});

test.for([
  ['throttle', { kind: 'busy', code: 'ThrottlingException' }],
  ['deny', { kind: 'denied', code: 'AccessDeniedException' }],
  ['unsigned', { code: 'CredentialsProviderError' }],
] as const)('a put that is refused outright (%s) is thrown immediately', async ([fate, failure]) => {
  const { table, sent } = await fatedTable([fate], 1);

  const put = table.put(key, { a: 1 }, { expected: null, token: 't1' });

  await expect(put).rejects.toMatchObject({ failure });
  expect(sent).toEqual(['Put']);
});

test('a refusal after a lost response does not decide the outcome of the write: the row does', async () => {
  const { table, sent } = await fatedTable(['lose', 'deny'], 3);

  const result = await table.put(key, { a: 1 }, { expected: null, token: 't1' });

  expect(result).toEqual({ kind: 'stored' });
  expect(sent).toEqual(['Put', 'Put', 'Get']);
});

test('a put that loses to another process costs one request, since the row comes with the refusal', async () => {
  const { table, reliable, sent } = await fatedTable([], 1);
  await reliable.put(key, { by: 'them' }, { expected: null, token: 'theirs' });

  const first = await table.put(key, { by: 'us' }, { expected: null, token: 'ours' });
  const later = await table.put(key, { by: 'us' }, { expected: 'older', token: 'ours' });
  const deleted = await table.delete(key, 'older');

  const other = { kind: 'other', current: { row: { by: 'them' }, token: 'theirs' } };
  expect([first, later, deleted]).toEqual([other, other, other]);
  expect(sent).toEqual(['Put', 'Put', 'Delete']);
});

test('a write is repeated if its condition failed and the row cannot be read', async () => {
  // The error cannot include a row that was deleted.
  const { table, sent } = await fatedTable(['pass', 'lose'], 1);

  const result = await table.put(key, { by: 'us' }, { expected: 'gone', token: 'ours' });

  expect(result).toEqual({ kind: 'other', current: undefined });
  expect(sent).toEqual(['Put', 'Get', 'Put', 'Get']);
});

test('the reason why a row cannot be read is thrown if it never can be', async () => {
  const { table, sent } = await fatedTable(['pass', 'lose', 'pass', 'lose', 'pass', 'lose'], 1);

  const put = table.put(key, { by: 'us' }, { expected: 'gone', token: 'ours' });

  await expect(put).rejects.toMatchObject({ failure: { kind: 'unreachable', code: 'ECONNRESET' } });
  expect(sent).toEqual(['Put', 'Get', 'Put', 'Get', 'Put', 'Get']);
});

test('a delete whose response was lost is stored', async () => {
  const { table, reliable } = await fatedTable(['lose'], 1);
  await reliable.put(key, { a: 1 }, { expected: null, token: 't1' });

  const result = await table.delete(key, 't1');

  expect(result).toEqual({ kind: 'stored' });
  expect(await reliable.get(key)).toBeUndefined();
});
