import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createS3Store } from '../../lib/store/s3.ts';
import { createS3Client } from '../../lib/store/s3-client.ts';
import { environmentOf, retryAtOnce } from '../base/aws/replies.ts';
import { bytes, type Reply, startServer } from '../platform/scripted-server.ts';

beforeEach(() => void retryAtOnce());
afterEach(() => vi.restoreAllMocks());

const xml = (body: string): Reply => bytes(body, { 'content-type': 'application/xml' });

const version = (key: string, id: string, isLatest: boolean) =>
  `<Version><Key>${key}</Key><VersionId>${id}</VersionId><IsLatest>${isLatest}</IsLatest></Version>`;

const page = (body: string) => xml(`<ListVersionsResult>${body}</ListVersionsResult>`);

/** A server that responds with these pages of versions in turn, and accepts every other request. */
async function s3With(...pages: readonly Reply[]) {
  let listed = 0;
  const server = await startServer((response, request) =>
    request.target.includes('versions')
      ? pages[listed++]?.(response, request)
      : bytes('old', { etag: '"old"' })(response, request),
  );
  const store = createS3Store({ client: createS3Client(environmentOf(server)), bucket: 'b', prefix: 'p' });
  return {
    versions: () => store.oldVersions?.('a/') ?? [],
    targets: () => server.requests.map(({ method, target }) => `${method} ${decodeURIComponent(target)}`),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

test('all pages of versions are read, without current versions and delete markers', async () => {
  const marker =
    '<DeleteMarker><Key>p/a/2</Key><VersionId>m</VersionId><IsLatest>true</IsLatest></DeleteMarker>';
  const next =
    '<IsTruncated>true</IsTruncated><NextKeyMarker>p/a/1</NextKeyMarker><NextVersionIdMarker>v1</NextVersionIdMarker>';
  await using s3 = await s3With(
    page(`${next}${version('p/a/1', 'v2', true)}${version('p/a/1', 'v1', false)}`),
    page(`${marker}${version('p/a/2', 'w1', false)}${version('p/a/', 'folder', false)}`),
  );

  const versions = await Array.fromAsync(s3.versions());
  const body = await versions[1]?.read();
  await versions[1]?.erase();

  expect(versions.map(({ key }) => key)).toEqual(['a/1', 'a/2']);
  expect(body?.toString()).toBe('old');
  expect(s3.targets()).toEqual([
    'GET /b/?prefix=p/a/&versions=',
    'GET /b/?key-marker=p/a/1&prefix=p/a/&version-id-marker=v1&versions=',
    'GET /b/p/a/2?versionId=w1&x-id=GetObject',
    'DELETE /b/p/a/2?versionId=w1&x-id=DeleteObject',
  ]);
});

test('a bucket without versioning has no old versions', async () => {
  await using s3 = await s3With(page(version('p/a/1', 'null', true)));

  expect(await Array.fromAsync(s3.versions())).toEqual([]);
});

test('a caller that may not list versions gets an error that names the bucket', async () => {
  const denied: Reply = (response) => response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
  await using s3 = await s3With(denied);

  await expect(Array.fromAsync(s3.versions())).rejects.toThrow(
    'list old versions of a/* in s3://b/p: denied, AccessDenied',
  );
});

test('a store without support for versions has no old versions', async () => {
  const unknown: Reply = (response) =>
    response.writeHead(501).end('<Error><Code>NotImplemented</Code></Error>');
  await using s3 = await s3With(unknown, unknown, unknown);

  expect(await Array.fromAsync(s3.versions())).toEqual([]);
});
