import { dynamoDbLocal } from '../engines/dynamodb-local.ts';
import type { Suite } from './suite.ts';

/** Everything that depends on what DynamoDB does with conditions and concurrent writes, killed processes too. */
export const dynamodb: Suite = [
  {
    engines: [dynamoDbLocal],
    files: [
      'test/table/table.test.ts',
      'test/table/dynamo-table.test.ts',
      'test/table/lost-responses.test.ts',
      'test/jobs/ledger/ledger.test.ts',
      'test/pace/dynamo-budget.test.ts',
      'test/cli/score.test.ts',
    ],
  },
  {
    engines: [dynamoDbLocal],
    files: [
      'test/functions/run-jobs.process.test.ts',
      'test/functions/split-texts.process.test.ts',
      'test/jobs/killed-worker.process.test.ts',
    ],
  },
];
