import { oldItemOnFailure } from './dynamodb/old-item.ts';
import { losesResponses, refuses } from './faults.ts';
import type { Rule } from './rule.ts';
import { conditionalWrites, writesConflict } from './s3/conditional-writes.ts';
import { keyLength, unknownOperations } from './s3/limits.ts';
import { listing } from './s3/listing.ts';
import { tagging } from './s3/tagging.ts';
import { versions } from './s3/versions.ts';
import { allUnicode } from './sqs/all-unicode.ts';
import { batchesFailInPart } from './sqs/batches.ts';
import { countsLag } from './sqs/counts-lag.ts';
import { delayLimit, wholeNumbers } from './sqs/limits.ts';
import { fewerMessages, orderChanges, shortPollsMiss } from './sqs/polls.ts';
import { receiptsMustBeIssued, twelveHours } from './sqs/receipts.ts';
import { deliveriesRepeat } from './sqs/repeats.ts';

const RETRIES = 'https://docs.aws.amazon.com/general/latest/gr/api-retries.html';
const SQS_ERRORS = 'https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/CommonErrors.html';
const S3_ERRORS = 'https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html';
const DYNAMODB_ERRORS =
  'https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html';

/**
 * All rules. A request passes those of its service in this order, its reply in reverse order. Rules that break or
 * reject requests come first, those that add features that the stand-in lacks come last.
 */
export const rules = {
  'sqs-refuses': refuses({
    service: 'sqs',
    says: 'Any request may be throttled, or fail in the service, without having been executed.',
    page: SQS_ERRORS,
    refusals: [
      { status: 400, code: 'RequestThrottled', message: 'The request was denied due to request throttling.' },
      { status: 400, code: 'ThrottlingException', message: 'Rate exceeded' },
      { status: 500, code: 'InternalFailure', message: 'The request processing has failed.' },
      { status: 503, code: 'ServiceUnavailable', message: 'The service is temporarily unavailable.' },
    ],
  }),
  'sqs-loses-responses': losesResponses({
    service: 'sqs',
    says: 'A request may have been executed although its response never arrives.',
    page: RETRIES,
    // If the response were lost, the messages would stay hidden for their visibility timeout, which is too long for tests.
    except: new Set(['ReceiveMessage']),
  }),
  'sqs-batches-fail-in-part': batchesFailInPart,
  'sqs-whole-numbers': wholeNumbers,
  'sqs-delay-limit': delayLimit,
  'sqs-receipts': receiptsMustBeIssued,
  'sqs-twelve-hours': twelveHours,
  'sqs-counts-lag': countsLag,
  'sqs-short-polls-miss': shortPollsMiss,
  'sqs-fewer-messages': fewerMessages,
  'sqs-order-changes': orderChanges,
  'sqs-deliveries-repeat': deliveriesRepeat,
  'sqs-characters': allUnicode,
  's3-refuses': refuses({
    service: 's3',
    says: 'Any request may be asked to slow down, or fail in the service, without having been executed.',
    page: S3_ERRORS,
    refusals: [
      { status: 503, code: 'SlowDown', message: 'Please reduce your request rate.' },
      { status: 500, code: 'InternalError', message: 'We encountered an internal error. Please try again.' },
    ],
  }),
  's3-loses-responses': losesResponses({
    service: 's3',
    says: 'A request may have been executed although its response never arrives.',
    page: RETRIES,
  }),
  's3-key-length': keyLength,
  's3-writes-conflict': writesConflict,
  's3-conditional-writes': conditionalWrites,
  's3-versions': versions,
  's3-tagging': tagging,
  's3-listing': listing,
  's3-unknown-operations': unknownOperations,
  'dynamodb-refuses': refuses({
    service: 'dynamodb',
    says: 'Any request may be throttled, or fail in the service, without having been executed.',
    page: DYNAMODB_ERRORS,
    refusals: [
      {
        status: 400,
        code: 'ProvisionedThroughputExceededException',
        message: 'The level of configured provisioned throughput for the table was exceeded.',
      },
      {
        status: 400,
        code: 'ThrottlingException',
        message: 'Rate of requests exceeds the allowed throughput.',
      },
      { status: 500, code: 'InternalServerError', message: 'Internal server error' },
    ],
  }),
  'dynamodb-loses-responses': losesResponses({
    service: 'dynamodb',
    says: 'A request may have been executed although its response never arrives.',
    page: RETRIES,
  }),
  'dynamodb-old-item': oldItemOnFailure,
} as const satisfies Record<string, Rule>;

export type RuleName = keyof typeof rules;
