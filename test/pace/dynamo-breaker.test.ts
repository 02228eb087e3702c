import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDynamoBreaker } from '../../lib/pace/dynamo-breaker.ts';
import { createBudgetClient, createDynamoBudget } from '../../lib/pace/dynamo-budget.ts';
import { startTestAws, type TestAws } from '../aws/start-test-aws.ts';
import { breakerSuite } from './breaker-suite.ts';

let aws: TestAws;
let hosts = 0;
const oneAttempt = 'a breaker makes one attempt: its worker goes on by itself';

beforeAll(async () => {
  aws = await startTestAws({
    tables: ['paces'],
    off: { 'dynamodb-refuses': oneAttempt, 'dynamodb-loses-responses': oneAttempt },
  });
});
afterAll(() => aws.close());

function newPlace() {
  hosts += 1;
  return { client: createBudgetClient(aws.settings), tableName: 'paces', host: `host-${hosts}` };
}

breakerSuite('a breaker in DynamoDB', () => createDynamoBreaker(newPlace()));

test('is seen by whoever reads or writes the budget', async () => {
  const place = newPlace();
  const breaker = { sinceMs: 1, cause: 'unreachable', probeAtMs: 2 };
  const seen: unknown[] = [];
  const budget = createDynamoBudget({
    ...place,
    environment: aws.settings,
    onBudget: (each) => seen.push(each.breaker),
  });

  await createDynamoBreaker(place).open(breaker);
  await budget.read();
  await budget.pause(3);

  expect(seen).toEqual([breaker, breaker]);
});
