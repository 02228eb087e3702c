import { type Reply, refuse, unescapeXml } from '../reply.ts';
import type { Rule } from '../rule.ts';
import { pageByKey, xmlOf } from './listing.ts';
import { placeOf } from './s3-operation.ts';

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
        return pageByKey(
          // Those of a key from the oldest: as they were inserted.
          [...uploads.values()].filter(({ bucket }) => bucket === place.bucket),
          {
            name: 'ListMultipartUploadsResult',
            request,
            most: 'max-uploads',
            id: 'UploadId',
            toXml: toEntry,
          },
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

const toEntry = ({ key, id, atMs }: Upload): string =>
  `<Upload>${xmlOf('Key', key)}${xmlOf('UploadId', id)}${xmlOf('Initiated', new Date(atMs).toISOString())}</Upload>`;

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
