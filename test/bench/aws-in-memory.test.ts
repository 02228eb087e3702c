import { afterAll, beforeAll } from 'vitest';
import { createDynamoBudget } from '../../lib/pace/dynamo-budget.ts';
import { createDynamoTable } from '../../lib/table/dynamo-table.ts';
import { budgetSuite } from '../pace/budget-suite.ts';
import { describeTable } from '../table/table-suite.ts';
import { type AwsInMemory, startAwsInMemory } from './aws-in-memory.ts';

let aws: AwsInMemory;
let names = 0;

function newName(): string {
  names += 1;
  return `name-${names}`;
}

beforeAll(async () => {
  aws = await startAwsInMemory();
});

afterAll(() => aws.close());

describeTable('a table in memory, over HTTP', async () =>
  createDynamoTable({ tableName: newName(), environment: aws.settings }),
);

budgetSuite('a budget in memory, over HTTP', () =>
  createDynamoBudget({ tableName: 'paces', host: newName(), environment: aws.settings }),
);
