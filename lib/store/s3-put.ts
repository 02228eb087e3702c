import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AbortMultipartUploadCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { readAwsFault } from '../base/index.ts';
import type { PutCondition, PutOptions, PutResult } from './store.ts';

type S3Object = Pick<PutObjectCommandInput, 'Bucket' | 'Key'> & { readonly Body: Uint8Array | Readable };

/** Undefined rather than empty: without options the client uses the middleware that it has put together before. */
export const abortedBy = (signal: AbortSignal | undefined) => (signal ? { abortSignal: signal } : undefined);

/**
 * Stores one object, in parts if it is larger than 8 MiB or a stream, under a condition if one is given. S3 checks the
 * condition when the object appears: with the last part. A stream must have no condition: it can be sent only once.
 */
export async function putS3Object(
  client: S3Client,
  { Body, ...place }: S3Object,
  { condition, contentType, tag, signal }: PutOptions,
): Promise<PutResult> {
  const write = randomUUID();
  const sizeBytes = Body instanceof Uint8Array ? Body.byteLength : Number.POSITIVE_INFINITY;
  const mayLookForIt = condition !== undefined || sizeBytes > PART_BYTES;
  const input = {
    ...place,
    Body,
    ...(contentType === undefined ? {} : { ContentType: contentType }),
    ...(tag === undefined ? {} : { Tagging: new URLSearchParams({ [tag.name]: tag.value }).toString() }),
    ...(condition === undefined ? {} : conditionHeaders(condition)),
    ...(mayLookForIt ? { Metadata: { [WRITE_NAME]: write } } : {}),
  };
  for (let round = 1; ; round += 1) {
    try {
      return { kind: 'stored', etag: await send(client, input, sizeBytes > PART_BYTES, signal) };
    } catch (error) {
      if (signal?.aborted) throw error;
      const verdict = judge(error, condition, round);
      if (verdict === 'throw') throw error;
      if (verdict === 'condition-failed') return { kind: 'condition-failed' };
      if (verdict === 'perhaps-ours') {
        const found = await findOwn(client, place, write, signal);
        // A put without a condition cannot fail one.
        if (found.kind === 'condition-failed' && condition === undefined) throw error;
        return found;
      }
    }
    await sleep(CONFLICT_WAIT_MS * round, undefined, signal ? { signal } : {});
  }
}

// Names the write in the object's metadata, so that a writer whose response was lost recognizes its own object.
const WRITE_NAME = 'write';
const CONFLICT_ROUNDS = 5;
const CONFLICT_WAIT_MS = 50;
// A single PutObject may carry 5 GiB; parts of this size limit how much is sent again after a broken connection.
const PART_BYTES = 8 * 1024 * 1024;

const conditionHeaders = (condition: PutCondition) =>
  'ifAbsent' in condition ? { IfNoneMatch: '*' } : { IfMatch: condition.ifMatch };

/**
 * 412, or 404 under If-Match: somebody else's object is there, or none, unless the request was sent before and only its
 * response was lost: then the object is ours. 409 ConditionalRequestConflict says only that another write was in
 * progress: try again.
 */
function judge(error: unknown, condition: PutCondition | undefined, round: number) {
  const { code, status, attempts } = readAwsFault(error);
  // After a lost response, completing the parts again finds no upload to complete.
  if (code === 'NoSuchUpload' && attempts > 1) return 'perhaps-ours';
  if (condition === undefined) return 'throw';
  // S3 may have begun a response of 200 before it checked: then only the code shows the refusal.
  const isRefused =
    status === 412 || code === 'PreconditionFailed' || (code === 'NoSuchKey' && 'ifMatch' in condition);
  if (isRefused) return attempts > 1 || round > 1 ? 'perhaps-ours' : 'condition-failed';
  return code === 'ConditionalRequestConflict' && round < CONFLICT_ROUNDS ? 'again' : 'throw';
}

async function findOwn(
  client: S3Client,
  place: Omit<S3Object, 'Body'>,
  write: string,
  signal: AbortSignal | undefined,
): Promise<PutResult> {
  try {
    const { Metadata, ETag } = await client.send(new HeadObjectCommand(place), abortedBy(signal));
    return Metadata?.[WRITE_NAME] === write && ETag
      ? { kind: 'stored', etag: ETag }
      : { kind: 'condition-failed' };
  } catch (error) {
    if (readAwsFault(error).status === 404) return { kind: 'condition-failed' };
    throw error;
  }
}

async function send(
  client: S3Client,
  input: PutObjectCommandInput,
  isInParts: boolean,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { ETag } = isInParts
    ? await sendParts(client, input, signal)
    : await client.send(new PutObjectCommand(input), abortedBy(signal));
  if (ETag === undefined) throw new Error('S3 responded without an ETag');
  return ETag;
}

async function sendParts(client: S3Client, input: PutObjectCommandInput, signal: AbortSignal | undefined) {
  // Most functions store no large object.
  const { Upload } = await import('@aws-sdk/lib-storage');
  signal?.throwIfAborted();
  // Upload takes a controller, where everything else takes a signal.
  const abortController = new AbortController();
  const abort = () => abortController.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  const upload = new Upload({
    client,
    params: input,
    partSize: PART_BYTES,
    abortController,
    // It would abort only some failed uploads, and throw what that said in place of the first error.
    leavePartsOnError: true,
  });
  try {
    return await upload.done();
  } catch (error) {
    // Parts that are left cost money. No error here may hide the first one.
    const { Bucket, Key } = input;
    const parts = { Bucket, Key, UploadId: upload.uploadId };
    if (upload.uploadId !== undefined)
      await client.send(new AbortMultipartUploadCommand(parts)).catch(() => undefined);
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}
