import { Duration } from 'aws-cdk-lib';
import { Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { CommonEnvironment, FunctionEnvironment } from '../lib/contract.ts';
import type { RareDeadLetters } from './queues.ts';
import type { Storage } from './storage.ts';
import { type FunctionDefaults, MAX_TIMEOUT, SyncFunction } from './sync-function.ts';

export type TextsProps = FunctionDefaults &
  RareDeadLetters & {
    readonly environment: CommonEnvironment;
    readonly storage: Storage;
    readonly jobs: Queue;
  };

/** Splits requests in the inbox into `score` jobs. A request that cannot be split goes to the dead-letter queue. */
export class Texts extends Construct {
  readonly splitTexts: SyncFunction;

  constructor(scope: Construct, id: string, props: TextsProps) {
    super(scope, id);
    const { environment, storage, jobs, network, logs, rareDeadLetters: deadLetterQueue } = props;
    this.splitTexts = new SyncFunction(this, 'SplitTexts', {
      network,
      logs,
      handler: 'split-texts',
      description: 'Splits requests from the inbox into jobs',
      timeout: MAX_TIMEOUT,
      memoryMb: 1_024,
      // Splitting the same request again changes nothing.
      retryAttempts: 2,
      deadLetterQueue,
      environment: { ...environment, SYNC_QUEUE_URL: jobs.queueUrl } satisfies FunctionEnvironment,
    });
    const { role } = this.splitTexts;
    storage.grantRead(role);
    storage.grantWrite(role, ['scores/*', 'refused/*', 'work/*', 'table.json']);
    // This function finishes chunks that have only bad rows. It deletes the objects of an interrupted earlier attempt.
    storage.grantDelete(role, ['scores/*']);
    storage.grantRows(
      role,
      'dynamodb:GetItem',
      'dynamodb:BatchGetItem',
      'dynamodb:PutItem',
      'dynamodb:Query',
    );
    jobs.grant(role, 'sqs:SendMessage');
    new Rule(this, 'Inbox', {
      description: 'Requests that are put into the inbox',
      eventPattern: {
        source: ['aws.s3'],
        detailType: ['Object Created'],
        detail: {
          bucket: { name: [storage.bucket.bucketName] },
          object: { key: [{ wildcard: `${storage.root}inbox/*.json` }] },
        },
      },
      targets: [
        new LambdaFunction(this.splitTexts.function, {
          deadLetterQueue,
          retryAttempts: 24,
          maxEventAge: Duration.hours(24),
        }),
      ],
    });
  }
}
