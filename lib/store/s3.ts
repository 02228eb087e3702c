import { Readable } from 'node:stream';
import { CopyObjectCommand, DeleteObjectCommand, GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { kindOfFault, readAwsFault } from '../base/index.ts';
import { type Boundary, createBoundary } from './boundary.ts';
import type { StoreFailure } from './error.ts';
import { checkKey } from './key.ts';
import { bytesOf, MOST_PAUSE_MS, type WholeBodyOptions, wholeBody } from './s3-body.ts';
import { listOldVersions } from './s3-history.ts';
import { listFolders, listObjects, type OwnFolder } from './s3-list.ts';
import { putS3Object, type S3Object } from './s3-put.ts';
import { readTag, tagObjects } from './s3-tags.ts';
import { type ListedObject, MOST_OBJECT_BYTES, type Store, type StoredObject } from './store.ts';
import { withPieces } from './watched-pieces.ts';

/** `prefix` is a folder of the bucket, without a trailing slash; absent or empty: the whole bucket. */
export type S3StoreOptions = {
  readonly client: S3Client;
  readonly bucket: string;
  readonly prefix?: string;
  /** How long S3 may pause in the middle of an object that is being read, in milliseconds. Default 1 minute. */
  readonly mostPauseMs?: number;
};

/**
 * Objects in an S3 bucket; an object's etag is S3's ETag. The client has time-outs, makes three attempts (or
 * `AWS_MAX_ATTEMPTS`), and verifies the checksums of what it sends and receives. Throws a `bad-key` StoreError for a
 * prefix that is not a valid key.
 */
export function createS3Store({
  client,
  bucket,
  prefix = '',
  mostPauseMs = MOST_PAUSE_MS,
}: S3StoreOptions): Store {
  if (prefix !== '') checkKey(prefix);
  const folder = prefix === '' ? '' : `${prefix}/`;
  const location = `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`;
  const { run, each } = createBoundary(explainS3Error);
  const attempt = attemptsIn(location);
  const place = (key: string): S3Object => {
    checkKey(key);
    return { client, bucket, key: folder + key };
  };
  const own = { client, bucket, folder };
  return {
    location,
    get: (key, { mostBytes = MOST_OBJECT_BYTES, signal } = {}) =>
      run(attempt('get', key, signal), (tried) =>
        readObject(place(key), { tried, mostBytes, mostPauseMs, signal }),
      ),
    stream: (key, { signal } = {}) =>
      run(attempt('stream', key, signal), async () => {
        const found = await getObject(place(key), signal);
        return found && each(attempt('stream', key, signal), () => bytesOf(found.body, mostPauseMs));
      }),
    put: (key, body, options = {}) =>
      run(attempt('put', key, options.signal), () => putS3Object(place(key), body, options)),
    putStream: (key, pieces, { signal } = {}) =>
      withPieces(pieces, (watched) =>
        run(attempt('put', key, signal), () => putPieces(place(key), watched, signal)),
      ),
    copy: (from, to, { signal } = {}) =>
      run(attempt(`copy ${from} to`, to, signal), () => copyObject(place(from), place(to), signal)),
    list: (under, { signal } = {}) =>
      each(attempt('list', `${under}*`, signal), () => listObjects({ ...own, under, signal })),
    folders: (under, { signal } = {}) =>
      each(attempt('list folders', `${under}*`, signal), () => listFolders({ ...own, under, signal })),
    delete: (key, { signal } = {}) =>
      run(attempt('delete', key, signal), () => deleteObject(place(key), signal)),
    ...besideObjects(own, { location, run, each, mostPauseMs }),
  };
}

/** What S3 holds besides the current objects: their old versions and their tags. */
function besideObjects(
  own: OwnFolder,
  { location, run, each, mostPauseMs }: Boundary & Pick<Store, 'location'> & { readonly mostPauseMs: number },
): Pick<Store, 'oldVersions' | 'tagAll' | 'tagOf'> {
  const attempt = attemptsIn(location);
  return {
    oldVersions: (under, { signal } = {}) =>
      each(attempt('list old versions of', `${under}*`, signal), () =>
        listOldVersions(own, under, {
          signal,
          mostPauseMs,
          run: (act, key, work) => run(attempt(`${act} an old version of`, key, signal), work),
        }),
      ),
    tagOf: (key, name, { signal } = {}) =>
      run(attempt('read the tags of', key, signal), () => {
        checkKey(key);
        return readTag(own, key, name, signal);
      }),
    tagAll: (under, tag, { signal } = {}) =>
      run(attempt('tag', `${under}*`, signal), () =>
        tagObjects(own, keysOf(listObjects({ ...own, under, signal })), tag, signal),
      ),
  };
}

const attemptsIn = (location: string) => (act: string, key: string, signal?: AbortSignal) => ({
  tried: `${act} ${key} in ${location}`,
  signal,
});

async function putPieces(
  at: S3Object,
  pieces: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<void> {
  await putS3Object(at, Readable.from(pieces), signal === undefined ? {} : { signal });
}

async function getObject({ client, bucket, key }: S3Object, signal: AbortSignal | undefined) {
  try {
    const { Body, ETag, ContentLength } = await client.send(
      new GetObjectCommand({ Bucket: bucket, Key: key }),
      abortedBy(signal),
    );
    if (!(Body instanceof Readable) || ETag === undefined)
      throw new Error('S3 responded without a body or an ETag');
    return { body: Body, etag: ETag, sizeBytes: ContentLength };
  } catch (error) {
    if (readAwsFault(error).code === 'NoSuchKey') return undefined;
    throw error;
  }
}

async function readObject(
  place: S3Object,
  options: WholeBodyOptions & { readonly signal: AbortSignal | undefined },
): Promise<StoredObject | undefined> {
  const found = await getObject(place, options.signal);
  return found && { body: await wholeBody(found, options), etag: found.etag };
}

async function copyObject(from: S3Object, to: S3Object, signal: AbortSignal | undefined): Promise<void> {
  const source = from.key.split('/').map(encodeURIComponent).join('/');
  const command = new CopyObjectCommand({
    Bucket: to.bucket,
    Key: to.key,
    CopySource: `${from.bucket}/${source}`,
  });
  await to.client.send(command, abortedBy(signal));
}

async function deleteObject(
  { client, bucket, key }: S3Object,
  signal: AbortSignal | undefined,
): Promise<void> {
  await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }), abortedBy(signal));
}

async function* keysOf(listed: AsyncIterable<ListedObject>): AsyncGenerator<string> {
  for await (const { key } of listed) yield key;
}

/** Undefined rather than empty: without options the client uses the middleware that it has put together before. */
const abortedBy = (signal: AbortSignal | undefined) => (signal ? { abortSignal: signal } : undefined);

/** Converts an error of the SDK to the failure that the store throws. */
function explainS3Error(error: unknown): StoreFailure {
  const fault = readAwsFault(error);
  const { code, status, missing } = fault;
  if (missing !== undefined) return { kind: 'unconfigured', code, expected: missing };
  if (code === 'NoSuchBucket') return { kind: 'missing', what: 'bucket' };
  if (code === 'NoSuchKey' || code === 'NotFound') return { kind: 'missing', what: 'object' };
  if (code === 'KeyTooLongError')
    return { kind: 'bad-key', expected: 'at most 1024 bytes with the prefix', got: code };
  const kind = kindOfFault(fault);
  if (kind !== 'other') return { kind, code };
  return { kind, code: status === undefined ? code : `${status} ${code}` };
}
