import type { AwsRequest } from '../aws-request.ts';
import { type Reply, refuse, toXml, unescapeXml } from '../reply.ts';
import type { Ask, Rule } from '../rule.ts';
import { createTurns } from '../turns.ts';
import { xmlOf } from './listing.ts';
import { placeOf, WRITES } from './s3-operation.ts';
import { createVersions, type Versions } from './versions-kept.ts';
import { toVersionsPage } from './versions-page.ts';

/** fauxqs has no versions: the current ones are in it, the older ones here. */
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
          return toVersionsPage(await (kept ?? createVersions(world)).list(request), request);
      }
      // Copies and moves of versions come one after another.
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
  if (operation === 'DeleteObject') return kept.delete(request);
  if (operation !== 'DeleteObjects') return next(request);
  const { bucket } = placeOf(request);
  const deleted: string[] = [];
  for (const [, entry = ''] of request.body.toString('utf8').matchAll(/<Object>(.*?)<\/Object>/gs)) {
    const key = textOf(entry, 'Key') ?? '';
    const versionId = textOf(entry, 'VersionId');
    const path = `/${encodeURIComponent(bucket)}/${encodeURIComponent(key)}`;
    const query = new URLSearchParams(versionId === undefined ? {} : { versionId });
    await kept.delete({ ...request, operation: 'DeleteObject', method: 'DELETE', path, query });
    deleted.push(`<Deleted>${xmlOf('Key', key)}${xmlOf('VersionId', versionId)}</Deleted>`);
  }
  const isQuiet = /<Quiet>true<\/Quiet>/.test(request.body.toString('utf8'));
  return toXml(`<DeleteResult>${isQuiet ? '' : deleted.join('')}</DeleteResult>`);
}

function textOf(xml: string, name: string): string | undefined {
  const [, text] = new RegExp(`<${name}>(.*?)</${name}>`, 's').exec(xml) ?? [];
  return text === undefined ? undefined : unescapeXml(text);
}
