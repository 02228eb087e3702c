import { Agent } from 'node:https';
import { type ProxyEnvironment, proxyEnvironment } from './proxy-environment.ts';

/** Environment variables by name, as `process.env` has them. */
export type AwsEnvironment = ProxyEnvironment;

export type AwsClientOptions = {
  /** As it ends the SDK's variable for its endpoint: `AWS_ENDPOINT_URL_SQS`. */
  readonly service: 'S3' | 'SQS' | 'DYNAMODB' | 'SECRETS_MANAGER' | 'GLUE' | 'LAMBDA' | 'EVENTBRIDGE';
  readonly connectionTimeoutMs: number;
  /** Until the answer's head is there. */
  readonly requestTimeoutMs: number;
};

/** The SDK's own number. */
const MOST_SOCKETS = 50;

/**
 * What a client of the SDK is made by: `AWS_ENDPOINT_URL_<SERVICE>` or `AWS_ENDPOINT_URL`, `AWS_REGION` or
 * `AWS_DEFAULT_REGION`, `AWS_ACCESS_KEY_ID` with its companions unless `AWS_PROFILE` is set. What is absent is left to
 * the SDK, which looks in the process's environment, in profiles and roles. Requests over https honour `HTTPS_PROXY`
 * and `NO_PROXY`.
 */
export function awsClientConfig(environment: AwsEnvironment, options: AwsClientOptions) {
  const { service, connectionTimeoutMs: connectionTimeout, requestTimeoutMs: requestTimeout } = options;
  const endpoint = environment[`AWS_ENDPOINT_URL_${service}`] || environment['AWS_ENDPOINT_URL'];
  const region = environment['AWS_REGION'] || environment['AWS_DEFAULT_REGION'];
  return {
    ...(endpoint ? { endpoint } : {}),
    ...(region ? { region } : {}),
    ...credentialsIn(environment),
    requestHandler: {
      // An agent rather than its options: for large bodies (Expect: 100-continue) the SDK makes agents of its own,
      // without these options, unless it was given one.
      httpsAgent: new Agent({
        keepAlive: true,
        maxSockets: MOST_SOCKETS,
        proxyEnv: proxyEnvironment(environment),
      }),
      connectionTimeout,
      requestTimeout,
      throwOnRequestTimeout: true,
    },
  };
}

function credentialsIn(environment: AwsEnvironment) {
  const accessKeyId = environment['AWS_ACCESS_KEY_ID'];
  const secretAccessKey = environment['AWS_SECRET_ACCESS_KEY'];
  const sessionToken = environment['AWS_SESSION_TOKEN'];
  if (!accessKeyId || !secretAccessKey || environment['AWS_PROFILE']) return {};
  return { credentials: { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) } };
}
