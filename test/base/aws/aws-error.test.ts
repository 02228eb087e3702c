import { expect, test } from 'vitest';
import { AwsError } from '../../../lib/base/aws/fault.ts';
import { lastingFailure, remedyOf } from '../../../lib/base/aws/index.ts';

test('an error does not quote a response that came from something else than the service, such as a proxy’s page', () => {
  const unreadable = Object.assign(
    new SyntaxError(`Unexpected token '<', "<?xml vers"... is not valid JSON`),
    { $metadata: { httpStatusCode: 403 } },
  );

  const { message, failure } = new AwsError('token', 'read secret sync/token', unreadable);

  expect(message).toBe('read secret sync/token: HTTP 403: the response is not from this service');
  expect(failure.kind).toBe('denied');
});

test.each([
  [
    'S3',
    'AccessDenied',
    'User: arn:aws:sts::111122223333:assumed-role/worker/w is not authorized to perform: kms:GenerateDataKey on resource: arn:aws:kms:eu-central-1:111122223333:key/1 because no identity-based policy allows it',
  ],
  ['Secrets Manager', 'AccessDeniedException', 'Access to KMS is not allowed'],
  [
    'Parameter Store',
    'AccessDeniedException',
    'The ciphertext refers to a customer master key that does not exist, does not exist in this region, or you are not allowed to access.',
  ],
  ['DynamoDB', 'AccessDeniedException', 'The KMS key that encrypts the table is disabled'],
])(
  'the error names the key that may not be used, although %s mentions it only in its message',
  (_, name, message) => {
    const denied = Object.assign(new Error(message), { name, $metadata: { httpStatusCode: 400 } });

    const error = new AwsError('token', 'read it', denied);

    expect(lastingFailure(error)).toMatchObject({ resource: 'key', problem: 'ResourceRefused' });
    expect(remedyOf(error.failure.code)).toContain('kms:Decrypt');
  },
);

test('an error about an object whose name contains KMS is not reported as an error of a KMS key', () => {
  const message =
    'User: arn:aws:sts::111122223333:assumed-role/KMS-reader/w is not authorized to perform: s3:PutObject';
  const denied = Object.assign(new Error(message), { name: 'AccessDenied' });

  expect(new AwsError('token', 'read it', denied).failure).toEqual({ kind: 'denied', code: 'AccessDenied' });
});
