import { type AwsRequest, membersOf } from '../aws-request.ts';

/** The name in the queue's URL. */
export const queueNameOf = (request: AwsRequest): string =>
  String(membersOf(request)['QueueUrl'] ?? '').replace(/^.*\//, '');

/** Queues of strict order keep none of the weaknesses of standard queues. */
export const isFifo = (request: AwsRequest): boolean => queueNameOf(request).endsWith('.fifo');
