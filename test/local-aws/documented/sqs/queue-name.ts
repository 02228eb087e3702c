import { type AwsRequest, membersOf } from '../aws-request.ts';

/** The name in the queue's URL. */
export const queueNameOf = (request: AwsRequest): string =>
  String(membersOf(request)['QueueUrl'] ?? '').replace(/^.*\//, '');
