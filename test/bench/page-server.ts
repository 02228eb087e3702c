import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type FilePageRequest, filePage } from './file-pages.ts';
import { createRecordTemplates } from './page-records.ts';

/*
 * A platform that serves only the searches of calculations and files, `node page-server.ts RECORDS`, as fast as bytes
 * can be copied, so that only the client is measured. Prints its URL as one line. `POST /version` with
 * `{"version": 2, "changedEvery": 100}` changes every hundredth record.
 */

const total = Number(process.argv[2]);

let served = { version: 1, changedEvery: 0 };

/** 11 MB of records: more than the window of any compressor here, so that no record is found in it again. */
const templates = createRecordTemplates(10_000);
const count = templates.starts.length - 1;

type Search = {
  readonly sort: { readonly field: string; readonly ascending: boolean };
  readonly fieldSort: readonly { readonly order: string }[];
  readonly offset?: number;
  readonly limit: number;
};

function pageOf({ sort, offset = 0, limit }: Search): Buffer {
  const rows = Math.max(0, Math.min(limit, 5000, total - offset));
  const head = `{"totalHits":${total},"results":[`;
  const tail = `],"hasMore":${offset + rows < total},"degraded":false}`;
  const spans = sort.ascending
    ? spansUp(offset, rows)
    : Array.from({ length: rows }, (_, row) => ({ first: total - 1 - offset - row, rows: 1 }));
  // The tail replaces the last record's comma.
  const size = head.length + spans.reduce((sum, span) => sum + sizeOf(span), rows > 0 ? -1 : 0) + tail.length;
  const page = Buffer.allocUnsafe(size + 1);
  let at = page.write(head, 'latin1');
  for (const span of spans) at = copySpan(span, page, at);
  page.write(tail, size - tail.length, 'latin1');
  return page.subarray(0, size);
}

/** Copies records whose templates are adjacent. */
type Span = { readonly first: number; readonly rows: number };

function spansUp(first: number, rows: number): Span[] {
  const spans: Span[] = [];
  for (let row = 0; row < rows; ) {
    const span = { first: first + row, rows: Math.min(rows - row, count - ((first + row) % count)) };
    spans.push(span);
    row += span.rows;
  }
  return spans;
}

const startOf = (template: number) => templates.starts[template] ?? 0;
const sizeOf = ({ first, rows }: Span) => startOf((first % count) + rows) - startOf(first % count);

function copySpan({ first, rows }: Span, page: Buffer, at: number): number {
  const template = first % count;
  const from = startOf(template);
  templates.bytes.copy(page, at, from, startOf(template + rows));
  for (let row = 0; row < rows; row += 1) {
    const place = at + startOf(template + row) - from + templates.idOffset;
    page.write(String(1_000_000_000 + 7 * (first + row)), place, 'latin1');
    const { version, changedEvery } = served;
    if (changedEvery === 0 || (first + row) % changedEvery !== 0) continue;
    page.write(
      String(version % 10),
      place - templates.idOffset + (templates.changeOffsets[template + row] ?? 0),
      'latin1',
    );
  }
  return at + sizeOf({ first, rows });
}

async function bodyOf<T>(request: IncomingMessage): Promise<T> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as T;
}

function fileRequestOf(url: string): Omit<FilePageRequest, 'isNewest'> | undefined {
  const [path = '', query] = url.split('?');
  if (!/^\/api\/files\/v1\/filesets\/[^/]+\/files\/search$/.test(path)) return undefined;
  const search = new URLSearchParams(query);
  return {
    ...served,
    total,
    offset: Number(search.get('next') ?? 0),
    limit: Number(search.get('limit') ?? 1000),
  };
}

const server = createServer(async (request, response) => {
  const files = fileRequestOf(request.url ?? '');
  if (request.url === '/version') {
    served = await bodyOf<typeof served>(request);
    response.end();
    return;
  }
  const search = await bodyOf<Search>(request);
  if (
    files === undefined &&
    (request.url !== '/api/query/v1/functions/search' || search.sort.field !== 'id')
  ) {
    response.writeHead(404).end();
    return;
  }
  const page =
    files === undefined
      ? pageOf(search)
      : filePage({ ...files, isNewest: search.fieldSort[0]?.order === 'DESC' });
  response.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': page.byteLength,
  });
  response.end(page);
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
