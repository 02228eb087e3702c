import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { AwsRequest } from '../aws-request.ts';
import { refuse } from '../reply.ts';
import type { Rule } from '../rule.ts';

/** fauxqs stores checksums without comparing them. CRC32C and CRC64NVME are not compared here either. */
export const checksums = {
  service: 's3',
  kind: 'strict',
  says: 'A body that differs from its Content-MD5 or x-amz-checksum header or trailer is refused with BadDigest.',
  page: 'https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity-upload.html',
  create: () => async (request, next) => {
    const different = differentDigest(request);
    return different === undefined
      ? next(request)
      : refuse('s3', {
          status: 400,
          code: 'BadDigest',
          message: `The ${different} you specified did not match the calculated checksum.`,
        });
  },
} as const satisfies Rule;

/** Each digest in base64, by the header that has it. */
const digests: Readonly<Record<string, (body: Buffer) => string>> = {
  'content-md5': hash('md5'),
  'x-amz-checksum-crc32': (body) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(crc32(body));
    return bytes.toString('base64');
  },
  'x-amz-checksum-sha1': hash('sha1'),
  'x-amz-checksum-sha256': hash('sha256'),
};

function hash(algorithm: string) {
  return (body: Buffer): string => createHash(algorithm).update(body).digest('base64');
}

/** The name of a digest that the body does not have. */
function differentDigest(request: AwsRequest): string | undefined {
  // On the completion of an upload, a checksum is that of the whole object.
  if (request.operation === 'CompleteMultipartUpload') return undefined;
  const isChunked = String(request.headers['content-encoding'] ?? '').includes('aws-chunked');
  const { body, trailers } = isChunked ? readChunks(request.body) : { body: request.body, trailers: {} };
  const given: Readonly<Record<string, unknown>> = { ...request.headers, ...trailers };
  return Object.keys(digests).find(
    (name) => given[name] !== undefined && given[name] !== digests[name]?.(body),
  );
}

/** The data and the trailers of a body in chunks: `SIZE[;…]\r\nDATA\r\n`, up to one of size 0. */
function readChunks(sent: Buffer) {
  const data: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = sent.indexOf('\r\n', at);
    const size = Number.parseInt(sent.toString('latin1', at, end), 16);
    if (end < 0 || !(size > 0))
      return { body: Buffer.concat(data), trailers: readTrailers(sent.subarray(Math.max(at, end))) };
    data.push(sent.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}

const readTrailers = (text: Buffer): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text
      .toString('latin1')
      .split('\r\n')
      .map((line) => /^([\w-]+):\s*(.*?)\s*$/.exec(line))
      .flatMap((match) => (match === null ? [] : [[match[1]?.toLowerCase() ?? '', match[2] ?? '']])),
  );
