import { refuse } from '../reply.ts';
import type { Ask } from '../rule.ts';
import { placeOf } from './s3-operation.ts';

/** The operations that create an object. Parts of an upload get the encryption that was set when the upload was created. */
const WRITES: ReadonlySet<string> = new Set(['PutObject', 'CopyObject', 'CreateMultipartUpload']);

/**
 * Buckets, by name, whose policy requires a header for one encryption on writes: its algorithm, and the key if the
 * policy requires one. Source: "Using server-side encryption", in the S3 user guide.
 */
export type Demanded = ReadonlyMap<string, { readonly algorithm: string; readonly key?: string }>;

/** Denies writes that lack the header or name another key, as such a policy does. */
export const demandEncryption =
  (demanded: Demanded, next: Ask): Ask =>
  async (request) => {
    const wanted = request.service === 's3' ? demanded.get(placeOf(request).bucket) : undefined;
    if (wanted === undefined || !WRITES.has(request.operation)) return next(request);
    const headers: Readonly<Record<string, unknown>> = request.headers;
    const isAsked =
      headers['x-amz-server-side-encryption'] === wanted.algorithm &&
      headers['x-amz-server-side-encryption-aws-kms-key-id'] === wanted.key;
    return isAsked
      ? next(request)
      : refuse('s3', { status: 403, code: 'AccessDenied', message: 'Access Denied' });
  };
