import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { awsClientConfig } from '../../lib/base/aws/client-config.ts';
import type { Budget } from '../../lib/pace/budget.ts';
import { createDynamoBudget } from '../../lib/pace/dynamo-budget.ts';
import { createItemClient } from '../../lib/table/dynamo-item.ts';
import type { DateSeen } from '../../lib/table/index.ts';
import { environmentOf, jsonError, jsonReply, retryAtOnce } from '../base/aws/replies.ts';
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
  const budget = createDynamoBudget({
    ...place,
    environment,
    onBudget: (seen) => budgets.push(seen),
    now: () => (nowMs += 1),
  });
  return {
    budget,
    breaker: budget.breaker,
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

  test('is opened on condition that nothing but the line was changed since it was read', async () => {
    const Item = { tat: { N: '5' }, incidents: { N: '2' }, rate: { N: '2' }, granted: { N: '7' } };
    await using table = await over(jsonReply({ Item }), jsonReply({}));

    await table.breaker.open(breaker);

    expect(table.sent()).toEqual([
      { ...ITEM, ConsistentRead: true },
      {
        ...ITEM,
        ReturnValues: 'ALL_NEW',
        UpdateExpression:
          'SET #breakerSince = :breakerSince, #breakerCause = :breakerCause, #breakerProbeAt = :breakerProbeAt',
        ConditionExpression: expect.stringMatching(
          /^#incidents = :incidentsWas AND attribute_not_exists\(#loweredRate\) AND .* AND attribute_not_exists\(#breakerProbeAt\)$/,
        ),
        ExpressionAttributeNames: expect.objectContaining({ '#incidents': 'incidents' }),
        ExpressionAttributeValues: {
          ':breakerSince': { N: '1000' },
          ':breakerCause': { S: 'unreachable' },
          ':breakerProbeAt': { N: '2000' },
          ':incidentsWas': { N: '2' },
        },
      },
    ]);
  });

  test('is read again where somebody else has changed it meanwhile', async () => {
    await using table = await over(
      jsonReply({ Item: attributes }),
      jsonError('ConditionalCheckFailedException'),
      jsonReply({ Item: { ...attributes, breakerProbeAt: { N: '2500' } } }),
    );

    expect(await table.breaker.takeProbe(breaker, 3_000)).toBe(false);
    expect(table.sent()).toHaveLength(3);
  });

  test('that is changed each time is busy', async () => {
    const overtaken = [jsonReply({ Item: attributes }), jsonError('ConditionalCheckFailedException')];
    await using table = await over(...Array.from({ length: 10 }, () => overtaken).flat());

    await expect(table.breaker.close(breaker)).rejects.toMatchObject({ failure: { kind: 'busy' } });
  });

  test('says what could not be done', async () => {
    await using denying = await over(jsonError('AccessDeniedException'));
    await using missing = await over(jsonError('ResourceNotFoundException'));

    await expect(missing.breaker.read()).rejects.toMatchObject({
      failure: { kind: 'bad-table', table: 'jobs', got: 'none' },
    });
    await expect(denying.breaker.open(breaker)).rejects.toMatchObject({
      name: 'TableError',
      message: expect.stringContaining('open the breaker in pace#acme.example.com - in table jobs: denied'),
      cause: { name: 'AccessDeniedException' },
    });
  });
});

describe('the budget', () => {
  test('is requested where the SDK is told that DynamoDB is', async () => {
    const client = createItemClient({
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

  test('is changed as it was read, and returned as it is then', async () => {
    await using table = await over(jsonReply({}), jsonReply({ Attributes: { capRate: { N: '3' } } }));

    const budget = await table.budget.cap(3);

    expect(budget).toMatchObject({ capRate: 3 });
    expect(table.budgets.at(-1)).toEqual(budget);
    expect(table.sent()[1]).toMatchObject({
      ReturnValues: 'ALL_NEW',
      UpdateExpression: 'SET #capRate = :capRate',
    });
  });

  test('is not written where a change changes nothing', async () => {
    await using table = await over(jsonReply({ Item: { capRate: { N: '3' } } }));

    expect(await table.budget.cap(3)).toMatchObject({ capRate: 3 });
    expect(table.sent()).toHaveLength(1);
  });
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
