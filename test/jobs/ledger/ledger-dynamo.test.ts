import { afterAll, beforeAll } from 'vitest';
import { createDynamoTable } from '../../../lib/table/dynamo-table.ts';
import { startDynamo, type TestDynamo } from '../../table/start-dynamo.ts';
import { describeLedger } from './ledger-suite.ts';

let dynamo: TestDynamo;
let tables = 0;

beforeAll(async () => {
  dynamo = await startDynamo();
});

afterAll(() => dynamo.close());

describeLedger('the ledger in DynamoDB', async () => {
  tables += 1;
  await dynamo.createTable(`table-${tables}`);
  return createDynamoTable({ tableName: `table-${tables}`, environment: dynamo.environment });
});
