import {
  DeleteObjectCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createS3Client } from '../../../../lib/store/s3-client.ts';
import { type LocalAws, startAws } from '../../services/start-aws.ts';

const Bucket = 'versioned';
const Key = 'folder/a key';

describe('in a bucket with versioning', () => {
  let aws: LocalAws;
  let client: ReturnType<typeof createS3Client>;

  beforeEach(async () => {
    aws = await startAws({ buckets: [{ name: Bucket, versioned: true }, 'plain'] });
    client = createS3Client(aws.settings);
  });

  afterEach(async () => {
    client.destroy();
    await aws.close();
  });

  const put = async (Body: string, key = Key) =>
    (await client.send(new PutObjectCommand({ Bucket, Key: key, Body, Metadata: { body: Body } }))).VersionId;

  const get = async (VersionId?: string) => {
    const object = { Bucket, Key, ...(VersionId === undefined ? {} : { VersionId }) };
    try {
      return await (await client.send(new GetObjectCommand(object))).Body?.transformToString();
    } catch (error) {
      return error instanceof Error ? error.name : undefined;
    }
  };

  const remove = (VersionId?: string) =>
    client.send(new DeleteObjectCommand({ Bucket, Key, ...(VersionId === undefined ? {} : { VersionId }) }));

  const list = async () => {
    const { Versions = [], DeleteMarkers = [] } = await client.send(
      new ListObjectVersionsCommand({ Bucket }),
    );
    return { versions: Versions.map((each) => each.VersionId), markers: DeleteMarkers.length, Versions };
  };

  test('a put keeps the older version readable', async () => {
    const [first, second] = [await put('first'), await put('second')];

    const { versions, Versions } = await list();

    expect([await get(), await get(first), await get(second)]).toEqual(['second', 'first', 'second']);
    expect(versions).toEqual([second, first]);
    expect(Versions.map(({ IsLatest, Size, Key: key }) => [key, IsLatest, Size])).toEqual([
      [Key, true, 6],
      [Key, false, 5],
    ]);
  });

  test('a delete leaves a marker, and every version readable', async () => {
    const version = await put('body');

    const { DeleteMarker, VersionId } = await remove();

    expect(DeleteMarker).toBe(true);
    expect([await get(), await get(version), await get(VersionId)]).toEqual([
      'NoSuchKey',
      'body',
      'MethodNotAllowed',
    ]);
    expect(await list()).toMatchObject({ versions: [version], markers: 1 });
  });

  test('a delete of the marker brings the object back, with its metadata', async () => {
    await put('body');
    const { VersionId } = await remove();

    await remove(VersionId);

    const { Metadata } = await client.send(new HeadObjectCommand({ Bucket, Key }));
    expect([await get(), Metadata]).toEqual(['body', { body: 'body' }]);
    expect(await list()).toMatchObject({ markers: 0 });
  });

  test('other buckets have no versions', async () => {
    const statusOf = async (name: string) =>
      (await client.send(new GetBucketVersioningCommand({ Bucket: name }))).Status;

    expect([await statusOf(Bucket), await statusOf('plain')]).toEqual(['Enabled', undefined]);
  });
});
