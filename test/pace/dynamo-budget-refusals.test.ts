import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Reservation } from '../../lib/pace/budget.ts';
import { createDynamoBudget } from '../../lib/pace/dynamo-budget.ts';
import { noTally } from '../../lib/pace/tally.ts';
import { environmentOf, jsonError, jsonReply, lost, retryAtOnce } from '../base/aws/replies.ts';
import { page, type Reply, startServer } from '../platform/scripted-server.ts';

beforeEach(() => void retryAtOnce());
afterEach(() => vi.restoreAllMocks());

const place = { tableName: 'jobs', host: 'acme.example.com' };
const RESERVE = 'reserve pace#acme.example.com - in table jobs';

const reservation: Reservation = {
  kind: 'idle',
  fromMs: 1_000,
  latestMs: 2_000,
  blockMs: 250,
  incidents: 0,
  rate: 2,
  tally: noTally,
};

async function budgetOver(...replies: readonly Reply[]) {
  const server = await startServer(...replies);
  return {
    budget: createDynamoBudget({ ...place, environment: environmentOf(server) }),
    requests: server.requests,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

describe('a reservation is sent once, whatever the response: a late one is worthless', () => {
  test.for([
    ['throttling', jsonError('ThrottlingException'), 'busy, ThrottlingException (about ThrottlingException)'],
    [
      'too little capacity',
      jsonError('ProvisionedThroughputExceededException'),
      'busy, ProvisionedThroughputExceededException',
    ],
    ['a failure', jsonError('InternalServerError', 500), 'busy, InternalServerError'],
    ['a page of a proxy', page('bad gateway', 502), 'busy, HTTP 502'],
    ['no response', lost, 'unreachable, ECONNRESET'],
    ['no permission', jsonError('AccessDeniedException'), 'denied, AccessDeniedException'],
    ['expired credentials', jsonError('ExpiredTokenException'), 'denied, ExpiredTokenException'],
    ['no table', jsonError('ResourceNotFoundException'), 'expected a table with the strings pk and sk'],
  ] as const)('%s', async ([, reply, said]) => {
    await using item = await budgetOver(reply);

    const reserve = item.budget.reserve(reservation);

    await expect(reserve).rejects.toThrow(`${RESERVE}: ${said}`);
    expect(item.requests).toHaveLength(1);
  });
});

test('a failed condition is a refusal, not an error', async () => {
  await using item = await budgetOver(jsonError('ConditionalCheckFailedException'));

  expect(await item.budget.reserve(reservation)).toEqual({ kind: 'refused' });
});

test('a read that fails names the item', async () => {
  await using item = await budgetOver(jsonError('AccessDeniedException'));

  await expect(item.budget.read()).rejects.toThrow('read pace#acme.example.com - in table jobs: denied');
});

test('a pause without a response is an error: the operator tries again', async () => {
  await using item = await budgetOver(lost);

  await expect(item.budget.pause(1_000)).rejects.toMatchObject({
    name: 'TableError',
    failure: { kind: 'unreachable', code: 'ECONNRESET' },
  });
});

test('a reduction of the rate is refused if another worker was first', async () => {
  await using item = await budgetOver(jsonReply({ Item: { incidents: { N: '1' } } }));

  const lowered = await item.budget.lower({ incidents: 0, fromMs: 1_000, lowered: { rate: 1, atMs: 500 } });

  expect(lowered).toEqual({ kind: 'refused' });
});
