import { lstat, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { S3Client } from '@aws-sdk/client-s3';
import type { AwsEnvironment } from '../base/aws/index.ts';
import { hideUser } from '../base/index.ts';
import { errorCode, StoreError } from './error.ts';
import { isKey } from './key.ts';
import type { Store } from './store.ts';

/**
 * Opens the store at a location. A directory need not exist yet. Loads only the adapter that is needed, for S3 or for a
 * directory. Throws a `bad-location` StoreError.
 */
export async function openStore(
  location: string,
  /**
   * `s3`: a function that creates the client, or the environment for `createS3Client`. Default: the SDK's own
   * configuration.
   */
  options: {
    readonly s3?: (() => S3Client | Promise<S3Client>) | AwsEnvironment;
  } = {},
): Promise<Store> {
  const { s3 = {} } = options;
  const parsed = parseLocation(location);
  if (parsed.kind === 'directory') {
    const stats = await statsOf(location);
    if (stats !== undefined && !stats.isDirectory()) throw badLocation('a directory', location);
    const { createDirectoryStore } = await import('./directory.ts');
    return createDirectoryStore(location);
  }
  const { createS3Store } = await import('./s3.ts');
  const client = typeof s3 === 'function' ? await s3() : (await import('./s3-client.ts')).createS3Client(s3);
  return createS3Store({ client, bucket: parsed.bucket, prefix: parsed.prefix });
}

/** How the bucket of a store changes stored objects by itself (see `examineBucket`); undefined for a directory. */
export async function examineStore(location: string, environment: AwsEnvironment, signal?: AbortSignal) {
  const parsed = parseLocation(location);
  if (parsed.kind === 'directory') return undefined;
  const { examineBucket } = await import('./s3-bucket.ts');
  const { createS3Client } = await import('./s3-client.ts');
  return examineBucket(createS3Client(environment), parsed, signal);
}

const OPENING = 'open the store (SYNC_STORE)';

/**
 * What exists at a location; undefined if nothing does. Throws a StoreError if a directory cannot exist or be seen
 * there.
 */
async function statsOf(location: string) {
  // Resolved as the store does it when it writes.
  const path = resolve(location);
  try {
    return await stat(path);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOTDIR') throw badLocation('a directory below directories', location);
    if (code === 'ENAMETOOLONG' || code === 'ELOOP')
      throw badLocation('a directory whose path the operating system can read', `${location.slice(0, 100)}…`);
    if (code !== 'ENOENT') {
      const kind = code === 'EACCES' || code === 'EPERM' ? 'denied' : 'other';
      throw new StoreError(OPENING, { kind, code: String(code) }, { cause: error });
    }
    const isLink = (await lstat(path).catch(() => undefined)) !== undefined;
    if (isLink) throw badLocation('a directory, or a link to one that exists', location);
    return undefined;
  }
}

/** Throws a `bad-location` StoreError if the directory is missing. A missing bucket is reported at its first use. */
export async function checkStoreExists(location: string): Promise<void> {
  if (parseLocation(location).kind === 's3' || (await statsOf(location)) !== undefined) return;
  throw badLocation('a directory that exists', resolve(location));
}

/** Parses a location. Throws a `bad-location` StoreError. */
function parseLocation(
  location: string,
):
  | { readonly kind: 'directory' }
  | { readonly kind: 's3'; readonly bucket: string; readonly prefix: string } {
  if (!/^(?:[a-z][a-z0-9+.-]+:|s3\/)/i.test(location)) {
    if (location.trim() === '' || location.includes('\0'))
      throw badLocation('s3://bucket/prefix or a directory', location);
    return { kind: 'directory' };
  }
  const [, bucket, prefix = ''] =
    /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*?)\/?)?$/.exec(location) ?? [];
  if (bucket === undefined)
    throw badLocation(
      's3://bucket/prefix or a directory (./name if it looks like an address), the bucket of 3 to 63 lower-case letters, digits, . and -',
      location,
    );
  if (prefix !== '' && !isKey(prefix))
    throw badLocation('s3://bucket/prefix with a prefix that is a valid key', location);
  return { kind: 's3', bucket, prefix };
}

// By mistake, the location may be a URL with a password, so its credentials are hidden.
const badLocation = (expected: string, got: string): StoreError =>
  new StoreError(OPENING, {
    kind: 'bad-location',
    expected,
    got: hideUser(got),
  });

/** Signs a link to an object of a store in S3 (see `signLink`); undefined for a directory. */
export async function linkToObject(
  location: string,
  key: string,
  options: { readonly seconds: number; readonly environment: AwsEnvironment },
) {
  const parsed = parseLocation(location);
  if (parsed.kind === 'directory') return undefined;
  const { signLink } = await import('./s3-link.ts');
  return signLink({
    bucket: parsed.bucket,
    key: parsed.prefix === '' ? key : `${parsed.prefix}/${key}`,
    ...options,
  });
}

/** The key in the store at `location` of an object in an event of S3. Throws if the object is outside the store. */
export function keyInStore(location: string, bucket: string, objectKey: string): string {
  const root = `${location.replace(/\/$/, '')}/`;
  const address = `s3://${bucket}/${objectKey}`;
  if (address.startsWith(root)) return address.slice(root.length);
  throw new StoreError('find an object of the store', {
    kind: 'bad-location',
    expected: `an object within ${root}`,
    got: address,
  });
}
