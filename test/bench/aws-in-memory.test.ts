import { afterAll } from 'vitest';
import { createDynamoTable } from '../../lib/table/dynamo-table.ts';
import { describeTable } from '../table/table-suite.ts';
import { startAwsInMemory } from './aws-in-memory.ts';

let names = 0;

function newName(): string {
  names += 1;
  return `name-${names}`;
}

const aws = await startAwsInMemory();

afterAll(() => aws.close());

describeTable('a table in memory, over HTTP', async () =>
  createDynamoTable({ tableName: newName(), environment: aws.settings }),
);
