import { Agent } from 'node:https';
import { type ProxyEnvironment, proxyEnvironment } from './proxy-environment.ts';

export type AwsEnvironment = ProxyEnvironment;

export type AwsClientOptions = {
  readonly service:
    | 'S3'
    | 'SQS'
    | 'CLOUDFORMATION'
    | 'DYNAMODB'
    | 'SECRETS_MANAGER'
    | 'SSM'
    | 'GLUE'
    | 'LAMBDA'
    | 'EVENTBRIDGE'
    | 'SNS';
  readonly connectionTimeoutMs: number;
  /** The limit until the head of the response arrives. */
  readonly requestTimeoutMs: number;
};

/** The SDK's own default. */
const MOST_SOCKETS = 50;

/**
 * From `AWS_ENDPOINT_URL_<SERVICE>` or `AWS_ENDPOINT_URL`, `AWS_REGION` or `AWS_DEFAULT_REGION`, and
 * `AWS_ACCESS_KEY_ID` with its companions unless `AWS_PROFILE` is set; the SDK looks for what is absent. Requests over
 * https honour `HTTPS_PROXY` and `NO_PROXY`.
 */
export function awsClientConfig(environment: AwsEnvironment, options: AwsClientOptions) {
  const { service, connectionTimeoutMs: connectionTimeout, requestTimeoutMs: requestTimeout } = options;
  const endpoint = environment[`AWS_ENDPOINT_URL_${service}`] || environment['AWS_ENDPOINT_URL'];
  const region = environment['AWS_REGION'] || environment['AWS_DEFAULT_REGION'];
  return {
    ...(endpoint ? { endpoint } : {}),
    ...(region ? { region } : {}),
    ...credentialsIn(environment),
    // Putting the middleware together again for each command takes a sixth of a small request's CPU time. What is added
    // to a command's own middleware is ignored, unless the command is sent with options of its own.
    cacheMiddleware: true,
    requestHandler: {
      // An agent rather than its options: for large bodies (Expect: 100-continue) the SDK creates its own agents,
      // without these options, unless it is given one.
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
