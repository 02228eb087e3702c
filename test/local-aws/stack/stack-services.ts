import type { OffRules } from '../documented/layer.ts';
import { type Access, createAccess } from '../permissions/access.ts';
import type { Keys } from '../permissions/key-needs.ts';
import { recordCalls } from '../permissions/recorded.ts';
import { type ServiceRequest, startGateway } from '../services/gateway.ts';
import { refusal, startJsonServer } from '../services/json-server.ts';
import { type AwsOptions, startAws } from '../services/start-aws.ts';
import { type PutEvent, startEvents } from '../services/start-events.ts';
import { type LocalExecutions, startExecutions } from '../services/start-executions.ts';
import { type GlueOptions, type LocalGlue, startGlue } from '../services/start-glue.ts';
import { type LocalLambda, startLambda } from '../services/start-lambda.ts';
import { startParameters, startSecrets } from '../services/start-secrets.ts';
import { startStacks } from '../services/start-stacks.ts';
import { type Published, startTopics } from '../services/start-topics.ts';
import { type Resource, resourcesOf, type Template } from './template.ts';
import { type Resolve, templateValues } from './template-values.ts';

export type StackServices = {
  /** One endpoint for all services. */
  readonly endpoint: string;
  /** The SDK's environment variables for all of them. */
  readonly settings: Readonly<Record<string, string>>;
  readonly requests: readonly ServiceRequest[];
  readonly events: readonly PutEvent[];
  /** The messages published to topics. */
  readonly published: readonly Published[];
  readonly glue: LocalGlue;
  readonly lambda: LocalLambda;
  readonly executions: LocalExecutions;
  /** Services that are unavailable while they are in this set. */
  readonly unavailable: Set<string>;
  /** Services that throttle every request while they are in this set. */
  readonly throttled: Set<string>;
  readonly access: Access;
} & AsyncDisposable;

export type StackServicesOptions = {
  readonly template: Template;
  /** Texts of the template to replace, as for the stack. */
  readonly texts?: Readonly<Record<string, string>> | undefined;
  /** The value of its secrets, and of the parameters that hold a function's token. */
  readonly secret: string;
  /** Rules of AWS that are off, each with the reason. */
  readonly off?: OffRules | undefined;
  /** Endpoints that respond in place of a service. Default: none. */
  readonly instead?: EndpointInstead | undefined;
  /** The keys of encrypted resources outside the template, by the ARN of the resource. */
  readonly keys?: Keys | undefined;
  readonly dynamoDb?: AwsOptions['dynamoDb'];
};

/** Returns the endpoint that responds in place of a service for a path; undefined if the service itself does. */
export type EndpointInstead = (service: string, path: string) => string | undefined;

/**
 * Starts the services that the functions of a stack call, behind one endpoint, with the resources of its template. The
 * policies of the template are enforced.
 */
export async function startStackServices({
  template,
  texts: replaced = {},
  secret,
  off = {},
  keys = {},
  instead = () => undefined,
  dynamoDb,
}: StackServicesOptions): Promise<StackServices> {
  await using started = new AsyncDisposableStack();
  // Any endpoint will do: names and ARNs do not depend on it.
  const resolve = templateValues(template, { endpoint: 'http://127.0.0.1' });
  const all = (type: string) => resourcesOf(template, type).map(([id]) => String(resolve({ Ref: id })));
  const aws = started.use(await startAws({ ...resourcesAtTheStart(template, resolve), off, dynamoDb }));
  const texts = Object.fromEntries(all('AWS::SecretsManager::Secret').map((arn) => [arn, secret]));
  const secrets = started.use(await startSecrets(texts));
  const parameters = started.use(
    await startParameters(Object.fromEntries(parametersOf(template, resolve).map((arn) => [arn, secret]))),
  );
  const events = started.use(await startEvents());
  const topics = started.use(await startTopics(all('AWS::SNS::Topic')));
  const glue = started.use(await startGlue(tablesOf(template, resolve)));
  const lambda = started.use(await startLambda(all('AWS::Lambda::Function')));
  const executions = started.use(await startExecutions());
  const stacks = started.use(
    await startStacks(() => outputsOf(template, templateValues(template, { endpoint, texts: replaced }))),
  );
  const endpoints: Readonly<Record<string, string | undefined>> = {
    s3: aws.endpoint,
    sqs: aws.endpoint,
    dynamodb: aws.endpoint,
    secretsmanager: secrets.endpoint,
    ssm: parameters.endpoint,
    events: events.endpoint,
    sns: topics.endpoint,
    glue: glue.endpoint,
    lambda: lambda.endpoint,
    cloudformation: stacks.endpoint,
  };
  const unavailable = new Set<string>();
  const throttled = new Set<string>();
  const throttling = started.use(
    await startJsonServer(() => refusal('ThrottlingException', 'Rate exceeded')),
  );
  const endpointOf = (service: string, path: string) => {
    if (unavailable.has(service)) return NOWHERE;
    if (throttled.has(service)) return throttling.endpoint;
    const other = instead(service, path);
    if (other !== undefined) return other;
    return /^\/[^/]+\/durable-executions\//.test(path) ? executions.endpoint : endpoints[service];
  };
  const access = createAccess({ template, resolve, keys });
  started.defer(() => recordCalls(access.calls()));
  const { endpoint, requests } = started.use(await startGateway({ endpointOf, access }));
  const running = started.move();
  return {
    endpoint,
    settings: { ...aws.settings, AWS_ENDPOINT_URL: endpoint },
    requests,
    events: events.taken,
    published: topics.published,
    glue,
    lambda,
    executions,
    unavailable,
    throttled,
    access,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** An address on which no server listens. */
const NOWHERE = 'http://127.0.0.1:9';

/** The buckets, queues and tables of the template. */
function resourcesAtTheStart(template: Template, resolve: Resolve): AwsOptions {
  const named = (type: string) =>
    resourcesOf(template, type).map(([id, resource]) => [String(resolve({ Ref: id })), resource] as const);
  return {
    buckets: named('AWS::S3::Bucket').map(([name]) => name),
    queues: named('AWS::SQS::Queue')
      .map(([url, { Properties }]) => queueOf(url, resolve(Properties) as QueueProperties))
      // A dead-letter queue must be created before the queue that uses it.
      .sort((a, b) => Number('deadLetter' in a) - Number('deadLetter' in b)),
    tables: named('AWS::DynamoDB::Table').map(([name, table]) => tableOf(name, table)),
  };
}

const outputsOf = ({ Outputs = {} }: Template, resolve: Resolve) =>
  Object.entries(Outputs).map(([OutputKey, { Value, Description = '' }]) => ({
    OutputKey,
    OutputValue: String(resolve(Value)),
    Description,
  }));

/** The parameters that hold a function's token, which a template cannot create. */
function parametersOf(template: Template, resolve: Resolve): readonly string[] {
  const places = resourcesOf(template, 'AWS::Lambda::Function').map(([, { Properties }]) => {
    const { Variables = {} } = (Properties['Environment'] ?? {}) as FunctionSettings;
    return String(resolve(Variables['PLATFORM_TOKEN_SECRET'] ?? ''));
  });
  return places.filter((place) => place.startsWith('arn:aws:ssm:'));
}

type FunctionSettings = { readonly Variables?: Readonly<Record<string, unknown>> };

type QueueProperties = {
  readonly VisibilityTimeout?: number;
  readonly RedrivePolicy?: { readonly deadLetterTargetArn: string; readonly maxReceiveCount: number };
};

function queueOf(url: string, { VisibilityTimeout, RedrivePolicy: redrive }: QueueProperties) {
  const deadLetter = redrive && {
    queue: lastOf(redrive.deadLetterTargetArn, ':'),
    maxReceiveCount: redrive.maxReceiveCount,
  };
  return {
    name: lastOf(url, '/'),
    ...(VisibilityTimeout === undefined ? {} : { visibilitySeconds: VisibilityTimeout }),
    ...(deadLetter === undefined ? {} : { deadLetter }),
  };
}

/** Returns the name of a table. Throws unless it has the keys that local tables have. */
function tableOf(name: string, { Properties }: Resource): string {
  const keys = (Properties['KeySchema'] as readonly { readonly AttributeName: string }[]).map(
    ({ AttributeName }) => AttributeName,
  );
  if (keys.join() !== 'pk,sk') throw new Error(`table ${name}: expected the keys pk and sk, got ${keys}`);
  return name;
}

type TableProperties = {
  readonly DatabaseName: string;
  readonly TableInput: {
    readonly Name: string;
    readonly StorageDescriptor: Readonly<Record<string, unknown>>;
  };
};

function tablesOf(template: Template, resolve: Resolve): GlueOptions {
  const [[id] = ['']] = resourcesOf(template, 'AWS::Glue::Database');
  const tables = resourcesOf(template, 'AWS::Glue::Table').map(
    ([, { Properties }]) => resolve(Properties) as TableProperties,
  );
  return {
    database: String(resolve({ Ref: id })),
    tables: Object.fromEntries(
      tables.map(({ TableInput: { Name, StorageDescriptor } }) => [Name, StorageDescriptor]),
    ),
  };
}

const lastOf = (text: string, separator: string): string => text.split(separator).at(-1) ?? '';
