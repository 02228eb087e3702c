import { refuse } from '../reply.ts';
import type { Rule } from '../rule.ts';
import { placeOf } from './s3-operation.ts';

const MOST_KEY_BYTES = 1_024;
const MOST_METADATA_BYTES = 2_048;
const MOST_DELETED = 1_000;

export const keyLength = {
  service: 's3',
  kind: 'strict',
  says: 'A key has at most 1,024 bytes of UTF-8.',
  page: 'https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html',
  create: () => async (request, next) =>
    Buffer.byteLength(placeOf(request).key) > MOST_KEY_BYTES
      ? refuse('s3', { status: 400, code: 'KeyTooLongError', message: 'Your key is too long' })
      : next(request),
} as const satisfies Rule;

export const metadataSize = {
  service: 's3',
  kind: 'strict',
  says: 'The names and values of user-defined metadata have at most 2 KB in all.',
  page: 'https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingMetadata.html',
  create: () => async (request, next) => {
    const bytes = Object.entries(request.headers)
      .filter(([name]) => name.startsWith(METADATA))
      .map(([name, value]) => Buffer.byteLength(name.slice(METADATA.length) + String(value)))
      .reduce((sum, each) => sum + each, 0);
    const message = 'Your metadata headers exceed the maximum allowed metadata size.';
    return bytes > MOST_METADATA_BYTES
      ? refuse('s3', { status: 400, code: 'MetadataTooLarge', message })
      : next(request);
  },
} as const satisfies Rule;

const METADATA = 'x-amz-meta-';

export const deletedAtOnce = {
  service: 's3',
  kind: 'strict',
  says: 'DeleteObjects takes at most 1,000 keys.',
  page: 'https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html',
  create: () => async (request, next) => {
    const keys = request.operation === 'DeleteObjects' ? request.body.toString('utf8').match(/<Key>/g) : null;
    const message =
      'The XML you provided was not well-formed or did not validate against our published schema';
    return (keys?.length ?? 0) > MOST_DELETED
      ? refuse('s3', { status: 400, code: 'MalformedXML', message })
      : next(request);
  },
} as const satisfies Rule;

/** fauxqs ignores a subresource that it does not know, and reads or replaces the object itself. */
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
