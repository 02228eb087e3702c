import type { AwsRequest } from '../aws-request.ts';
import { type Reply, refuse, toXml } from '../reply.ts';
import type { Ask, Rule } from '../rule.ts';
import { createTurns } from '../turns.ts';
import { pageOfVersions, xmlOf } from './listing.ts';
import { placeOf, WRITES } from './s3-operation.ts';
import { createVersions, type ListedVersion, type Versions } from './versions-kept.ts';

/** Supports versions. fauxqs stores the current ones, the rule the older ones. */
export const versions = {
  service: 's3',
  kind: 'strict',
  says: 'In a bucket with versioning, a put keeps the older version, a delete adds a marker, and only a delete of a version removes it.',
  page: 'https://docs.aws.amazon.com/AmazonS3/latest/userguide/versioning-workflows.html',
  create: (world) => {
    const buckets = new Map<string, Versions>();
    const inTurn = createTurns();
    return async (request, next) => {
      const { bucket } = placeOf(request);
      const kept = buckets.get(bucket);
      switch (request.operation) {
        case 'PutBucketVersioning':
          return enable(request, () => void buckets.set(bucket, kept ?? createVersions(world)));
        case 'GetBucketVersioning':
          return toXml(
            `<VersioningConfiguration>${xmlOf('Status', kept && 'Enabled')}</VersioningConfiguration>`,
          );
        case 'ListObjectVersions':
          return pageOfVersions(await (kept ?? createVersions(world)).list(request), request, toEntry);
      }
      // Changes of versions in a bucket run one after another.
      return kept === undefined ? next(request) : inTurn(bucket, () => onVersions(request, { kept, next }));
    };
  },
} as const satisfies Rule;

function enable({ body }: AwsRequest, add: () => void): Reply {
  const [, status] = /<Status>(\w+)<\/Status>/.exec(body.toString('utf8')) ?? [];
  if (status !== 'Enabled')
    return refuse('s3', {
      status: 501,
      code: 'NotImplemented',
      message: 'Versioning cannot be suspended here.',
    });
  add();
  return { status: 200, headers: {}, body: Buffer.alloc(0) };
}

type Place = { readonly kept: Versions; readonly next: Ask };

async function onVersions(request: AwsRequest, { kept, next }: Place): Promise<Reply> {
  const { operation } = request;
  if (WRITES.has(operation)) return kept.put(request, next);
  if (operation === 'GetObject' || operation === 'HeadObject') return kept.get(request, next);
  return operation === 'DeleteObject' ? kept.delete(request) : next(request);
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
