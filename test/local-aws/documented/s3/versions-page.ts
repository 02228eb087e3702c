import type { AwsRequest } from '../aws-request.ts';
import { type Reply, toXml } from '../reply.ts';
import { xmlOf } from './listing.ts';
import { afterMarkers, compareKeys } from './multipart.ts';
import { placeOf } from './s3-operation.ts';
import type { ListedVersion } from './versions-kept.ts';

const LARGEST_PAGE = 1_000;

/** A page of versions: by key, and from the newest to the oldest of each key. */
export function toVersionsPage(all: readonly ListedVersion[], { path, query }: AwsRequest): Reply {
  const prefix = query.get('prefix') ?? '';
  const most = Math.min(Number(query.get('max-keys') ?? LARGEST_PAGE), LARGEST_PAGE);
  // Sorting keeps the order of a key's versions.
  const sorted = all
    .filter(({ key }) => key.startsWith(prefix))
    .toSorted((a, b) => compareKeys(a.key, b.key));
  const rest = sorted.slice(afterMarkers(sorted, query, 'version-id-marker'));
  const page = rest.slice(0, most);
  const last = page.length < rest.length ? page.at(-1) : undefined;
  return toXml(
    [
      '<ListVersionsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">',
      xmlOf('Name', placeOf({ path }).bucket),
      xmlOf('Prefix', prefix),
      xmlOf('MaxKeys', most),
      xmlOf('IsTruncated', last !== undefined),
      xmlOf('NextKeyMarker', last?.key),
      xmlOf('NextVersionIdMarker', last?.id),
      ...page.map(toEntry),
      '</ListVersionsResult>',
    ].join(''),
  );
}

function toEntry({ key, id, atMs, isLatest, object }: ListedVersion): string {
  const named = [
    xmlOf('Key', key),
    xmlOf('VersionId', id),
    xmlOf('IsLatest', isLatest),
    xmlOf('LastModified', new Date(atMs).toISOString()),
  ].join('');
  if (object === undefined) return `<DeleteMarker>${named}</DeleteMarker>`;
  const etag = xmlOf('ETag', String(object.headers['etag']));
  return `<Version>${named}${etag}${xmlOf('Size', object.body.length)}<StorageClass>STANDARD</StorageClass></Version>`;
}
