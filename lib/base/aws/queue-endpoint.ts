import { hideUser } from '../json/hide-user.ts';

/**
 * Where the requests for a queue go, in the words of an SDK client's configuration. What is absent is left to the SDK: a
 * region that only a profile names, and an endpoint that it forms from the region.
 */
type QueueEndpoint = {
  readonly endpoint?: string;
  readonly region?: string;
  readonly useFipsEndpoint?: true;
  readonly useDualstackEndpoint?: true;
};

/** `fault` says what was expected and what came, without the name of the setting that the URL is from. */
type QueueEndpointOutcome =
  | { readonly kind: 'endpoint'; readonly config: QueueEndpoint }
  | { readonly kind: 'refused'; readonly fault: string };

type Environment = Readonly<Partial<Record<string, string>>>;

/**
 * Where the requests for a queue go. The host of its URL decides: a host of SQS gives the endpoint and the region, any
 * other is the endpoint itself, in the region of `AWS_REGION` or `AWS_DEFAULT_REGION`. `AWS_ENDPOINT_URL_SQS` or
 * `AWS_ENDPOINT_URL` may name the same host, this machine by another name, or another host of SQS in the same region,
 * such as a VPC endpoint. With any other, the messages would go to a queue that the URL does not mean, so it is refused.
 * `queueUrl` is an http or https URL.
 */
export function queueEndpoint(queueUrl: string, environment: Environment): QueueEndpointOutcome {
  const url = new URL(queueUrl);
  const region = regionOf(url) ?? (environment['AWS_REGION'] || environment['AWS_DEFAULT_REGION']);
  const inRegion = region ? { region } : {};
  const setting = ENDPOINT_SETTINGS.find((name) => environment[name]);
  if (setting !== undefined) {
    const endpoint = environment[setting] ?? '';
    const fault = endpointFault(url, endpoint, setting);
    if (fault !== undefined) return { kind: 'refused', fault };
    return { kind: 'endpoint', config: { endpoint, ...inRegion } };
  }
  if (regionOf(url) === undefined && isOtherService(url))
    return {
      kind: 'refused',
      fault: `expected a host such as sqs.eu-central-1.amazonaws.com, got ${url.host}`,
    };
  const config = isPublic(url) ? publicEndpoint(url, environment) : { endpoint: url.origin };
  return { kind: 'endpoint', config: { ...config, ...inRegion } };
}

const ENDPOINT_SETTINGS = ['AWS_ENDPOINT_URL_SQS', 'AWS_ENDPOINT_URL'] as const;

/*
 * The hosts of SQS. Sources: Amazon SQS endpoints and quotas, in the AWS General Reference; Internetwork traffic
 * privacy, in the SQS developer guide. Not those with `queue`, of the API of 2009.
 */
const REGION = '[a-z]{2,}(?:-[a-z]+)+-\\d+';
const SUFFIX = '(?:amazonaws\\.com(?:\\.cn)?|api\\.aws|api\\.amazonwebservices\\.com\\.cn)';
const OF_SQS = new RegExp(`(?:^|\\.)sqs(?:-fips)?\\.(${REGION})\\.`);
const PUBLIC = new RegExp(`^sqs(?:-fips)?\\.${REGION}\\.${SUFFIX}$`);
const VPC = new RegExp(`\\.sqs(?:-fips)?\\.${REGION}\\.vpce\\.${SUFFIX}$`);
const SERVICE = new RegExp(`^(?:[a-z0-9-]+\\.){1,2}${SUFFIX}$|\\.aws\\.amazon\\.com$`);

/** The region that the host of a queue names, an emulator's (`sqs.eu-central-1.localhost`) included. */
const regionOf = ({ hostname }: URL): string | undefined => OF_SQS.exec(hostname)?.[1];

const isPublic = ({ hostname, port }: URL) => PUBLIC.test(hostname) && port === '';

const isAws = (url: URL) => isPublic(url) || VPC.test(url.hostname);

/** Another service of AWS, such as the console, or SQS without a region: no queue is there. */
const isOtherService = ({ hostname, port }: URL) => SERVICE.test(hostname) && port === '';

function publicEndpoint({ hostname }: URL, environment: Environment): QueueEndpoint {
  // The SDK refuses an endpoint together with these two, so it forms the endpoint from the region.
  const isOn = (name: string) => environment[name]?.toLowerCase() === 'true';
  if (isOn('AWS_USE_FIPS_ENDPOINT') || isOn('AWS_USE_DUALSTACK_ENDPOINT'))
    return {
      ...(hostname.startsWith('sqs-fips.') ? { useFipsEndpoint: true } : {}),
      ...(hostname.includes('.api.') ? { useDualstackEndpoint: true } : {}),
    };
  // They speak https, whatever the URL says.
  return { endpoint: `https://${hostname}` };
}

/** Why a queue is not at the endpoint that is set; undefined if it is. */
function endpointFault(url: URL, set: string, setting: string): string | undefined {
  const endpoint = URL.canParse(set) ? new URL(set) : undefined;
  if (endpoint === undefined || !/^https?:$/.test(endpoint.protocol))
    return `expected an http or https URL in ${setting}, got ${JSON.stringify(hideUser(set))}`;
  if (url.host === endpoint.host) return undefined;
  const [one, other] = [regionOf(url), regionOf(endpoint)];
  const isSame = isAws(url) && isAws(endpoint) ? one === other : isSameMachine(url, endpoint);
  const isElsewhere = one !== undefined && other !== undefined && one !== other;
  if (isSame && !isElsewhere) return undefined;
  return `expected the host ${endpoint.host}, which ${setting} names, got ${url.host}`;
}

/** Names that always mean this machine; LocalStack's queues have the last one. */
const LOOPBACK = /^(127(\.\d{1,3}){3}|\[::1\]|(.+\.)?localhost(\.localstack\.cloud)?)$/;

const isSameMachine = (one: URL, other: URL) =>
  one.port === other.port && LOOPBACK.test(one.hostname) && LOOPBACK.test(other.hostname);
