/** In the words of an SDK client's configuration. What is absent is left to the SDK. */
type QueueEndpoint = {
  readonly endpoint?: string;
  readonly region?: string;
  readonly useFipsEndpoint?: true;
  readonly useDualstackEndpoint?: true;
};

type Environment = Readonly<Partial<Record<string, string>>>;

/*
 * The hosts of SQS. Sources: Amazon SQS endpoints and quotas, in the AWS General Reference; Internetwork traffic
 * privacy, in the SQS developer guide. Not those with `queue`, of the API of 2009.
 */
const REGION = '[a-z]{2,}(?:-[a-z]+)+-\\d+';
const SUFFIX = '(?:amazonaws\\.com(?:\\.cn)?|api\\.aws|api\\.amazonwebservices\\.com\\.cn)';
const OF_SQS = new RegExp(`(?:^|\\.)sqs(?:-fips)?\\.(${REGION})\\.`);
const PUBLIC = new RegExp(`^sqs(?:-fips)?\\.${REGION}\\.${SUFFIX}$`);

/**
 * Where the requests for a queue go: to `AWS_ENDPOINT_URL_SQS` or `AWS_ENDPOINT_URL` if one is set, otherwise to the host of
 * its URL; in the region that this host names, an emulator's (`sqs.eu-central-1.localhost`) included, otherwise in that of
 * `AWS_REGION` or `AWS_DEFAULT_REGION`. `queueUrl` is an http or https URL.
 */
export function queueEndpoint(queueUrl: string, environment: Environment): QueueEndpoint {
  const { hostname, port, origin } = new URL(queueUrl);
  const region =
    OF_SQS.exec(hostname)?.[1] ?? (environment['AWS_REGION'] || environment['AWS_DEFAULT_REGION']);
  const inRegion = region ? { region } : {};
  const set = environment['AWS_ENDPOINT_URL_SQS'] || environment['AWS_ENDPOINT_URL'];
  if (set) return { endpoint: set, ...inRegion };
  if (!PUBLIC.test(hostname) || port !== '') return { endpoint: origin, ...inRegion };
  // The SDK refuses an endpoint together with these two, so it forms the endpoint from the region.
  const isOn = (name: string) => environment[name]?.toLowerCase() === 'true';
  if (isOn('AWS_USE_FIPS_ENDPOINT') || isOn('AWS_USE_DUALSTACK_ENDPOINT'))
    return {
      ...(hostname.startsWith('sqs-fips.') ? { useFipsEndpoint: true } : {}),
      ...(hostname.includes('.api.') ? { useDualstackEndpoint: true } : {}),
      ...inRegion,
    };
  // It speaks https, whatever the URL says.
  return { endpoint: `https://${hostname}`, ...inRegion };
}
