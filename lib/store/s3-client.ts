import { S3Client } from '@aws-sdk/client-s3';
import { type AwsEnvironment, awsClientConfig, lean } from '../base/aws/index.ts';

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
  const client = lean(new S3Client({ ...config, ...('endpoint' in config ? { forcePathStyle: true } : {}) }));
  const asked = encryptionIn(environment);
  if (asked !== undefined)
    client.middlewareStack.add(
      (next, { commandName = '' }) =>
        (args) =>
          next(WRITES.has(commandName) ? { ...args, input: { ...args.input, ...asked } } : args),
      { step: 'initialize', name: 'encryption' },
    );
  return client;
}

/** The requests that create an object. Parts of an upload have the encryption of the upload. */
const WRITES = new Set(['PutObjectCommand', 'CopyObjectCommand', 'CreateMultipartUploadCommand']);

/** The encryption that `SYNC_ENCRYPTION` names, in the parameters of S3: `AES256`, `aws:kms`, or `aws:kms:KEY`. */
function encryptionIn({ SYNC_ENCRYPTION: setting }: AwsEnvironment) {
  const [, algorithm, key] = /^(AES256|aws:kms)(?::(.+))?$/.exec(setting ?? '') ?? [];
  if (algorithm === undefined) return undefined;
  const ServerSideEncryption = algorithm as 'AES256' | 'aws:kms';
  return key === undefined ? { ServerSideEncryption } : { ServerSideEncryption, SSEKMSKeyId: key };
}

const CONNECTION_TIMEOUT_MS = 10_000;
// The time for a part of 8 MiB at 0.6 Mbit/s.
const REQUEST_TIMEOUT_MS = 120_000;
