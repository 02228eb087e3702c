import { S3Client } from '@aws-sdk/client-s3';
import { type AwsEnvironment, awsClientConfig, lean } from '../base/index.ts';

/** A client configured by the SDK's own variables (`awsClientConfig`). If an endpoint is set, buckets are addressed by path. */
export function createS3Client(environment: AwsEnvironment): S3Client {
  const config = awsClientConfig(environment, {
    service: 'S3',
    connectionTimeoutMs: CONNECTION_TIMEOUT_MS,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
  });
  return lean(new S3Client({ ...config, ...('endpoint' in config ? { forcePathStyle: true } : {}) }));
}

const CONNECTION_TIMEOUT_MS = 10_000;
// The time for a part of 8 MiB at 0.6 Mbit/s.
const REQUEST_TIMEOUT_MS = 120_000;
