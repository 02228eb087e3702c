import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Reservation } from '../../lib/pace/budget.ts';
import { createDynamoBudget } from '../../lib/pace/dynamo-budget.ts';
import { noTally } from '../../lib/pace/tally.ts';
import type { DateSeen } from '../../lib/table/index.ts';
import { environmentOf, jsonError, jsonReply, lost, retryAtOnce } from '../base/aws/replies.ts';
import { page, type Reply, startServer } from '../platform/scripted-server.ts';

/* What the budget of a table sends and understands. That a table does what it expects is shown by the suites. */

beforeEach(() => {
  retryAtOnce();
  onTestFinished(() => void vi.restoreAllMocks());
});

const ITEM = { TableName: 'jobs', Key: { pk: { S: 'pace#acme.example.com' }, sk: { S: '-' } } };
const breaker = { sinceMs: 1_000, cause: 'unreachable', probeAtMs: 2_000 };
const restOf = (rest: object) => ({ rest: { S: JSON.stringify(rest) } });

async function over(...replies: readonly Reply[]) {
  const server = await startServer(...replies);
  let nowMs = 0;
  const budget = createDynamoBudget({
    tableName: 'jobs',
    host: 'acme.example.com',
    environment: environmentOf(server),
    now: () => (nowMs += 1),
  });
  return {
    budget,
    sent: () => server.requests.map(({ body }) => JSON.parse(body)),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

describe('a change', () => {
  test('is made on condition that nothing but the line was changed since it was read', async () => {
    const Item = { tatMs: { N: '5' }, incidents: { N: '2' }, rate: { N: '2' }, granted: { N: '7' } };
    await using table = await over(jsonReply({ Item }), jsonReply({}));

    await table.budget.breaker.open(breaker);

    expect(table.sent()).toEqual([
      { ...ITEM, ConsistentRead: true },
      {
        ...ITEM,
        ReturnValues: 'ALL_NEW',
        UpdateExpression: 'SET #rest = :rest',
        ConditionExpression:
          '#incidents = :incidentsWas AND attribute_not_exists(#pausedAtMs) AND attribute_not_exists(#rest)',
        ExpressionAttributeNames: { '#rest': 'rest', '#incidents': 'incidents', '#pausedAtMs': 'pausedAtMs' },
        ExpressionAttributeValues: { ':rest': restOf({ breaker }).rest, ':incidentsWas': { N: '2' } },
      },
    ]);
  });

  test('is made again of what somebody else has left meanwhile', async () => {
    await using table = await over(
      jsonReply({ Item: restOf({ breaker }) }),
      jsonError('ConditionalCheckFailedException'),
      jsonReply({ Item: restOf({ breaker: { ...breaker, probeAtMs: 2_500 } }) }),
    );

    expect(await table.budget.breaker.takeProbe(breaker, 3_000)).toBe(false);
    expect(table.sent()).toHaveLength(3);
  });

  test('that is overtaken each time is busy', async () => {
    const overtaken = [
      jsonReply({ Item: restOf({ breaker }) }),
      jsonError('ConditionalCheckFailedException'),
    ];
    await using table = await over(...Array.from({ length: 10 }, () => overtaken).flat());

    await expect(table.budget.breaker.close(breaker)).rejects.toMatchObject({ failure: { kind: 'busy' } });
  });

  test('of nothing is not written', async () => {
    await using table = await over(jsonReply({ Item: restOf({ capRate: 3 }) }));

    expect(await table.budget.cap(3)).toMatchObject({ capRate: 3 });
    expect(table.sent()).toHaveLength(1);
  });
});

describe('a reservation is sent once, whatever the response: a late one is worthless', () => {
  const idle: Reservation = {
    ...{ kind: 'idle', fromMs: 1_000, latestMs: 2_000, blockMs: 250 },
    ...{ incidents: 0, rate: 2, tally: noTally },
  };

  test.for([
    ['throttling', jsonError('ThrottlingException'), 'busy, ThrottlingException (about ThrottlingException)'],
    ['a failure', jsonError('InternalServerError', 500), 'busy, InternalServerError'],
    ['a page of a proxy', page('bad gateway', 502), 'busy, HTTP 502'],
    ['no response', lost, 'unreachable, ECONNRESET'],
    ['no permission', jsonError('AccessDeniedException'), 'denied, AccessDeniedException'],
    ['no table', jsonError('ResourceNotFoundException'), 'expected a table with the strings pk and sk'],
  ] as const)('%s', async ([, reply, said]) => {
    await using table = await over(reply);

    const reserve = table.budget.reserve(idle);

    await expect(reserve).rejects.toThrow(`reserve pace#acme.example.com - in table jobs: ${said}`);
    expect(table.sent()).toHaveLength(1);
  });

  test('a failed condition is a refusal, not an error', async () => {
    await using table = await over(jsonError('ConditionalCheckFailedException'));

    expect(await table.budget.reserve(idle)).toEqual({ kind: 'refused' });
  });
});

describe('the dates of a table', () => {
  const date = 'Sat, 21 Nov 2026 09:00:00 GMT';
  const datesSeen = async (reply: Reply) => {
    await using table = await over(reply);
    const seen: DateSeen[] = [];
    table.budget.onDate?.((each) => seen.push(each));
    await table.budget.read().catch(() => undefined);
    return seen;
  };

  test('of responses and refusals are reported with when they were asked for', async () => {
    const times = { sentMs: 1, receivedMs: 2 };

    expect(await datesSeen(jsonReply({}, 200, { date }))).toEqual([{ dateMs: Date.parse(date), ...times }]);
    expect(await datesSeen(jsonError('AccessDeniedException'))).toMatchObject([times]);
  });

  test('that are none, or from a cache, as their age says, are not reported', async () => {
    expect(await datesSeen(jsonReply({}, 200, { date: 'soon' }))).toEqual([]);
    expect(await datesSeen(jsonReply({}, 200, { date, age: '7' }))).toEqual([]);
  });
});
