import { LambdaClient } from '@aws-sdk/client-lambda';
import { type AwsEnvironment, awsClientConfig } from '../../lib/base/aws/index.ts';

/**
 * Creates the client with which a durable execution stores its steps. The SDK's own client cannot use a proxy; its time
 * limits are used here too.
 */
export function createCheckpointClient(environment: AwsEnvironment): LambdaClient {
  const limits = { connectionTimeoutMs: 5_000, requestTimeoutMs: 55_000 };
  return new LambdaClient(awsClientConfig(environment, { service: 'LAMBDA', ...limits }));
}
