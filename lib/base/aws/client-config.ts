import { once } from '../async.ts';
import { createHttpsAgent, type NetworkEnvironment } from './network.ts';

/** The environment variables that AWS clients read. */
export type AwsEnvironment = NetworkEnvironment;

/** The SDK's own default. */
const MAX_SOCKETS = 50;

/**
 * The configuration of an AWS client, from `AWS_ENDPOINT_URL_<SERVICE>` or `AWS_ENDPOINT_URL`, `AWS_REGION`
 * or `AWS_DEFAULT_REGION`, and `AWS_ACCESS_KEY_ID` with its companions unless `AWS_PROFILE` is set. The SDK finds every
 * setting that is absent here. Requests over https use the agent of `createHttpsAgent`.
 */
export function awsClientConfig(
  environment: AwsEnvironment,
  options: {
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
    /** The time limit for the head of a response. */
    readonly requestTimeoutMs: number;
  },
) {
  const { service, connectionTimeoutMs: connectionTimeout, requestTimeoutMs: requestTimeout } = options;
  const endpoint = environment[`AWS_ENDPOINT_URL_${service}`] || environment['AWS_ENDPOINT_URL'];
  const region = environment['AWS_REGION'] || environment['AWS_DEFAULT_REGION'];
  return {
    ...(endpoint ? { endpoint: once(() => parsedEndpoint(endpoint)) } : {}),
    ...(region ? { region } : {}),
    ...credentialsIn(environment),
    // Without the cache, building the middleware for each command takes a sixth of a small request's CPU time. With it,
    // middleware that is added to a command is ignored, unless the command is sent with separate options.
    cacheMiddleware: true,
    requestHandler: {
      // An agent, not options for one: without an agent, the SDK creates additional agents for large bodies
      // (Expect: 100-continue), which lack these options.
      httpsAgent: createHttpsAgent(environment, { maxSockets: MAX_SOCKETS }),
      connectionTimeout,
      requestTimeout,
      throwOnRequestTimeout: true,
    },
  };
}

/**
 * Parses an address in the same way as the SDK, which would do it for each request. Throws `TypeError` if it is not
 * a URL.
 */
function parsedEndpoint(url: string) {
  const { protocol, hostname, port, pathname: path } = new URL(url);
  return { protocol, hostname, path, ...(port === '' ? {} : { port: Number(port) }) };
}

/**
 * Avoids unneeded work that the SDK does for each request: copying request and response for a log, building the user
 * agent, and creating a signer from a copy of the whole configuration. Changes and returns the client.
 */
export function withoutUnusedMiddleware<
  Of extends {
    readonly middlewareStack: { remove(name: string): boolean };
    readonly config: { signer: (scheme?: never) => Promise<unknown> };
  },
>(client: Of): Of {
  for (const name of ['loggerMiddleware', 'getUserAgentMiddleware']) client.middlewareStack.remove(name);
  const { config } = client;
  const { signer: make } = config;
  const signers = new Map<string, typeof make>();
  config.signer = (scheme?: {
    readonly name?: string;
    readonly signingName?: string;
    readonly signingRegion?: string;
  }) => {
    const name = `${scheme?.name} ${scheme?.signingName} ${scheme?.signingRegion}`;
    const signer = signers.get(name) ?? once(() => make(scheme as never));
    signers.set(name, signer);
    return signer();
  };
  return client;
}

function credentialsIn(environment: AwsEnvironment) {
  const accessKeyId = environment['AWS_ACCESS_KEY_ID'];
  const secretAccessKey = environment['AWS_SECRET_ACCESS_KEY'];
  const sessionToken = environment['AWS_SESSION_TOKEN'];
  if (!accessKeyId || !secretAccessKey || environment['AWS_PROFILE']) return {};
  return { credentials: { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) } };
}

/*
 * The host names of SQS. Sources: Amazon SQS endpoints and quotas, in the AWS General Reference; Internetwork
 * traffic privacy, in the SQS developer guide. The names with `queue`, of the API of 2009, are not supported.
 */
const REGION = '[a-z]{2,}(?:-[a-z]+)+-\\d+';
const SUFFIX = '(?:amazonaws\\.com(?:\\.cn)?|api\\.aws|api\\.amazonwebservices\\.com\\.cn)';
const OF_SQS = new RegExp(`(?:^|\\.)sqs(?:-fips)?\\.(${REGION})\\.`);
const PUBLIC = new RegExp(`^sqs(?:-fips)?\\.${REGION}\\.${SUFFIX}$`);

/**
 * The part of an SDK client's configuration that says where requests for a queue go. The endpoint is
 * `AWS_ENDPOINT_URL_SQS` or `AWS_ENDPOINT_URL` if one is set, otherwise the host in the queue's URL. The region is
 * the one in the host's name, even for an emulator (`sqs.eu-central-1.localhost`), otherwise `AWS_REGION` or
 * `AWS_DEFAULT_REGION`. `queueUrl` is an http or https URL. The SDK finds every setting that is absent here.
 */
export function queueEndpoint(
  queueUrl: string,
  environment: AwsEnvironment,
): {
  readonly endpoint?: string;
  readonly region?: string;
  readonly useFipsEndpoint?: true;
  readonly useDualstackEndpoint?: true;
} {
  const { hostname, port, origin } = new URL(queueUrl);
  const region =
    OF_SQS.exec(hostname)?.[1] ?? (environment['AWS_REGION'] || environment['AWS_DEFAULT_REGION']);
  const inRegion = region ? { region } : {};
  const set = environment['AWS_ENDPOINT_URL_SQS'] || environment['AWS_ENDPOINT_URL'];
  if (set) return { endpoint: set, ...inRegion };
  if (!PUBLIC.test(hostname) || port !== '') return { endpoint: origin, ...inRegion };
  // The SDK refuses an endpoint together with these two settings, and forms the endpoint from the region.
  const isOn = (name: string) => environment[name]?.toLowerCase() === 'true';
  if (isOn('AWS_USE_FIPS_ENDPOINT') || isOn('AWS_USE_DUALSTACK_ENDPOINT'))
    return {
      ...(hostname.startsWith('sqs-fips.') ? { useFipsEndpoint: true } : {}),
      ...(hostname.includes('.api.') ? { useDualstackEndpoint: true } : {}),
      ...inRegion,
    };
  // The SDK speaks https, even if the URL says http.
  return { endpoint: `https://${hostname}`, ...inRegion };
}
