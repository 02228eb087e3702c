import { LambdaClient } from '@aws-sdk/client-lambda';
import { type AwsEnvironment, awsClientConfig } from '../../lib/base/aws/index.ts';

/**
 * Creates the client with which an execution stores its steps, with the time limits of the SDK. The SDK's own
 * client would use no proxy.
 */
export function createCheckpointClient(environment: AwsEnvironment): LambdaClient {
  const limits = { connectionTimeoutMs: 5_000, requestTimeoutMs: 55_000 };
  return new LambdaClient(awsClientConfig(environment, { service: 'LAMBDA', ...limits }));
}
