import { Duration } from 'aws-cdk-lib';
import { Queue, QueueEncryption, type QueueProps } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { acknowledge } from './nag.ts';

/** How long a queue retains messages: the maximum that SQS allows. */
const RETENTION = Duration.days(14);

/** A queue that accepts messages only over TLS, and retains them for 14 days. */
export const createQueue = (scope: Construct, id: string, props: QueueProps = {}): Queue =>
  new Queue(scope, id, {
    ...props,
    retentionPeriod: RETENTION,
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
  });

/** A queue for messages that could not be delivered or handled. */
export function createDeadLetterQueue(scope: Construct, id: string): Queue {
  const queue = createQueue(scope, id);
  acknowledge(
    queue,
    'SQS3',
    'It is a dead-letter queue itself; an alarm goes off at the first message in it.',
  );
  return queue;
}

/**
 * The queue for requests, events and inputs that could not be delivered or handled. An operator must check each of
 * them.
 */
export type RareDeadLetters = { readonly rareDeadLetters: Queue };
