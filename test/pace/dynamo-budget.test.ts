import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BudgetItem } from '../../lib/pace/budget.ts';
import { createMemoryBudget } from '../../lib/pace/budget-changes.ts';
import { createDynamoBudget } from '../../lib/pace/dynamo-budget.ts';
import { noTally } from '../../lib/pace/tally.ts';
import { createItemClient } from '../../lib/table/dynamo-item.ts';
import type { DateSeen } from '../../lib/table/index.ts';
import { startTestAws, type TestAws } from '../base/aws/start-test-aws.ts';
import { breakerSuite } from './breaker-suite.ts';
import { budgetSuite } from './budget-suite.ts';

let aws: TestAws;
let hosts = 0;

const oneAttempt = 'a budget makes one attempt: whoever asks it decides what a failure means';

beforeAll(async () => {
  aws = await startTestAws({
    tables: ['paces'],
    off: { 'dynamodb-refuses': oneAttempt, 'dynamodb-loses-responses': oneAttempt },
  });
});

afterAll(() => aws.close());

function newDynamoBudget() {
  hosts += 1;
  return createDynamoBudget({ tableName: 'paces', host: `host-${hosts}`, environment: aws.settings });
}

budgetSuite('a budget in DynamoDB', newDynamoBudget);
breakerSuite('a breaker in DynamoDB', () => newDynamoBudget().breaker);

describe('in DynamoDB', () => {
  test('Dates are reported although the client has read a budget before, such as for the breaker', async () => {
    const client = createItemClient(aws.settings);
    const place = { tableName: 'paces', environment: aws.settings, client };
    await createDynamoBudget({ ...place, host: 'earlier' }).read();
    const item = createDynamoBudget({ ...place, host: 'later' });
    const seen: DateSeen[] = [];
    item.onDate?.((date) => seen.push(date));

    await item.read();

    expect(seen).toHaveLength(1);
    client.destroy();
  });

  test('each response reports its Date, whole seconds of the table, also one that refuses a write', async () => {
    const item = newDynamoBudget();
    const seen: DateSeen[] = [];
    item.onDate?.((date) => seen.push(date));
    const beforeMs = Date.now();

    await item.read();
    const refused = await item.reserve({
      kind: 'busy',
      fromMs: 0,
      latestMs: 0,
      blockMs: 1,
      incidents: 0,
      rate: 1,
      tally: noTally,
    });

    expect(refused).toEqual({ kind: 'refused' });
    expect(seen).toHaveLength(2);
    for (const { dateMs, sentMs, receivedMs } of seen) {
      expect(dateMs % 1000).toBe(0);
      expect(dateMs).toBeGreaterThan(beforeMs - 2_000);
      expect(dateMs).toBeLessThanOrEqual(receivedMs);
      expect(sentMs).toBeGreaterThanOrEqual(beforeMs);
    }
  });

  test('any writes in any order return the same as in memory', async () => {
    const times = fc.integer({ min: 0, max: 20 }).map((step) => 1_795_276_800_000 + step * 100);
    const incidents = fc.integer({ min: 0, max: 2 });
    const write = fc.oneof(
      fc.record({
        act: fc.constant('reserve' as const),
        kind: fc.constantFrom('idle' as const, 'busy' as const, 'stray' as const),
        fromMs: times,
        latestMs: times,
        // Exact in binary: DynamoDB adds decimals, memory adds doubles.
        blockMs: fc.constantFrom(20.25, 242.5, 505),
        incidents,
        rate: fc.constantFrom(2, 50),
        tally: fc.constant({ ...noTally, granted: 1 }),
      }),
      fc.record({
        act: fc.constant('reserve' as const),
        kind: fc.constantFrom('probe' as const, 'restart' as const),
        fromMs: times,
        latestMs: times,
        blockMs: fc.constant(20.25),
        incidents,
        rate: fc.constant(2),
        tally: fc.constant({ ...noTally, granted: 1 }),
        probeMs: fc.option(fc.constant(1_795_276_800_100), { nil: undefined }),
        nextProbeMs: fc.constant(1_795_276_800_100),
      }),
      fc.record({
        act: fc.constant('lower' as const),
        incidents,
        fromMs: times,
        lowered: fc.record(
          { rate: fc.constantFrom(1.4, 35), atMs: times, probeMs: times },
          { requiredKeys: ['rate', 'atMs'] },
        ),
      }),
      fc.record({ act: fc.constantFrom('pause' as const, 'resume' as const), atMs: times }),
    );
    const make = async (item: BudgetItem, each: typeof write extends fc.Arbitrary<infer W> ? W : never) => {
      if (each.act === 'reserve') return item.reserve(each);
      if (each.act === 'lower') return item.lower(each);
      return each.act === 'pause' ? item.pause(each.atMs) : item.resume();
    };
    await fc.assert(
      fc.asyncProperty(fc.array(write, { minLength: 1, maxLength: 12 }), async (writes) => {
        const [dynamo, memory] = [newDynamoBudget(), createMemoryBudget()];
        for (const each of writes) expect(await make(dynamo, each)).toEqual(await make(memory, each));
        expect(await dynamo.read()).toEqual(await memory.read());
      }),
      { numRuns: 25 },
    );
  });

  test('the breaker is seen by whoever reads or writes the budget', async () => {
    const breaker = { sinceMs: 1, cause: 'unreachable', probeAtMs: 2 };
    const place = { tableName: 'paces', host: 'seen', environment: aws.settings };
    await createDynamoBudget(place).breaker.open(breaker);
    const seen: unknown[] = [];
    const budget = createDynamoBudget({ ...place, onBudget: (each) => seen.push(each.breaker) });

    await budget.read();
    await budget.pause(3);

    expect(seen).toEqual([breaker, breaker, breaker]);
  });

  test('a missing table, and an endpoint that nobody listens on, are reported', async () => {
    const gone = { ...aws.settings, AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:1' };
    const noTable = createDynamoBudget({ tableName: 'no-such-table', host: 'a', environment: aws.settings });
    const nobody = createDynamoBudget({ tableName: 'paces', host: 'a', environment: gone });

    await expect(noTable.read()).rejects.toMatchObject({ failure: { kind: 'bad-table' } });
    await expect(nobody.resume()).rejects.toThrow(
      'resume pace#a - in table paces: unreachable, ECONNREFUSED',
    );
  });
});
