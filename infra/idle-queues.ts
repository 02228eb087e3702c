import { Duration } from 'aws-cdk-lib';
import type { IScheduleGroup } from 'aws-cdk-lib/aws-scheduler';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { CommonEnvironment, FunctionEnvironment } from '../lib/contract.ts';
import type { RareDeadLetters } from './queues.ts';
import { startRegularly } from './regular-start.ts';
import { type FunctionDefaults, MAX_TIMEOUT, SyncFunction } from './sync-function.ts';

type IdleQueuesProps = FunctionDefaults &
  RareDeadLetters & {
    readonly group: IScheduleGroup;
    readonly environment: CommonEnvironment;
    /** Queues whose function is turned off in the settings. */
    readonly idle: readonly Queue[];
    readonly jobs: Queue;
  };

/**
 * Moves messages every hour from queues that are turned off to the queue of all jobs: messages that were there when the
 * queue was turned off, and messages that are still sent to it. Deleting the queue would delete its jobs, and letting
 * Lambda poll it would cost as much as using it.
 */
export class IdleQueues extends Construct {
  readonly move: SyncFunction;

  constructor(scope: Construct, id: string, props: IdleQueuesProps) {
    super(scope, id);
    const { logs, network, environment, idle, jobs } = props;
    this.move = new SyncFunction(this, 'Move', {
      logs,
      network,
      handler: 'move-jobs',
      description: 'Moves jobs from queues that are turned off',
      timeout: MAX_TIMEOUT,
      memoryMb: 256,
      // It runs again in an hour.
      retryAttempts: 2,
      environment: { ...environment, SYNC_QUEUE_URL: jobs.queueUrl } satisfies FunctionEnvironment,
    });
    const { role } = this.move;
    for (const queue of idle)
      queue.grant(role, 'sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes');
    jobs.grant(role, 'sqs:SendMessage');
    startRegularly(this, 'Hourly', {
      ...props,
      starts: this.move,
      description: 'Looks for jobs on queues that are turned off',
      at: { minute: '30' },
      maxEventAge: Duration.hours(1),
      input: { from: idle.map(({ queueUrl }) => queueUrl) },
    });
  }
}
