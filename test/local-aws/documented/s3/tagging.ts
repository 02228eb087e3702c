import type { AwsRequest } from '../aws-request.ts';
import { escapeXml, refuse, toXml } from '../reply.ts';
import type { Rule } from '../rule.ts';
import { headOf } from './conditional-writes.ts';
import { placeOf, WRITES } from './s3-operation.ts';

/** Supports tags, of current versions only: by itself, fauxqs replaces the object by the body of a PutObjectTagging. */
export const tagging = {
  service: 's3',
  kind: 'strict',
  says: 'Tags are set and read beside the object, whose bytes they do not change.',
  page: 'https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-tagging.html',
  create: ({ ask }) => {
    const tagsOf = new Map<string, string>();
    return async (request, next) => {
      const { bucket, key } = placeOf(request);
      const name = `${bucket}/${key}`;
      if (!request.operation.endsWith('ObjectTagging')) {
        const reply = await next(request);
        if (changes(request) && reply.status < 300) tagsOf.set(name, tagsInHeader(request));
        return reply;
      }
      if ((await ask(headOf(request))).status !== 200)
        return refuse('s3', { status: 404, code: 'NoSuchKey', message: 'The specified key does not exist.' });
      if (request.operation === 'GetObjectTagging')
        return toXml(`<Tagging><TagSet>${tagsOf.get(name) ?? ''}</TagSet></Tagging>`);
      tagsOf.set(name, TAG_SET.exec(request.body.toString('utf8'))?.[1] ?? '');
      return { status: 200, headers: {}, body: Buffer.alloc(0) };
    };
  },
} as const satisfies Rule;

const TAG_SET = /<TagSet>(.*)<\/TagSet>/s;

const changes = ({ operation }: AwsRequest): boolean => WRITES.has(operation) || operation === 'DeleteObject';

/** The tags in the header of a put, in query format. */
const tagsInHeader = ({ headers }: AwsRequest): string =>
  [...new URLSearchParams(String(headers['x-amz-tagging'] ?? ''))]
    .map(([name, value]) => `<Tag><Key>${escapeXml(name)}</Key><Value>${escapeXml(value)}</Value></Tag>`)
    .join('');
