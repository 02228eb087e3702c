import type { AwsRequest } from '../aws-request.ts';
import { escapeXml, type Reply, toXml, unescapeXml } from '../reply.ts';
import type { Ask, Rule } from '../rule.ts';
import { placeOf } from './s3-operation.ts';

const MAX_PAGE = 1_000;

/**
 * Lists keys in the order of their UTF-8 bytes. By itself, fauxqs sorts by locale but pages by code unit, so lists of
 * over 1,000 keys lose some where the two orders differ, such as for "B" and "a".
 * test/local-aws/documented/s3/strict.test.ts fails once fauxqs does this itself.
 */
export const listing = {
  service: 's3',
  kind: 'strict',
  says: 'Objects are listed in the order of the UTF-8 bytes of their keys, at most 1,000 keys and common prefixes a page.',
  page: 'https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html',
  create:
    ({ ask }) =>
    async (request, next) => {
      if (request.operation !== 'ListObjects') return next(request);
      const all = await listAll(request, ask, request.query.get('prefix') ?? '');
      return all === undefined ? next(request) : toPage(all, request);
    },
} as const satisfies Rule;

type Listed = { readonly key: string; readonly bytes: Buffer; readonly xml: string };

/** All objects under a prefix, in order; undefined if the stand-in rejects the list request. */
export async function listAll(
  request: AwsRequest,
  ask: Ask,
  prefix: string,
): Promise<readonly Listed[] | undefined> {
  const reply = await ask({
    ...request,
    operation: 'ListObjects',
    method: 'GET',
    path: `/${encodeURIComponent(placeOf(request).bucket)}`,
    // fauxqs cannot parse `all` as a number, and so does not limit the list.
    query: new URLSearchParams({ 'list-type': '2', 'max-keys': 'all', prefix }),
    body: Buffer.alloc(0),
  });
  if (reply.status !== 200) return undefined;
  const entries = reply.body.toString('utf8').matchAll(/<Contents><Key>(.*?)<\/Key>.*?<\/Contents>/gs);
  return [...entries]
    .map(([xml, escaped = '']) => ({ key: unescapeXml(escaped), xml }))
    .map(({ key, xml }) => ({ key, bytes: Buffer.from(key), xml }))
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes));
}

function toPage(all: readonly Listed[], { path, query }: AwsRequest): Reply {
  const most = Math.min(Number(query.get('max-keys') ?? MAX_PAGE), MAX_PAGE);
  const rest = grouped(all, query).filter(({ bytes }) => Buffer.compare(bytes, startOf(query)) > 0);
  const page = rest.slice(0, most);
  const last = page.length < rest.length ? page.at(-1) : undefined;
  return xmlPage('ListBucketResult', [
    xmlOf('Name', placeOf({ path }).bucket),
    xmlOf('Prefix', query.get('prefix') ?? ''),
    xmlOf('Delimiter', query.get('delimiter')),
    xmlOf('MaxKeys', most),
    xmlOf('KeyCount', page.length),
    xmlOf('IsTruncated', last !== undefined),
    xmlOf('NextContinuationToken', last?.bytes.toString('base64')),
    ...page.map(({ xml }) => xml),
  ]);
}

const xmlPage = (name: string, elements: readonly string[]): Reply =>
  toXml(`<${name} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${elements.join('')}</${name}>`);

type Entry = { readonly key: string; readonly id: string };

/** A page of versions, ordered by key, after the markers of the previous page. Versions of the same key keep their order. */
export function pageOfVersions<Each extends Entry>(
  all: readonly Each[],
  { query, path }: AwsRequest,
  entryOf: (entry: Each) => string,
): Reply {
  const most = Math.min(Number(query.get('max-keys') ?? MAX_PAGE), MAX_PAGE);
  const sorted = all
    .filter(({ key }) => key.startsWith(query.get('prefix') ?? ''))
    .toSorted((a, b) => compareKeys(a.key, b.key));
  const marker = query.get('version-id-marker');
  const rest = sorted.slice(afterMarkers(sorted, query.get('key-marker') ?? '', marker));
  const page = rest.slice(0, most);
  const last = page.length < rest.length ? page.at(-1) : undefined;
  return xmlPage('ListVersionsResult', [
    xmlOf('Bucket', placeOf({ path }).bucket),
    xmlOf('IsTruncated', last !== undefined),
    xmlOf('NextKeyMarker', last?.key),
    xmlOf('NextVersionIdMarker', last?.id),
    ...page.map(entryOf),
  ]);
}

/** The index of the first entry after the markers. Without an id marker, all entries of the key marker are skipped. */
function afterMarkers(sorted: readonly Entry[], keyMarker: string, idMarker: string | null): number {
  if (keyMarker === '') return 0;
  const marked = sorted.findIndex(({ key, id }) => key === keyMarker && id === idMarker);
  if (marked >= 0) return marked + 1;
  const after = sorted.findIndex(({ key }) => compareKeys(key, keyMarker) > 0);
  return after < 0 ? sorted.length : after;
}

/** Compares by UTF-8 bytes. */
const compareKeys = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** An XML element, or an empty string if the value is absent. */
export const xmlOf = (name: string, value: string | number | boolean | null | undefined): string =>
  value === null || value === undefined ? '' : `<${name}>${escapeXml(String(value))}</${name}>`;

/** The key after which the page starts. */
function startOf(query: URLSearchParams): Buffer {
  const token = query.get('continuation-token');
  if (token !== null) return Buffer.from(token, 'base64');
  return Buffer.from(query.get('start-after') ?? '');
}

type Grouped = Pick<Listed, 'bytes' | 'xml'>;

/** Groups keys that contain the delimiter after the prefix: they are replaced by their common prefix up to the delimiter. */
function grouped(all: readonly Listed[], query: URLSearchParams): readonly Grouped[] {
  const delimiter = query.get('delimiter') ?? '';
  if (delimiter === '') return all;
  const from = (query.get('prefix') ?? '').length;
  const groups = new Map<string, Grouped>();
  for (const { key, bytes, xml } of all) {
    const at = key.indexOf(delimiter, from);
    const common = key.slice(0, at + delimiter.length);
    const group = `<CommonPrefixes>${xmlOf('Prefix', common)}</CommonPrefixes>`;
    if (at < 0) groups.set(key, { bytes, xml });
    else groups.set(common, { bytes: Buffer.from(common), xml: group });
  }
  return [...groups.values()];
}
