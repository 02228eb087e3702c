import type { FauxqsApp } from './conditional-writes.ts';

/**
 * Makes fauxqs list objects as S3 does, in the order of the keys' UTF-8 bytes. By itself, it sorts by locale but pages
 * by code unit, so a listing of over 1,000 keys loses some where the two orders differ: "B" after "a".
 * Listings with a delimiter, and those of version 1, are left as they are.
 * test/sandbox/aws/services/listing-order.test.ts fails once fauxqs does this itself.
 */
export function addListingOrder(app: FauxqsApp): void {
  // An onRequest hook, so that no asynchronous hook runs between conditional-writes.ts and the write.
  app.addHook('onRequest', async (request, reply) => {
    const url = new URL(request.url, 'http://localhost');
    const query = url.searchParams;
    const isOurs = request.method === 'GET' && query.get('list-type') === '2' && !query.get('delimiter');
    if (!isOurs || query.get('max-keys') === EVERYTHING) return;
    const all = await listAll(app, url);
    if (all === undefined) return;
    return reply.header('content-type', 'application/xml').send(toPage(all, query));
  });
}

// fauxqs cannot parse it as a number, and so does not limit the listing.
const EVERYTHING = 'all';

type Entry = { readonly key: Buffer; readonly xml: string };

async function listAll(app: FauxqsApp, url: URL): Promise<readonly Entry[] | undefined> {
  const query = new URLSearchParams({
    'list-type': '2',
    'max-keys': EVERYTHING,
    prefix: url.searchParams.get('prefix') ?? '',
  });
  const response = await app.inject({ method: 'GET', url: `${url.pathname}?${query}` });
  if (response.statusCode !== 200) return undefined;
  const entries = response.body.matchAll(/<Contents><Key>(.*?)<\/Key>.*?<\/Contents>/gs);
  return [...entries]
    .map(([xml, key = '']) => ({ key: Buffer.from(unescapeXml(key)), xml }))
    .sort((a, b) => Buffer.compare(a.key, b.key));
}

function toPage(all: readonly Entry[], query: URLSearchParams): string {
  const token = query.get('continuation-token');
  const after = token === null ? Buffer.from(query.get('start-after') ?? '') : Buffer.from(token, 'base64');
  const rest = all.filter(({ key }) => Buffer.compare(key, after) > 0);
  const page = rest.slice(0, Math.min(Number(query.get('max-keys') ?? LARGEST_PAGE), LARGEST_PAGE));
  const last = page.length < rest.length ? page.at(-1) : undefined;
  const next = last ? `<NextContinuationToken>${last.key.toString('base64')}</NextContinuationToken>` : '';
  return `<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><KeyCount>${page.length}</KeyCount><IsTruncated>${last !== undefined}</IsTruncated>${next}${page.map(({ xml }) => xml).join('')}</ListBucketResult>`;
}

const LARGEST_PAGE = 1_000;

const unescapeXml = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&');
