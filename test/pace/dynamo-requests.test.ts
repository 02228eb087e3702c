import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { awsClientConfig } from '../../lib/aws/client-config.ts';
import type { Budget } from '../../lib/pace/budget.ts';
import { createDynamoBreaker } from '../../lib/pace/dynamo-breaker.ts';
import { createBudgetClient, createDynamoBudget } from '../../lib/pace/dynamo-budget.ts';
import type { DateSeen } from '../../lib/pace/table-clock.ts';
import { environmentOf, jsonError, jsonReply, retryAtOnce } from '../aws/replies.ts';
import { type Reply, startServer } from '../platform/scripted-server.ts';

/*
 * What the budget and the breaker of a table send and understand, word for word. That a table does what they expect is
 * shown by the suites, which need one.
 */

beforeEach(() => {
  retryAtOnce();
  onTestFinished(() => void vi.restoreAllMocks());
});

const place = { tableName: 'jobs', host: 'acme.example.com' };
const ITEM = { TableName: 'jobs', Key: { pk: { S: 'pace#acme.example.com' }, sk: { S: '-' } } };
const breaker = { sinceMs: 1_000, cause: 'unreachable', probeAtMs: 2_000 };
const attributes = {
  breakerSince: { N: '1000' },
  breakerCause: { S: 'unreachable' },
  breakerProbeAt: { N: '2000' },
};

async function over(...replies: readonly Reply[]) {
  const server = await startServer(...replies);
  const environment = environmentOf(server);
  const budgets: Budget[] = [];
  let nowMs = 0;
  return {
    breaker: createDynamoBreaker({ ...place, client: createBudgetClient(environment) }),
    budget: createDynamoBudget({
      ...place,
      environment,
      onBudget: (budget) => budgets.push(budget),
      now: () => (nowMs += 1),
    }),
    budgets,
    sent: () => server.requests.map(({ body }) => JSON.parse(body)),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

describe('the breaker', () => {
  test.each([
    ['open', attributes, breaker],
    [
      'open for a reason that nobody recorded',
      { ...attributes, breakerCause: undefined },
      { ...breaker, cause: 'unknown' },
    ],
    ['closed', {}, undefined],
    ['closed, with half of it left', { breakerSince: { N: '1000' } }, undefined],
    ['closed, with the other half left', { breakerProbeAt: { N: '2000' } }, undefined],
  ])('is %s', async (_, Item, expected) => {
    await using table = await over(jsonReply({ Item }));

    expect(await table.breaker.read()).toEqual(expected);
    expect(table.sent()).toEqual([{ ...ITEM, ConsistentRead: true }]);
  });

  test('is closed where there is no item', async () => {
    await using table = await over(jsonReply({}));

    expect(await table.breaker.read()).toBeUndefined();
  });

  test('is opened, probed and closed on condition that nobody else was first', async () => {
    await using table = await over(jsonReply({}));

    await table.breaker.open(breaker);
    const isTaken = await table.breaker.takeProbe(breaker, 3_000);
    await table.breaker.close(breaker);

    expect(isTaken).toBe(true);
    expect(table.sent()).toEqual([
      {
        ...ITEM,
        UpdateExpression: 'SET breakerSince = :since, breakerCause = :cause, breakerProbeAt = :probeAt',
        ConditionExpression: 'attribute_not_exists(breakerSince)',
        ExpressionAttributeValues: {
          ':since': { N: '1000' },
          ':cause': { S: 'unreachable' },
          ':probeAt': { N: '2000' },
        },
      },
      {
        ...ITEM,
        UpdateExpression: 'SET breakerProbeAt = :next',
        ConditionExpression: 'breakerSince = :since AND breakerProbeAt = :seen',
        ExpressionAttributeValues: {
          ':since': { N: '1000' },
          ':seen': { N: '2000' },
          ':next': { N: '3000' },
        },
      },
      {
        ...ITEM,
        UpdateExpression: 'REMOVE breakerSince, breakerCause, breakerProbeAt',
        ConditionExpression: 'breakerSince = :since',
        ExpressionAttributeValues: { ':since': { N: '1000' } },
      },
    ]);
  });

  test('is not taken where the condition fails, and says what it could not do otherwise', async () => {
    await using refusing = await over(jsonError('ConditionalCheckFailedException'));
    await using denying = await over(jsonError('AccessDeniedException'));

    await using missing = await over(jsonError('ResourceNotFoundException'));

    expect(await refusing.breaker.takeProbe(breaker, 3_000)).toBe(false);
    await expect(missing.breaker.read()).rejects.toMatchObject({
      failure: { kind: 'bad-table', table: 'jobs', got: 'none' },
    });
    await expect(denying.breaker.open(breaker)).rejects.toMatchObject({
      name: 'TableError',
      message: expect.stringContaining('open the breaker of acme.example.com in table jobs: denied'),
      cause: { name: 'AccessDeniedException' },
    });
  });
});

describe('the budget', () => {
  test('is requested where the SDK is told that DynamoDB is', async () => {
    const client = createBudgetClient({
      AWS_REGION: 'us-east-1',
      AWS_ENDPOINT_URL: 'http://others.test',
      AWS_ENDPOINT_URL_DYNAMODB: 'http://table.test',
    });

    expect(await client.config.endpoint?.()).toMatchObject({ hostname: 'table.test' });
  });

  test('may have nobody who wants to know it, and a client whose dates nobody sees', async () => {
    await using server = await startServer(jsonReply({ Item: { tat: { N: '5' } } }));
    const environment = environmentOf(server);
    const client = new DynamoDBClient({
      ...awsClientConfig(environment, {
        service: 'DYNAMODB',
        connectionTimeoutMs: 1_000,
        requestTimeoutMs: 1_000,
      }),
    });
    const budget = createDynamoBudget({ ...place, environment, client });

    budget.onDate?.(() => undefined);

    expect(await budget.read()).toMatchObject({ tatMs: 5 });
  });

  test('is read as it is now, and reported', async () => {
    await using table = await over(jsonReply({ Item: { tat: { N: '5' } } }));

    const budget = await table.budget.read();

    expect(table.sent()).toEqual([{ ...ITEM, ConsistentRead: true }]);
    expect(table.budgets).toEqual([budget]);
  });

  test.each(['resume', 'reset', 'cap'] as const)(
    'is changed by %s, and returned as it is then',
    async (name) => {
      await using table = await over(jsonReply({ Attributes: { tat: { N: '5' } } }));

      const budget = await table.budget[name](3);

      expect(table.budgets).toEqual([budget]);
      expect(table.sent()).toMatchObject([
        { ...ITEM, ReturnValues: 'ALL_NEW', UpdateExpression: expect.any(String) },
      ]);
    },
  );
});

describe('the dates of a table', () => {
  const date = 'Sat, 21 Nov 2026 09:00:00 GMT';

  test.each([
    ['responses', jsonReply({}, 200, { date })],
    ['refusals', jsonError('AccessDeniedException')],
  ])('of %s are reported with when they were asked for', async (name, reply) => {
    await using table = await over(reply);
    const seen: DateSeen[] = [];
    table.budget.onDate?.((each) => seen.push(each));

    await table.budget.read().catch(() => undefined);

    expect(seen).toEqual([{ dateMs: expect.any(Number), sentMs: 1, receivedMs: 2 }]);
    if (name === 'responses') expect(seen[0]?.dateMs).toBe(Date.parse(date));
  });

  test.each([
    ['that are none', { date: 'soon' }],
    ['from a cache, as their age says,', { date, age: '7' }],
  ])('%s are not reported', async (_, headers) => {
    await using table = await over(jsonReply({}, 200, headers));
    const seen: DateSeen[] = [];
    table.budget.onDate?.((each) => seen.push(each));

    await table.budget.read();

    expect(seen).toEqual([]);
  });
});
