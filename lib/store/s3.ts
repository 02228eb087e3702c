import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AbortMultipartUploadCommand,
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
  PutObjectTaggingCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { kindOfFault, readAwsFault } from '../base/aws/index.ts';
import { gatherBytes } from '../base/json/index.ts';
import { createBoundary, withPieces } from './boundary.ts';
import { StoreError, type StoreFailure } from './error.ts';
import { checkKey, checkPrefix, isKey } from './key.ts';
import { notFromS3 } from './s3-client.ts';
import {
  type ListedObject,
  MAX_OBJECT_BYTES,
  type OldVersion,
  type PutCondition,
  type PutOptions,
  type PutResult,
  type Store,
  type StoredObject,
} from './store.ts';

type Signal = AbortSignal | undefined;

type OwnFolder = { readonly client: S3Client; readonly bucket: string; readonly folder: string };

/**
 * Opens a store in a bucket. An object's etag is S3's ETag. The client makes three attempts (or `AWS_MAX_ATTEMPTS`),
 * and verifies checksums. Throws a `bad-key` StoreError for a prefix that is not a valid key.
 */
export function createS3Store(
  /** `prefix`: a folder of the bucket, without a trailing slash. Default: the store is the whole bucket. */
  options: {
    readonly client: S3Client;
    readonly bucket: string;
    readonly prefix?: string;
    /** How long S3 may pause in the middle of an object that is being read, in milliseconds. Default 1 minute. */
    readonly maxPauseMs?: number;
  },
): Store {
  const { client, bucket, prefix = '', maxPauseMs = MAX_PAUSE_MS } = options;
  if (prefix !== '') checkKey(prefix);
  const own = { client, bucket, folder: prefix === '' ? '' : `${prefix}/` };
  const location = `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`;
  const { run, each } = createBoundary(location, explainS3Error);
  return {
    location,
    get: (key, { maxBytes = MAX_OBJECT_BYTES, signal } = {}) =>
      run(`get ${key}`, signal, async (tried) =>
        getObject(client, addressOf(own, key), { tried, maxBytes, maxPauseMs, signal }),
      ),
    stream: (key, { signal } = {}) =>
      run(`stream ${key}`, signal, async () => {
        const found = await openBody(client, addressOf(own, key), signal);
        return found && each(`stream ${key}`, signal, () => bytesOf(found.body, maxPauseMs));
      }),
    put: (key, Body, given = {}) =>
      run(`put ${key}`, given.signal, async () =>
        putS3Object(client, { ...addressOf(own, key), Body }, given),
      ),
    putStream: (key, pieces, given = {}) =>
      withPieces(pieces, (watched) =>
        run(`put ${key}`, given.signal, async () => {
          await putS3Object(client, { ...addressOf(own, key), Body: Readable.from(watched) }, given);
        }),
      ),
    copy: (from, to, { signal } = {}) =>
      run(`copy ${from} to ${to}`, signal, () => copyObject(own, from, to, signal)),
    list: (under, { signal } = {}) => each(`list ${under}*`, signal, () => listObjects(own, under, signal)),
    folders: (under, { signal } = {}) =>
      each(`list folders ${under}*`, signal, () => listFolders(own, under, signal)),
    delete: (key, { signal } = {}) =>
      run(`delete ${key}`, signal, async () => deleteObject(client, addressOf(own, key), signal)),
    oldVersions: (under, { signal } = {}) =>
      each(`list old versions of ${under}*`, signal, () =>
        listOldVersions(own, under, { run, maxPauseMs, signal }),
      ),
    tagAll: (under, tag, { signal } = {}) =>
      run(`tag ${under}*`, signal, () => tagObjects(own, under, tag, signal)),
  };
}

type Address = { readonly Bucket: string; readonly Key: string; readonly VersionId?: string };

function addressOf({ bucket, folder }: OwnFolder, key: string): Address {
  checkKey(key);
  return { Bucket: bucket, Key: folder + key };
}

async function openBody(client: S3Client, address: Address, signal: Signal) {
  try {
    const found = await client.send(new GetObjectCommand(address), abortedBy(signal));
    const { Body: body, ETag: etag, ContentLength: sizeBytes } = found;
    if (!(body instanceof Readable) || etag === undefined)
      throw notFromS3('S3 responded without a body or an ETag');
    return { body, etag, sizeBytes };
  } catch (error) {
    return unlessGone(error);
  }
}

type Reading = {
  readonly tried: string;
  readonly maxBytes: number;
  readonly maxPauseMs: number;
  readonly signal: Signal;
};

async function getObject(
  client: S3Client,
  address: Address,
  reading: Reading,
): Promise<StoredObject | undefined> {
  const found = await openBody(client, address, reading.signal);
  return found && { body: await wholeBody(found, reading), etag: found.etag };
}

async function copyObject(own: OwnFolder, from: string, to: string, signal: Signal): Promise<void> {
  const { Bucket, Key } = addressOf(own, from);
  const CopySource = `${Bucket}/${Key.split('/').map(encodeURIComponent).join('/')}`;
  const command = new CopyObjectCommand({ ...addressOf(own, to), CopySource });
  const { CopyObjectResult: copied } = await own.client.send(command, abortedBy(signal));
  if (copied?.ETag === undefined) throw notFromS3('S3 responded without an ETag');
}

async function deleteObject(client: S3Client, address: Address, signal: Signal): Promise<void> {
  await client.send(new DeleteObjectCommand(address), abortedBy(signal));
}

async function* pagesOf(
  { client, bucket, folder }: OwnFolder,
  under: string,
  signal: Signal,
  grouping: { readonly Delimiter?: string } = {},
) {
  checkPrefix(under);
  let next = {};
  for (;;) {
    const command = new ListObjectsV2Command({
      Bucket: bucket,
      Prefix: folder + under,
      ...grouping,
      ...next,
    });
    const page = await client.send(command, abortedBy(signal));
    if (page.IsTruncated === undefined && page.Name === undefined)
      throw notFromS3('S3 responded without a list');
    yield page;
    if (page.NextContinuationToken === undefined) return;
    next = { ContinuationToken: page.NextContinuationToken };
  }
}

/** Lists objects. Skips keys that no store could have written, such as the console's folder markers. */
async function* listObjects(own: OwnFolder, under: string, signal: Signal): AsyncGenerator<ListedObject> {
  for await (const { Contents = [] } of pagesOf(own, under, signal))
    for (const { Key = '', Size = 0, ETag = '', LastModified } of Contents) {
      const key = Key.slice(own.folder.length);
      if (isKey(key)) yield { key, sizeBytes: Size, mark: ETag, storedMs: LastModified?.getTime() };
    }
}

async function* listFolders(own: OwnFolder, under: string, signal: Signal): AsyncGenerator<string> {
  for await (const { CommonPrefixes = [] } of pagesOf(own, under, signal, { Delimiter: '/' }))
    for (const { Prefix = '' } of CommonPrefixes) {
      const key = Prefix.slice(own.folder.length, -1);
      if (isKey(key)) yield key;
    }
}

/**
 * Lists overwritten and deleted versions, if the bucket has versions. Delete markers are not listed: without them an
 * older version would become current again.
 */
async function* listOldVersions(
  { client, bucket, folder }: OwnFolder,
  under: string,
  { run, ...given }: Pick<ReturnType<typeof createBoundary>, 'run'> & Pick<Reading, 'maxPauseMs' | 'signal'>,
): AsyncGenerator<OldVersion> {
  checkPrefix(under);
  const { signal } = given;
  let next = {};
  for (;;) {
    const command = new ListObjectVersionsCommand({ Bucket: bucket, Prefix: folder + under, ...next });
    const page = await client.send(command, abortedBy(signal)).catch(unlessUnknown);
    for (const { Key = '', VersionId, IsLatest } of page?.Versions ?? []) {
      const key = Key.slice(folder.length);
      if (IsLatest !== false || VersionId === undefined || !isKey(key)) continue;
      const address = { Bucket: bucket, Key, VersionId };
      yield {
        key,
        read: () =>
          run(`get an old version of ${key}`, signal, async (tried) => {
            const found = await getObject(client, address, { ...given, tried, maxBytes: MAX_OBJECT_BYTES });
            if (found === undefined) throw new Error('the version was deleted in the meantime');
            return found.body;
          }),
        erase: () =>
          run(`erase an old version of ${key}`, signal, () => deleteObject(client, address, signal)),
      };
    }
    const { NextKeyMarker: KeyMarker, NextVersionIdMarker: VersionIdMarker } = page ?? {};
    if (!KeyMarker) return;
    next = { KeyMarker, VersionIdMarker };
  }
}

const CONCURRENT_TAGS = 8;

/** Sets this tag on all objects under a prefix, and removes their other tags. Skips objects that no longer exist. */
async function tagObjects(
  own: OwnFolder,
  under: string,
  { name, value }: NonNullable<PutOptions['tag']>,
  signal: Signal,
): Promise<void> {
  const Tagging = { TagSet: [{ Key: name, Value: value }] };
  let tagging: Promise<unknown>[] = [];
  for await (const { key } of listObjects(own, under, signal)) {
    const command = new PutObjectTaggingCommand({ ...addressOf(own, key), Tagging });
    tagging.push(own.client.send(command, abortedBy(signal)).catch(unlessGone));
    if (tagging.length < CONCURRENT_TAGS) continue;
    await Promise.all(tagging);
    tagging = [];
  }
  await Promise.all(tagging);
}

function unlessGone(error: unknown): undefined {
  if (readAwsFault(error).code !== 'NoSuchKey') throw error;
}

/** Ignores the error of an S3-compatible service that has no versions, and therefore does not know the request. */
function unlessUnknown(error: unknown): undefined {
  if (readAwsFault(error).code !== 'NotImplemented') throw error;
}

function explainS3Error(error: unknown): StoreFailure {
  const fault = readAwsFault(error);
  const { code, status, missing } = fault;
  if (missing !== undefined) return { kind: 'unconfigured', code, expected: missing };
  if (code === 'NoSuchBucket') return { kind: 'missing', what: 'bucket' };
  if (code === 'NoSuchKey' || code === 'NotFound') return { kind: 'missing', what: 'object' };
  if (code === 'KeyTooLongError')
    return { kind: 'bad-key', expected: 'at most 1024 bytes with the prefix', got: code };
  const kind = kindOfFault(fault);
  if (kind !== 'other' && kind !== 'missing') return { kind, code };
  return { kind: 'other', code: status === undefined ? code : `${status} ${code}` };
}

/** Maximum pause in the middle of a body, in milliseconds. The client's own limit ends with the response's head. */
const MAX_PAUSE_MS = 60_000;

/** Reads a body. Throws ETIMEDOUT if no bytes arrive for `maxPauseMs` while the reader waits for them. */
async function* bytesOf(body: Readable, maxPauseMs: number): AsyncGenerator<Uint8Array> {
  const giveUp = () =>
    body.destroy(Object.assign(new Error(`no bytes for ${maxPauseMs} ms`), { code: 'ETIMEDOUT' }));
  let timer = setTimeout(giveUp, maxPauseMs);
  try {
    for await (const chunk of body) {
      clearTimeout(timer);
      yield chunk;
      timer = setTimeout(giveUp, maxPauseMs);
    }
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Reads a whole body. Throws a `too-large` StoreError above `maxBytes`: before any byte is read if S3
 * reports the size.
 */
async function wholeBody(
  { body, sizeBytes }: { readonly body: Readable; readonly sizeBytes: number | undefined },
  limits: { readonly tried: string; readonly maxBytes: number; readonly maxPauseMs: number },
): Promise<Buffer> {
  const { tried, maxBytes, maxPauseMs } = limits;
  function refuseMore(bytes: number): void {
    if (bytes <= maxBytes) return;
    body.destroy();
    throw new StoreError(tried, { kind: 'too-large', maxBytes, sizeBytes: bytes });
  }
  refuseMore(sizeBytes ?? 0);
  const gathered = gatherBytes(sizeBytes);
  for await (const chunk of bytesOf(body, maxPauseMs)) {
    refuseMore(gathered.sizeBytes() + chunk.byteLength);
    gathered.add(chunk);
  }
  return gathered.bytes();
}

type S3Object = Pick<PutObjectCommandInput, 'Bucket' | 'Key'> & { readonly Body: Uint8Array | Readable };

/**
 * The options of a request with this signal. Without a signal, they are undefined rather than an empty object,
 * since the client reuses its prepared middleware only for requests without options.
 */
const abortedBy = (signal: AbortSignal | undefined) => (signal ? { abortSignal: signal } : undefined);

/**
 * Stores one object, in parts if it is larger than 8 MiB or a stream. S3 checks a condition at the end, with the last
 * part. A stream must have no condition, since it can be sent only once.
 */
async function putS3Object(
  client: S3Client,
  { Body, ...address }: S3Object,
  { condition, contentType, tag, signal }: PutOptions,
): Promise<PutResult> {
  const write = randomUUID();
  const sizeBytes = Body instanceof Uint8Array ? Body.byteLength : Number.POSITIVE_INFINITY;
  const isNamed = condition !== undefined || sizeBytes > PART_BYTES;
  const input = {
    ...address,
    Body,
    ...(contentType === undefined ? {} : { ContentType: contentType }),
    ...(tag === undefined ? {} : { Tagging: new URLSearchParams({ [tag.name]: tag.value }).toString() }),
    ...(condition === undefined ? {} : conditionHeaders(condition)),
    ...(isNamed ? { Metadata: { [WRITE_NAME]: write } } : {}),
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
        const found = await findOwn(client, address, write, signal);
        // Only a conditional put can fail by its condition.
        if (found.kind === 'condition-failed' && condition === undefined) throw error;
        return found;
      }
    }
    await sleep(CONFLICT_WAIT_MS * round, undefined, signal ? { signal } : {});
  }
}

// The name in the object's metadata with the id of the write, so that a writer whose response was lost finds its
// object.
const WRITE_NAME = 'write';
const CONFLICT_ROUNDS = 5;
const CONFLICT_WAIT_MS = 50;
// A single PutObject may carry 5 GiB; parts of this size limit how much is sent again after a broken connection.
const PART_BYTES = 8 * 1024 * 1024;

const conditionHeaders = (condition: PutCondition) =>
  'ifAbsent' in condition ? { IfNoneMatch: '*' } : { IfMatch: condition.ifMatch };

/**
 * What the error of a put means. 412, or 404 with If-Match: the object is a different one, or was deleted. But if
 * this was not the first attempt, the object may be ours, and only the response to an earlier attempt was lost. 409
 * ConditionalRequestConflict: another write was in progress, so try again.
 */
function judge(error: unknown, condition: PutCondition | undefined, round: number) {
  const { code, status, attempts } = readAwsFault(error);
  // If the response to completing an upload was lost, the next attempt finds no upload.
  if (code === 'NoSuchUpload' && attempts > 1) return 'perhaps-ours';
  if (condition === undefined) return 'throw';
  // S3 may begin a response with 200 before it checks the condition, so that only the code shows the refusal.
  const isRefused =
    status === 412 || code === 'PreconditionFailed' || (code === 'NoSuchKey' && 'ifMatch' in condition);
  if (isRefused) return attempts > 1 || round > 1 ? 'perhaps-ours' : 'condition-failed';
  return code === 'ConditionalRequestConflict' && round < CONFLICT_ROUNDS ? 'again' : 'throw';
}

async function findOwn(
  client: S3Client,
  address: Omit<S3Object, 'Body'>,
  write: string,
  signal: AbortSignal | undefined,
): Promise<PutResult> {
  try {
    const { Metadata, ETag } = await client.send(new HeadObjectCommand(address), abortedBy(signal));
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
  if (ETag === undefined) throw notFromS3('S3 responded without an ETag');
  return ETag;
}

async function sendParts(client: S3Client, input: PutObjectCommandInput, signal: AbortSignal | undefined) {
  // Loaded here, since most functions store no large object.
  const { Upload } = await import('@aws-sdk/lib-storage');
  signal?.throwIfAborted();
  // `Upload` takes an AbortController, not a signal.
  const abortController = new AbortController();
  const abort = () => abortController.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  const upload = new Upload({
    client,
    params: input,
    partSize: PART_BYTES,
    abortController,
    // The upload is aborted below: `Upload` itself aborts only some failed uploads, and then throws the error of the
    // abort instead of the first error.
    leavePartsOnError: true,
  });
  try {
    return await upload.done();
  } catch (error) {
    // Leftover parts cost money. An error here must not hide the first error.
    const { Bucket, Key } = input;
    const parts = { Bucket, Key, UploadId: upload.uploadId };
    if (upload.uploadId !== undefined)
      await client.send(new AbortMultipartUploadCommand(parts)).catch(() => undefined);
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}
