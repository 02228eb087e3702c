import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { queueEndpoint } from '../../../lib/base/aws/client-config.ts';
import { createSqsClient, createSqsQueue } from '../../../lib/jobs/queue/sqs-queue.ts';

const credentials = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'a-secret-key' };
const ireland = { ...credentials, AWS_REGION: 'eu-west-1' };
const queueAt = (origin: string) => `${origin}/123456789012/jobs`;

type Environment = Readonly<Record<string, string>>;
type Signed = { readonly hostname: string; readonly headers: Readonly<Record<string, string>> };

/** The host to which the SDK would send a message for a queue, and the region for which it signs. */
async function destination(queueUrl: string, environment: Environment) {
  const client = createSqsClient(queueUrl, environment);
  const signed: Signed[] = [];
  client.middlewareStack.add(
    () =>
      async ({ request }) => {
        signed.push(request as Signed);
        return { response: {}, output: { $metadata: {}, Successful: [], Failed: [] } };
      },
    { step: 'finalizeRequest', priority: 'low' },
  );
  await createSqsQueue(queueUrl, client).send(['a']);
  const [request] = signed;
  const [, region] = /\/\d{8}\/([^/]+)\/sqs\//.exec(request?.headers['authorization'] ?? '') ?? [];
  return `${region} at ${request?.hostname}`;
}

beforeEach(() => {
  for (const name of ['AWS_PROFILE', 'AWS_REGION', 'AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_SQS'])
    vi.stubEnv(name, undefined);
  vi.stubEnv('AWS_CONFIG_FILE', '/nonexistent/config');
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/nonexistent/credentials');
});
afterEach(() => vi.unstubAllEnvs());

describe('without an endpoint setting, the host of the URL decides the endpoint and the region', () => {
  const vpc = 'vpce-0a1b2c-3d4e5f-us-east-2a.sqs.us-east-2.vpce.amazonaws.com';

  test.for([
    ['sqs.eu-west-1.amazonaws.com', 'eu-west-1', 'sqs.eu-west-1.amazonaws.com'],
    ['sqs.us-east-2.amazonaws.com', 'us-east-2', 'sqs.us-east-2.amazonaws.com'],
    ['sqs.us-gov-west-1.amazonaws.com', 'us-gov-west-1', 'sqs.us-gov-west-1.amazonaws.com'],
    ['sqs.cn-north-1.amazonaws.com.cn', 'cn-north-1', 'sqs.cn-north-1.amazonaws.com.cn'],
    ['sqs-fips.us-east-2.amazonaws.com', 'us-east-2', 'sqs-fips.us-east-2.amazonaws.com'],
    ['sqs.us-east-2.api.aws', 'us-east-2', 'sqs.us-east-2.api.aws'],
    ['sqs-fips.us-east-2.api.aws', 'us-east-2', 'sqs-fips.us-east-2.api.aws'],
    [vpc, 'us-east-2', vpc],
    ['sqs.us-iso-east-1.c2s.ic.gov', 'us-iso-east-1', 'sqs.us-iso-east-1.c2s.ic.gov'],
    ['queues.example.com', 'eu-west-1', 'queues.example.com'],
    ['internal-mq-1.us-east-2.elb.amazonaws.com', 'eu-west-1', 'internal-mq-1.us-east-2.elb.amazonaws.com'],
  ] as const)('a request to %s is signed for %s', async ([host, region, to]) => {
    expect(await destination(queueAt(`https://${host}`), ireland)).toBe(`${region} at ${to}`);
  });

  test.for([
    ['http://127.0.0.1:9324', 'http://127.0.0.1:9324', 'eu-west-1'],
    ['http://sqs.us-east-2.localhost:4566', 'http://sqs.us-east-2.localhost:4566', 'us-east-2'],
    ['http://sqs.us-east-2.amazonaws.com', 'https://sqs.us-east-2.amazonaws.com', 'us-east-2'],
    ['https://sqs.us-east-2.amazonaws.com:8443', 'https://sqs.us-east-2.amazonaws.com:8443', 'us-east-2'],
  ] as const)('%s is reached at %s', ([origin, endpoint, region]) => {
    expect(queueEndpoint(queueAt(origin), ireland)).toEqual({ endpoint, region });
  });

  test.for([
    ['sqs.us-east-2.amazonaws.com', 'AWS_USE_FIPS_ENDPOINT', 'sqs-fips.us-east-2.amazonaws.com'],
    ['sqs.us-east-2.amazonaws.com', 'AWS_USE_DUALSTACK_ENDPOINT', 'sqs.us-east-2.api.aws'],
    ['sqs-fips.us-east-2.amazonaws.com', 'AWS_USE_DUALSTACK_ENDPOINT', 'sqs-fips.us-east-2.api.aws'],
    ['sqs.us-east-2.api.aws', 'AWS_USE_FIPS_ENDPOINT', 'sqs-fips.us-east-2.api.aws'],
  ] as const)('%s with %s is reached at %s', async ([host, name, to]) => {
    vi.stubEnv(name, 'true');

    expect(await destination(queueAt(`https://${host}`), { ...ireland, [name]: 'true' })).toBe(
      `us-east-2 at ${to}`,
    );
  });
});

describe('an endpoint setting takes precedence over the URL of the queue', () => {
  test.for([
    ['http://127.0.0.1:4566', 'http://127.0.0.1:4566', 'eu-west-1'],
    ['http://127.0.0.1:4566', 'http://localhost:4566', 'eu-west-1'],
    ['http://sqs.us-east-2.localhost:4566', 'http://127.0.0.1:4566', 'us-east-2'],
    ['http://sqs.us-east-2.localhost.localstack.cloud:4566', 'http://[::1]:4566', 'us-east-2'],
    ['http://queues:9324', 'http://queues:9324', 'eu-west-1'],
    ['https://sqs.us-east-2.amazonaws.com', 'https://vpce-1-2.sqs.us-east-2.vpce.amazonaws.com', 'us-east-2'],
    ['https://sqs.us-east-2.amazonaws.com', 'https://sqs-fips.us-east-2.amazonaws.com', 'us-east-2'],
  ] as const)('%s is reached at %s', ([origin, endpoint, region]) => {
    expect(queueEndpoint(queueAt(origin), { ...ireland, AWS_ENDPOINT_URL: endpoint })).toEqual({
      endpoint,
      region,
    });
  });

  test('and the setting for SQS takes precedence over the setting for all services', () => {
    const environment = {
      AWS_ENDPOINT_URL: 'http://127.0.0.1:9000',
      AWS_ENDPOINT_URL_SQS: 'https://sqs.eu-west-1.amazonaws.com',
    };

    expect(queueEndpoint(queueAt('https://sqs.eu-west-1.amazonaws.com'), environment)).toEqual({
      endpoint: 'https://sqs.eu-west-1.amazonaws.com',
      region: 'eu-west-1',
    });
  });
});
