import { describe, expect, test } from 'vitest';
import { AwsError, isPassing, lastingFailure } from '../../../lib/base/aws/index.ts';
import { UnsentError } from '../../../lib/jobs/queue/queue.ts';
import { StoreError, type StoreFailure } from '../../../lib/store/index.ts';
import { TableError, type TableFailure } from '../../../lib/table/index.ts';

const response = (name: string, httpStatusCode = 400) =>
  Object.assign(new Error('said AWS'), { name, $metadata: { httpStatusCode } });

const aws = (part: AwsError['resource'], code: string, status?: number) =>
  new AwsError(part, 'try', response(code, status));

const table = (failure: TableFailure) => new TableError('get job#a - in table jobs', failure);
const store = (failure: StoreFailure) => new StoreError('put a in s3://acme', failure);

const named = (error: unknown) => {
  const found = lastingFailure(error);
  return found && `${found.problem}-${found.resource}`;
};

describe('a lasting failure is recognized:', () => {
  test.each([
    ['ResourceMissing-queue', aws('queue', 'QueueDoesNotExist')],
    ['ResourceMissing-queue', aws('queue', 'AWS.SimpleQueueService.NonExistentQueue')],
    ['ResourceMissing-snapshot-function', aws('snapshot-function', 'ResourceNotFoundException', 404)],
    ['ResourceMissing-token', aws('token', 'ParameterNotFound')],
    ['ResourceMissing-catalog', aws('catalog', 'EntityNotFoundException')],
    ['ResourceRefused-event-bus', aws('event-bus', 'AccessDeniedException')],
    ['ResourceRefused-event-bus', aws('event-bus', 'MalformedDetail')],
    ['ResourceRefused-topic', aws('topic', 'AuthorizationError', 403)],
    ['ResourceRefused-token', aws('token', 'ExpiredTokenException')],
    // Errors about a KMS key, as each service spells them.
    ['ResourceRefused-key', aws('token', 'DecryptionFailure')],
    ['ResourceRefused-key', aws('queue', 'KmsDisabled')],
    ['ResourceRefused-key', aws('queue', 'KMS.DisabledException')],
    ['ResourceRefused-key', aws('topic', 'KMSInvalidStateException')],
    ['ResourceRefused-key', aws('snapshot-function', 'KMSDisabledException', 502)],
    ['ResourceRefused-key', store({ kind: 'denied', code: 'KMS.DisabledException' })],
    ['ResourceMissing-table', table({ kind: 'bad-table', table: 'jobs', expected: 'one', got: 'none' })],
    ['ResourceRefused-table', table({ kind: 'bad-table', table: 'jobs', expected: 'one', got: 'another' })],
    ['ResourceRefused-table', table({ kind: 'denied', code: 'AccessDeniedException' })],
    ['ResourceRefused-table', table({ kind: 'unconfigured', code: 'MissingRegion', expected: 'a region' })],
    ['ResourceMissing-store', store({ kind: 'missing', what: 'bucket' })],
    ['ResourceRefused-store', store({ kind: 'denied', code: 'AccessDenied' })],
    ['ResourceRefused-store', store({ kind: 'full', code: 'ENOSPC' })],
  ])('%s: %s', (problem, error) => {
    expect(named(error)).toBe(problem);
    expect(isPassing(error)).toBe(false);
  });

  test('a failure that is the cause of another error, or one of several errors', () => {
    const denied = store({ kind: 'denied', code: 'AccessDenied' });
    const several = new AggregateError([new Error('x'), new Error('slice', { cause: denied })]);
    const circle = new Error('a');
    circle.cause = new Error('b', { cause: circle });

    expect(named(new Error('stopped', { cause: several }))).toBe('ResourceRefused-store');
    expect(named(circle)).toBeUndefined();
  });

  test('a message that the queue refuses', () => {
    const cause = response('QueueDoesNotExist');

    expect(named(new UnsentError('https://sqs/q', 1, [{ index: 0, cause, mayBeSent: true }]))).toBe(
      'ResourceMissing-queue',
    );
  });
});

describe('a temporary failure is recognized:', () => {
  test.each([
    aws('queue', 'RequestThrottled'),
    aws('queue', 'KmsThrottled'),
    aws('topic', 'KMSThrottlingException'),
    aws('event-bus', 'InternalFailure', 500),
    aws('snapshot-function', 'ResourceConflictException', 409),
    aws('snapshot-function', 'ServiceException', 503),
    new AwsError('token', 'try', Object.assign(new Error('no'), { code: 'ECONNREFUSED' })),
    table({ kind: 'busy', code: 'ProvisionedThroughputExceededException' }),
    store({ kind: 'unreachable', code: 'ETIMEDOUT' }),
  ])('%s', (error) => {
    expect(named(error)).toBeUndefined();
    expect(isPassing(error)).toBe(true);
  });
});

test('an error of one object, key or row does not count as a failure of the whole store or table', () => {
  const others = [
    store({ kind: 'missing', what: 'object' }),
    store({ kind: 'bad-key', expected: 'short', got: 'long' }),
    table({ kind: 'bad-row', expected: 'small', got: 'large' }),
    new Error('ours'),
    'no error',
  ];

  for (const other of others) expect([named(other), isPassing(other)]).toEqual([undefined, false]);
});

test('the error of a table says whether the table is missing or forbidden, and what to do', () => {
  const gone = table({ kind: 'bad-table', table: 'jobs', expected: 'one', got: 'none' });
  const cause = new Error('User is not authorized to perform: dynamodb:GetItem on resource: jobs');
  const forbidden = new TableError('get a', { kind: 'denied', code: 'AccessDeniedException' }, { cause });

  expect(gone.message).toContain('there is no table jobs: docs/restore.md says how to restore');
  expect(forbidden.message).toContain('dynamodb:GetItem on resource: jobs');
});
