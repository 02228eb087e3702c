import { LambdaClient } from '@aws-sdk/client-lambda';
import { type AwsEnvironment, awsClientConfig } from '../../lib/base/aws/index.ts';

/**
 * Creates the client with which an execution stores its steps, because the SDK's own client uses no proxy. The time limits
 * are those of that client.
 */
export function createCheckpointClient(environment: AwsEnvironment): LambdaClient {
  const limits = { connectionTimeoutMs: 5_000, requestTimeoutMs: 55_000 };
  return new LambdaClient(awsClientConfig(environment, { service: 'LAMBDA', ...limits }));
}
