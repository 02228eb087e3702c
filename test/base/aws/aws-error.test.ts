import { expect, test } from 'vitest';
import { AwsError } from '../../../lib/base/aws/fault.ts';

test('a response that is none of the service, such as a page of a proxy, is not quoted', () => {
  const unreadable = Object.assign(
    new SyntaxError(`Unexpected token '<', "<?xml vers"... is not valid JSON`),
    { $metadata: { httpStatusCode: 403 } },
  );

  const { message, failure } = new AwsError('token', 'read secret sync/token', unreadable);

  expect(message).toBe('read secret sync/token: HTTP 403: the response is not from this service');
  expect(failure.kind).toBe('denied');
});
