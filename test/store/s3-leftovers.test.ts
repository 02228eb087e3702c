import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createS3Store } from '../../lib/store/s3.ts';
import { createS3Client } from '../../lib/store/s3-client.ts';
import { abortLeftovers } from '../../lib/store/s3-leftovers.ts';
import { environmentOf, retryAtOnce, s3Error } from '../base/aws/replies.ts';
import { bytes, type Reply, type SeenRequest, silence, startServer } from '../platform/scripted-server.ts';

beforeEach(() => void retryAtOnce());
afterEach(() => vi.restoreAllMocks());

// S3's clock. Ours is not asked: this day has long passed.
const NOW = 'Sun, 22 Nov 2020 12:00:00 GMT';
const OLD = '2020-11-21T11:59:59.000Z';
const YOUNG = '2020-11-21T12:00:01.000Z';

type Left = readonly [key: string, id: string, initiated: string];

const xml = (body: string, headers: Readonly<Record<string, string>> = {}): Reply =>
  bytes(body, { 'content-type': 'application/xml', ...headers });

const pageOf = (left: readonly Left[], next = '') =>
  `<ListMultipartUploadsResult>${next}${left
    .map(
      ([key, id, at]) =>
        `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${at}</Initiated></Upload>`,
    )
    .join('')}</ListMultipartUploadsResult>`;

const next = (key: string, id: string) =>
  `<IsTruncated>true</IsTruncated><NextKeyMarker>${key}</NextKeyMarker><NextUploadIdMarker>${id}</NextUploadIdMarker>`;

const isList = ({ method, target }: SeenRequest) => method === 'GET' && target.includes('uploads');
const isAbort = ({ method }: SeenRequest) => method === 'DELETE';

const puts: Reply = (response, request) => {
  if (request.method === 'POST' && request.target.includes('uploads='))
    return xml('<InitiateMultipartUploadResult><UploadId>U</UploadId></InitiateMultipartUploadResult>')(
      response,
      request,
    );
  if (request.method === 'POST')
    return xml('<CompleteMultipartUploadResult><ETag>"whole"</ETag></CompleteMultipartUploadResult>')(
      response,
      request,
    );
  return response.writeHead(isAbort(request) ? 204 : 200, { etag: '"part"' }).end();
};

/** S3 that takes every put, and gives the replies to the lists of uploads in turn, the last for ever. */
async function s3Over({ lists, abort = puts }: { readonly lists: readonly Reply[]; readonly abort?: Reply }) {
  let listed = 0;
  const server = await startServer((response, request) => {
    if (isAbort(request)) return abort(response, request);
    if (!isList(request)) return puts(response, request);
    return (lists[listed++] ?? lists.at(-1))?.(response, request);
  });
  const client = createS3Client(environmentOf(server));
  const seen = (which: (request: SeenRequest) => boolean) =>
    server.requests.filter(which).map(({ target }) => decodeURIComponent(target));
  return {
    client,
    store: (prefix?: string) =>
      createS3Store({ client, bucket: 'bucket', ...(prefix === undefined ? {} : { prefix }) }),
    lists: () => seen(isList),
    aborted: () =>
      seen(isAbort).map((target) => /^\/bucket\/(.*)\?.*uploadId=([^&]*)/.exec(target)?.slice(1).join(' ')),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const large = Buffer.alloc(9 * 1024 * 1024, 'x');
const STORED = { kind: 'stored', etag: '"whole"' };

describe('of the uploads under the prefix', () => {
  const abortIn = (client: Awaited<ReturnType<typeof s3Over>>['client'], folder = 'sync/') =>
    abortLeftovers({ client, bucket: 'bucket', folder });

  test('those of more than 24 hours by the clock of S3 are aborted, on every page', async () => {
    const first = pageOf(
      [
        ['sync/work/a', '1', OLD],
        ['sync/work/a', '2', YOUNG],
      ],
      next('sync/work/a', '2'),
    );
    const second = pageOf([
      ['sync/work/a', '3', OLD],
      ['sync/cards/b', '4', OLD],
    ]);
    await using s3 = await s3Over({ lists: [xml(first, { date: NOW }), xml(second, { date: NOW })] });

    await abortIn(s3.client);

    expect(s3.aborted()).toEqual(['sync/work/a 1', 'sync/work/a 3', 'sync/cards/b 4']);
    expect(s3.lists()).toEqual([
      expect.stringMatching(/[&?]prefix=sync\//),
      expect.stringMatching(/(?=.*[&?]key-marker=sync\/work\/a)(?=.*upload-id-marker=2)/),
    ]);
  });

  test('none of another prefix is aborted, even if it is listed', async () => {
    const lists = [
      xml(
        pageOf([
          ['synchronous/a', '1', OLD],
          ['sync/a', '2', OLD],
        ]),
        { date: NOW },
      ),
    ];
    await using s3 = await s3Over({ lists });

    await abortIn(s3.client);

    expect(s3.aborted()).toEqual(['sync/a 2']);
  });

  test('none is aborted if S3 does not say what time it is', async () => {
    const undated: Reply = (response, request) => {
      response.sendDate = false;
      xml(pageOf([['sync/a', '1', OLD]]))(response, request);
    };
    await using s3 = await s3Over({ lists: [undated] });

    await abortIn(s3.client);

    expect([s3.lists().length, s3.aborted()]).toEqual([1, []]);
  });

  test.for([
    ['one that another process aborted is skipped', s3Error('NoSuchUpload', 404), ['sync/a 1', 'sync/b 2']],
    ['a denied abort is the last', s3Error('AccessDenied', 403), ['sync/a 1']],
  ] as const)('%s', async ([, abort, aborted]) => {
    const lists = [
      xml(
        pageOf([
          ['sync/a', '1', OLD],
          ['sync/b', '2', OLD],
        ]),
        { date: NOW },
      ),
    ];
    await using s3 = await s3Over({ lists, abort });

    await abortIn(s3.client);

    expect(s3.aborted()).toEqual(aborted);
  });
});

describe('a put', () => {
  const leftover = (key: string) => xml(pageOf([[key, '1', OLD]]), { date: NOW });

  test('in parts tidies the prefix of its store once', async () => {
    await using s3 = await s3Over({ lists: [leftover('sync/other/a')] });
    const store = s3.store('sync');

    expect(await store.put('work/a', large)).toEqual(STORED);
    expect(await store.put('cards/b', large)).toEqual(STORED);

    await vi.waitFor(() => expect(s3.aborted()).toEqual(['sync/other/a 1']));
    expect(s3.lists()).toHaveLength(1);
  });

  test('to a whole bucket tidies the folder that it writes to, and no other', async () => {
    await using s3 = await s3Over({ lists: [leftover('work/old')] });

    await s3.store().put('work/a/b', large);

    await vi.waitFor(() => expect(s3.aborted()).toEqual(['work/old 1']));
    expect(s3.lists()).toEqual([expect.stringMatching(/prefix=work\/(&|$)/)]);
  });

  test('in one piece lists nothing', async () => {
    await using s3 = await s3Over({ lists: [leftover('sync/a')] });

    await s3.store('sync').put('work/a', Buffer.from('x'));

    expect(s3.lists()).toEqual([]);
  });

  test.for([
    ['is denied', s3Error('AccessDenied', 403)],
    ['fails', s3Error('InternalError', 500)],
    ['gets no response', silence],
    ['is answered by something else', bytes('<html>')],
  ] as const)('is stored if the list %s', async ([, list]) => {
    await using s3 = await s3Over({ lists: [list] });

    expect(await s3.store('sync').put('work/a', large)).toEqual(STORED);

    await vi.waitFor(() => expect(s3.lists().length).toBeGreaterThan(0));
    expect(s3.aborted()).toEqual([]);
  });
});
