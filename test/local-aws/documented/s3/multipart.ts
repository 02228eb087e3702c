import type { AwsRequest } from '../aws-request.ts';
import { type Reply, refuse, toXml, unescapeXml } from '../reply.ts';
import type { Rule } from '../rule.ts';
import { xmlOf } from './listing.ts';
import { placeOf } from './s3-operation.ts';

const LARGEST_PAGE = 1_000;
const MOST_PARTS = 10_000;

/** fauxqs does not list uploads: it lists objects instead. */
export const uploadsAreListed = {
  service: 's3',
  kind: 'strict',
  says: 'Uploads that were neither completed nor aborted are listed by key and then by age, at most 1,000 a page.',
  page: 'https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListMultipartUploads.html',
  create: ({ now }) => {
    const uploads = new Map<string, Upload>();
    return async (request, next) => {
      const place = placeOf(request);
      if (request.operation === 'ListMultipartUploads')
        return toPage(
          [...uploads.values()].filter(({ bucket }) => bucket === place.bucket),
          request,
        );
      const reply = await next(request);
      const id = uploadIdOf(reply);
      if (request.operation === 'CreateMultipartUpload' && reply.status === 200)
        uploads.set(id, { ...place, id, atMs: now() });
      const ends = /^(Complete|Abort)MultipartUpload$/.test(request.operation);
      if (ends && reply.status < 300) uploads.delete(request.query.get('uploadId') ?? '');
      return reply;
    };
  },
} as const satisfies Rule;

type Upload = {
  readonly bucket: string;
  readonly key: string;
  readonly id: string;
  readonly atMs: number;
};

const uploadIdOf = ({ body }: Reply): string =>
  unescapeXml(/<UploadId>(.*?)<\/UploadId>/.exec(body.toString('utf8'))?.[1] ?? '');

function toPage(all: readonly Upload[], { query, path }: AwsRequest): Reply {
  const prefix = query.get('prefix') ?? '';
  const most = Math.min(Number(query.get('max-uploads') ?? LARGEST_PAGE), LARGEST_PAGE);
  const sorted = all
    .filter(({ key }) => key.startsWith(prefix))
    .sort((a, b) => compareKeys(a.key, b.key) || a.atMs - b.atMs || compareKeys(a.id, b.id));
  const rest = sorted.slice(afterMarkers(sorted, query, 'upload-id-marker'));
  const page = rest.slice(0, most);
  const last = page.length < rest.length ? page.at(-1) : undefined;
  return toXml(
    [
      '<ListMultipartUploadsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">',
      xmlOf('Bucket', placeOf({ path }).bucket),
      xmlOf('Prefix', prefix),
      xmlOf('MaxUploads', most),
      xmlOf('IsTruncated', last !== undefined),
      xmlOf('NextKeyMarker', last?.key),
      xmlOf('NextUploadIdMarker', last?.id),
      ...page.map(toEntry),
      '</ListMultipartUploadsResult>',
    ].join(''),
  );
}

const toEntry = ({ key, id, atMs }: Upload): string =>
  `<Upload>${xmlOf('Key', key)}${xmlOf('UploadId', id)}${xmlOf('Initiated', new Date(atMs).toISOString())}</Upload>`;

/** The place of the first entry after the markers. Without an id, none of the key's entries are listed. */
export function afterMarkers(
  sorted: readonly Pick<Upload, 'key' | 'id'>[],
  query: URLSearchParams,
  nameOfId: string,
): number {
  const [keyMarker, idMarker] = [query.get('key-marker'), query.get(nameOfId)];
  if (keyMarker === null || keyMarker === '') return 0;
  const marked = sorted.findIndex(({ key, id }) => key === keyMarker && id === idMarker);
  if (marked >= 0) return marked + 1;
  const after = sorted.findIndex(({ key }) => compareKeys(key, keyMarker) > 0);
  return after < 0 ? sorted.length : after;
}

/** By the bytes of UTF-8. */
export const compareKeys = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** fauxqs takes parts with any number. */
export const partNumbers = {
  service: 's3',
  kind: 'strict',
  says: 'The parts of an upload have numbers from 1 to 10,000.',
  page: 'https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html',
  create: () => async (request, next) => {
    const part = Number(request.query.get('partNumber'));
    const isPart = request.operation.startsWith('UploadPart');
    if (!isPart || (Number.isInteger(part) && part >= 1 && part <= MOST_PARTS)) return next(request);
    const message = `Part number must be an integer between 1 and ${MOST_PARTS}, inclusive`;
    return refuse('s3', { status: 400, code: 'InvalidArgument', message });
  },
} as const satisfies Rule;
