import { S3Client } from '@aws-sdk/client-s3';
import { type AwsEnvironment, awsClientConfig, withoutUnusedMiddleware } from '../base/aws/index.ts';

/**
 * Creates a client configured by the SDK's own variables (`awsClientConfig`). If an endpoint is set, buckets are
 * addressed by path. With `SYNC_ENCRYPTION`, it requests that encryption for every object that it writes or copies.
 */
export function createS3Client(environment: AwsEnvironment): S3Client {
  const config = awsClientConfig(environment, {
    service: 'S3',
    connectionTimeoutMs: CONNECTION_TIMEOUT_MS,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
  });
  const client = withoutUnusedMiddleware(
    new S3Client({ ...config, ...('endpoint' in config ? { forcePathStyle: true } : {}) }),
  );
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      refusePage(result.response);
      return result;
    },
    { step: 'deserialize', priority: 'low', name: 'pages' },
  );
  const encryption = encryptionIn(environment);
  if (encryption !== undefined)
    client.middlewareStack.add(
      (next, { commandName = '' }) =>
        (args) =>
          next(WRITES.has(commandName) ? { ...args, input: { ...args.input, ...encryption } } : args),
      { step: 'initialize', name: 'encryption' },
    );
  return client;
}

/**
 * Throws if a page responds instead of S3, such as the login page of a network. The SDK reads HTML as XML without any
 * element, so a copy, a deletion or an empty list would seem to have succeeded. A stored object that is a page has an
 * ETag, so it is accepted. Some servers that speak S3 give an empty response the content type of HTML.
 */
function refusePage(response: unknown): void {
  const { statusCode, headers, body } = response as {
    readonly statusCode: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: { destroy?(): void };
  };
  const isEmpty = statusCode === 204 || headers['content-length'] === '0';
  const isPage = /html/i.test(headers['content-type'] ?? '') && headers['etag'] === undefined;
  if (statusCode >= 300 || isEmpty || !isPage) return;
  body?.destroy?.();
  throw notFromS3('a page responded instead of S3', statusCode);
}

/** The error for a response that S3 cannot have sent, in the form of the SDK's error for one that it cannot parse. */
export const notFromS3 = (message: string, httpStatusCode = 200): SyntaxError =>
  Object.assign(new SyntaxError(message), { $metadata: { httpStatusCode } });

/** The commands that create an object. Parts of an upload have the encryption of the upload. */
const WRITES = new Set(['PutObjectCommand', 'CopyObjectCommand', 'CreateMultipartUploadCommand']);

/** The S3 parameters for the encryption in `SYNC_ENCRYPTION`: `AES256`, `aws:kms`, or `aws:kms:KEY`. */
function encryptionIn({ SYNC_ENCRYPTION: setting }: AwsEnvironment) {
  const [, algorithm, key] = /^(AES256|aws:kms)(?::(.+))?$/.exec(setting ?? '') ?? [];
  if (algorithm === undefined) return undefined;
  const ServerSideEncryption = algorithm as 'AES256' | 'aws:kms';
  return key === undefined ? { ServerSideEncryption } : { ServerSideEncryption, SSEKMSKeyId: key };
}

const CONNECTION_TIMEOUT_MS = 10_000;
// The time for a part of 8 MiB at 0.6 Mbit/s.
const REQUEST_TIMEOUT_MS = 120_000;
