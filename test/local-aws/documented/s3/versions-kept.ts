import type { AwsRequest } from '../aws-request.ts';
import { type Reply, refuse } from '../reply.ts';
import type { Ask, World } from '../rule.ts';
import { headOf } from './conditional-writes.ts';
import { listAll } from './listing.ts';
import { placeOf } from './s3-operation.ts';

/** A version of an object. Without `object` it is a delete marker. */
type Version = {
  readonly id: string;
  readonly atMs: number;
  /** The reply to a get of this version. */
  readonly object?: Reply;
};

export type ListedVersion = Version & { readonly key: string; readonly isLatest: boolean };

/** The versions of one bucket. */
export type Versions = {
  put(request: AwsRequest, next: Ask): Promise<Reply>;
  get(request: AwsRequest, next: Ask): Promise<Reply>;
  delete(request: AwsRequest): Promise<Reply>;
  /** All versions of all keys. Those of the same key are ordered from newest to oldest. */
  list(request: AwsRequest): Promise<readonly ListedVersion[]>;
};

/** The version id of an object that is older than the versioning of its bucket. */
const FIRST = 'null';

export function createVersions(world: World): Versions {
  const bucket: Bucket = { ...world, olderOf: new Map(), currentOf: new Map() };
  return {
    put: (request, next) => put(bucket, request, next),
    get: (request, next) => get(bucket, request, next),
    delete(request) {
      const id = request.query.get('versionId');
      return id === null ? addMarker(bucket, request) : deleteVersion(bucket, request, id);
    },
    list: (request) => list(bucket, request),
  };
}

type Bucket = World & {
  /** The versions by key, newest first, without the current object, which fauxqs has. */
  readonly olderOf: Map<string, readonly Version[]>;
  readonly currentOf: Map<string, Pick<Version, 'id' | 'atMs'>>;
};

const older = ({ olderOf }: Bucket, key: string) => olderOf.get(key) ?? [];

const newId = ({ random }: Bucket): string => random.hex(32);

async function put(bucket: Bucket, request: AwsRequest, next: Ask): Promise<Reply> {
  const { key } = placeOf(request);
  const before = await readCurrent(bucket, request);
  const reply = await next(request);
  if (reply.status !== 200) return reply;
  if (before !== undefined) bucket.olderOf.set(key, [before, ...older(bucket, key)]);
  const current = { id: newId(bucket), atMs: bucket.now() };
  bucket.currentOf.set(key, current);
  return withVersion(reply, current.id);
}

async function get(bucket: Bucket, request: AwsRequest, next: Ask): Promise<Reply> {
  const { key } = placeOf(request);
  const id = request.query.get('versionId');
  const current = bucket.currentOf.get(key)?.id ?? FIRST;
  const reply = id === null || id === current ? await next(request) : undefined;
  if (reply !== undefined && reply.status < 400) return withVersion(reply, current);
  if (id === null) {
    const [newest] = older(bucket, key);
    const marker = newest !== undefined && newest.object === undefined ? MARKER : {};
    return { ...(reply ?? noSuchVersion), headers: { ...reply?.headers, ...marker } };
  }
  const version = older(bucket, key).find((each) => each.id === id);
  if (version === undefined) return noSuchVersion;
  return version.object === undefined ? isMarker : withVersion(version.object, id);
}

async function addMarker(bucket: Bucket, request: AwsRequest): Promise<Reply> {
  const { key } = placeOf(request);
  const before = await readCurrent(bucket, request);
  await bucket.ask(deleteOf(request));
  bucket.currentOf.delete(key);
  const marker = { id: newId(bucket), atMs: bucket.now() };
  bucket.olderOf.set(key, [marker, ...(before === undefined ? [] : [before]), ...older(bucket, key)]);
  return { ...deleted, headers: { ...MARKER, 'x-amz-version-id': marker.id } };
}

async function deleteVersion(bucket: Bucket, request: AwsRequest, id: string): Promise<Reply> {
  const { key } = placeOf(request);
  const current = await readCurrent(bucket, request);
  const isOfCurrent = current?.id === id;
  if (isOfCurrent) {
    await bucket.ask(deleteOf(request));
    bucket.currentOf.delete(key);
  }
  const rest = older(bucket, key).filter((version) => version.id !== id);
  bucket.olderOf.set(key, rest);
  if (isOfCurrent || current === undefined) await restore(bucket, request, rest);
  return { ...deleted, headers: { 'x-amz-version-id': id } };
}

/** Makes the newest older version current again, unless it is a delete marker. */
async function restore(bucket: Bucket, request: AwsRequest, [newest, ...rest]: readonly Version[]) {
  if (newest?.object === undefined) return;
  const { key } = placeOf(request);
  await bucket.ask(putOf(request, newest.object));
  bucket.olderOf.set(key, rest);
  bucket.currentOf.set(key, newest);
}

async function list(bucket: Bucket, request: AwsRequest): Promise<readonly ListedVersion[]> {
  const listed: ListedVersion[] = [];
  const present = new Set((await listAll(request, bucket.ask, ''))?.map(({ key }) => key));
  for (const key of new Set([...present, ...bucket.olderOf.keys()])) {
    const path = `/${encodeURIComponent(placeOf(request).bucket)}/${encodeURIComponent(key)}`;
    const current = present.has(key) ? await readCurrent(bucket, { ...request, path }) : undefined;
    const all = current === undefined ? older(bucket, key) : [current, ...older(bucket, key)];
    listed.push(...all.map((version, place) => ({ ...version, key, isLatest: place === 0 })));
  }
  return listed;
}

async function readCurrent(bucket: Bucket, request: AwsRequest): Promise<Version | undefined> {
  const object = await bucket.ask(getOf(request));
  const { id, atMs } = bucket.currentOf.get(placeOf(request).key) ?? { id: FIRST, atMs: 0 };
  return object.status === 200 ? { id, atMs, object } : undefined;
}

const withVersion = (reply: Reply, id: string): Reply => ({
  ...reply,
  headers: { ...reply.headers, 'x-amz-version-id': id },
});

const MARKER = { 'x-amz-delete-marker': 'true' };

const deleted: Reply = { status: 204, headers: {}, body: Buffer.alloc(0) };

const noSuchVersion = refuse('s3', {
  status: 404,
  code: 'NoSuchVersion',
  message: 'The specified version does not exist.',
});

const isMarker = refuse('s3', {
  status: 405,
  code: 'MethodNotAllowed',
  message: 'The specified method is not allowed against this resource.',
});

const getOf = (request: AwsRequest): AwsRequest => ({
  ...headOf(request),
  operation: 'GetObject',
  method: 'GET',
});

const deleteOf = (request: AwsRequest): AwsRequest => ({
  ...headOf(request),
  operation: 'DeleteObject',
  method: 'DELETE',
});

/** A put that stores what a get returned. */
function putOf(request: AwsRequest, { headers, body }: Reply): AwsRequest {
  const metadata = Object.entries(headers).flatMap(([name, value]) =>
    /^(content-(type|language|disposition|encoding)|cache-control|x-amz-meta-.*)$/.test(name)
      ? [[name, String(value)]]
      : [],
  );
  return {
    ...headOf(request),
    operation: 'PutObject',
    method: 'PUT',
    headers: Object.fromEntries(metadata),
    body,
  };
}
