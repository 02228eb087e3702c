import { refuse } from '../reply.ts';
import type { Rule } from '../rule.ts';
import { placeOf } from './s3-operation.ts';

const MAX_KEY_BYTES = 1_024;

export const keyLength = {
  service: 's3',
  kind: 'strict',
  says: 'A key has at most 1,024 bytes of UTF-8.',
  page: 'https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html',
  create: () => async (request, next) =>
    Buffer.byteLength(placeOf(request).key) > MAX_KEY_BYTES
      ? refuse('s3', { status: 400, code: 'KeyTooLongError', message: 'Your key is too long' })
      : next(request),
} as const satisfies Rule;

/**
 * Rejects operations on subresources that fauxqs does not know: it would ignore the subresource, and read or replace
 * the object itself.
 */
export const unknownOperations = {
  service: 's3',
  kind: 'strict',
  says: 'A subresource in the query, such as acl or retention, is another operation than that on the object; those that are not here are refused.',
  page: 'https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_Amazon_Simple_Storage_Service.html',
  create: () => async (request, next) =>
    request.operation.includes('?') || request.operation === 'ListParts'
      ? refuse('s3', {
          status: 501,
          code: 'NotImplemented',
          message: `There is no ${request.operation} here.`,
        })
      : next(request),
} as const satisfies Rule;
