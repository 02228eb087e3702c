import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type AwsEnvironment, awsClientConfig } from '../base/index.ts';

/** A client configured by the SDK's own variables (`awsClientConfig`). */
export const createDynamoClient = (environment: AwsEnvironment): DynamoDBClient =>
  new DynamoDBClient(
    awsClientConfig(environment, {
      service: 'DYNAMODB',
      connectionTimeoutMs: CONNECTION_TIMEOUT_MS,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
    }),
  );

const CONNECTION_TIMEOUT_MS = 2_000;
// DynamoDB responds within tens of milliseconds, and for it the SDK makes four attempts.
const REQUEST_TIMEOUT_MS = 5_000;
