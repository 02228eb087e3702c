import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createSqsClient, createSqsQueue } from '../../../lib/jobs/queue/sqs-queue.ts';
import type { OffRules } from '../documented/layer.ts';
import { createHandlerProcess, type HandlerProcess } from '../functions/create-handler-process.ts';
import { startEventSourceMapping } from '../functions/event-source-mapping.ts';
import { type Sometimes, sometimes } from '../functions/lambda-rules.ts';
import { ACCOUNT, REGION } from '../identity.ts';
import type { Access } from '../permissions/access.ts';
import type { Keys } from '../permissions/key-needs.ts';
import { AND } from '../permissions/policies.ts';
import type { ServiceRequest } from '../services/gateway.ts';
import type { AwsOptions } from '../services/start-aws.ts';
import type { PutEvent } from '../services/start-events.ts';
import type { EndedExecution, ExecutionToRun } from '../services/start-executions.ts';
import type { Published } from '../services/start-topics.ts';
import { type EventTarget, targetsOf } from './event-targets.ts';
import { type EndpointInstead, type StackServices, startStackServices } from './stack-services.ts';
import { resourcesOf, type StackToRun, type Template } from './template.ts';
import { type Resolve, templateValues } from './template-values.ts';

export type StackOptions = StackToRun & {
  /** Texts of the template to replace, such as the platform's origin, and their replacements. */
  readonly texts?: Readonly<Record<string, string>>;
  /** The value of the stack's secrets. */
  readonly secret: string;
  /** Environment variables that override those of the template. */
  readonly overrides?: Readonly<Record<string, string>>;
  /** Called with every line that a function writes, and with Lambda's own, and the function's logical id. */
  readonly onLog?: (line: string, id: string) => void;
  /** Folders that the functions may write to in addition to their temporary ones, such as a store. Default: none. */
  readonly writable?: readonly string[];
  /** Endpoints that respond in place of a service. Default: none. */
  readonly instead?: EndpointInstead;
  /** Rules of AWS that are off, each with the reason. */
  readonly off?: OffRules;
  /** The keys of encrypted resources outside the template, such as a token's parameter, by the ARN of the resource. */
  readonly keys?: Keys;
  /** A replacement for dynalite. */
  readonly dynamoDb?: AwsOptions['dynamoDb'];
  /** Decides whether an occasional event happens. Default: by the probabilities of `lambdaRules`, with a fixed seed. */
  readonly sometimes?: Sometimes;
};

export type LocalStack = {
  /** The SDK's environment variables that reach its services from outside. */
  readonly settings: Readonly<Record<string, string>>;
  readonly resolve: Resolve;
  /** An output of the template. */
  output(name: string): string;
  /** Every request so far. Those of a function are `by` its logical id. */
  readonly requests: readonly ServiceRequest[];
  readonly events: readonly PutEvent[];
  readonly published: readonly Published[];
  readonly glue: Pick<StackServices['glue'], 'partitions'>;
  readonly lambda: Pick<StackServices['lambda'], 'requests'>;
  /** Services that are unavailable while they are in this set, by their names in signatures. */
  readonly unavailable: Set<string>;
  /** Services that throttle every request while they are in this set. */
  readonly throttled: Set<string>;
  /** The calls that its policies allowed and denied. Statements in `added` apply to every function and person. */
  readonly access: Pick<Access, 'calls' | 'refusals' | 'added'>;
  /** The settings of a person who has only these policies of the template, given by the beginnings of their logical ids. */
  settingsOf(...policies: readonly string[]): Readonly<Record<string, string>>;
  /** Passes the messages of queues to functions, according to the template's mappings, until it is disposed of. */
  poll(): Promise<AsyncDisposable>;
  /**
   * Sends the event to the targets of every rule whose pattern matches it, occasionally twice. Returns the first result
   * of each function, and the messages to queues.
   */
  emit(event: object): Promise<readonly unknown[]>;
  /**
   * Invokes the function that a schedule starts, or sends its message to the queue. `id`: the schedule's logical id;
   * `scheduledAt` defaults to now. Returns the function's result, or the message.
   */
  runSchedule(id: string, scheduledAt?: Date): Promise<unknown>;
  /** Runs a requested execution to its end, in a separate process. */
  runExecution(name: string, how?: ExecutionOptions): Promise<EndedExecution>;
} & AsyncDisposable;

export type ExecutionOptions = Pick<ExecutionToRun, 'sleep'> & {
  /** The time limit of an invocation, in milliseconds. Default: the function's own. */
  readonly timeoutMs?: number;
  /** Called with the name of each step that begins, and with a function that kills its process. */
  readonly onStep?: (name: string, crash: () => Promise<void>) => void;
};

/**
 * Starts a stack on this machine as it would be deployed: the functions from their assets, each with the environment of
 * the template and of Lambda, over local services behind one endpoint. A function's access key id is its logical id.
 * Throws for anything unknown in the template.
 */
export async function startStack(options: StackOptions): Promise<LocalStack> {
  const { template, texts = {}, secret, off, keys, instead, dynamoDb } = options;
  const services = await startStackServices({ template, texts, secret, off, keys, instead, dynamoDb });
  const resolve = templateValues(template, { endpoint: services.endpoint, texts });
  const running = new AsyncDisposableStack();
  running.use(services);
  const stack = { ...options, services, resolve, sometimes: options.sometimes ?? sometimes(SEED) };
  const processes = new Map<string, HandlerProcess>();
  const processOf = (id: string, given: { readonly timeoutMs?: number } = {}, execution = '') => {
    const key = `${id} ${given.timeoutMs} ${execution}`;
    const process =
      processes.get(key) ?? running.use(createHandlerProcess({ ...handlerOf(id, stack), ...given }));
    processes.set(key, process);
    return process;
  };
  const send = (target: EventTarget) =>
    target.kind === 'function' ? processOf(target.id).invoke(target.event) : sendToQueue(target, services);
  const deliver = async (target: EventTarget) => {
    const result = await send(target);
    if (stack.sometimes('repeats-events')) await send(target);
    return result;
  };
  return {
    settings: services.settings,
    resolve,
    output: (name) => String(resolve(template.Outputs?.[name]?.Value)),
    requests: services.requests,
    events: services.events,
    published: services.published,
    glue: services.glue,
    lambda: services.lambda,
    unavailable: services.unavailable,
    throttled: services.throttled,
    access: services.access,
    settingsOf: (...policies) => ({
      ...services.settings,
      AWS_ACCESS_KEY_ID: policies.map((start) => policyOf(start, template)).join(AND),
    }),
    poll: () => startMappings(stack),
    emit: (event) =>
      Promise.all(targetsOf(event, { template, resolve, access: services.access }).map(deliver)),
    runSchedule: (id, scheduledAt = new Date()) => startScheduled({ id, scheduledAt }, stack, processOf),
    runExecution(name, { timeoutMs, onStep, sleep } = {}) {
      const requested = services.lambda.requests.find((request) => request.name === name);
      if (requested === undefined) throw new Error(`expected a request for the execution ${name}`);
      const [id = ''] = lastOf(requested.function, 'function:').split(':');
      const process = processOf(id, timeoutMs === undefined ? {} : { timeoutMs }, name);
      return services.executions.run({
        // The ARN has the version that the alias points to.
        arn: `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${id}:1/durable-execution/${name}/${randomUUID()}`,
        input: JSON.stringify(requested.input),
        invoke: (event) => process.invoke(event),
        onStep: onStep && ((step) => onStep(step, process.crash)),
        sleep,
      });
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** With this seed the first process is recycled immediately, so that even a short run includes that. */
const SEED = 2;

function policyOf(start: string, template: Template): string {
  const [[id] = [''], ...others] = resourcesOf(template, 'AWS::IAM::ManagedPolicy').filter(([each]) =>
    each.startsWith(start),
  );
  if (id === '' || others.length > 0)
    throw new Error(`expected one managed policy ${start}, got ${others.length}`);
  return id;
}

type Stack = StackOptions & {
  readonly services: StackServices;
  readonly resolve: Resolve;
  readonly sometimes: Sometimes;
};

async function sendToQueue(
  { queue, body }: Extract<EventTarget, { kind: 'queue' }>,
  { endpoint, settings }: StackServices,
): Promise<string> {
  const url = `${endpoint}/${ACCOUNT}/${queue}`;
  const client = createSqsClient(url, settings);
  await createSqsQueue(url, client).send([body]);
  client.destroy();
  return body;
}

type FunctionProperties = {
  readonly Code: { readonly S3Key: string };
  readonly Handler: string;
  readonly Timeout: number;
  readonly MemorySize: number;
  readonly Environment: { readonly Variables: Readonly<Record<string, string>> };
};

/** The options to run a function. The `Handler` property names the file in its asset. */
function handlerOf(id: string, { template, assets, overrides, services, resolve, ...stack }: Stack) {
  const { Code, Handler, Timeout, MemorySize, Environment } = resolve(
    template.Resources[id]?.Properties,
  ) as FunctionProperties;
  const folder = assets.get(Code.S3Key);
  const [, file] = /^([\w-]+)\.handler$/.exec(Handler) ?? [];
  if (folder === undefined || file === undefined)
    throw new Error(`${id}: expected an asset ${Code.S3Key} and FILE.handler, got ${Handler}`);
  return {
    file: join(folder, `${file}.mjs`),
    functionName: String(resolve({ Ref: id })),
    environment: { ...services.settings, AWS_ACCESS_KEY_ID: id, ...Environment.Variables, ...overrides },
    timeoutMs: Timeout * 1_000,
    memoryMb: MemorySize,
    sometimes: stack.sometimes,
    ...(stack.writable === undefined ? {} : { writable: stack.writable }),
    onLog: (line: string) => stack.onLog?.(line, id),
  };
}

/** Sends the input of a schedule to its function or queue, with the permissions of its role. */
function startScheduled(
  { id, scheduledAt }: { readonly id: string; readonly scheduledAt: Date },
  { template, resolve, services }: Stack,
  processOf: (id: string) => HandlerProcess,
): Promise<unknown> {
  const { Target, GroupName } = resolve(template.Resources[id]?.Properties) as ScheduleProperties;
  const input = Target.Input.replaceAll(
    '<aws.scheduler.scheduled-time>',
    scheduledAt.toISOString().replace(/\.\d+Z$/, 'Z'),
  );
  const { access } = services;
  const service = 'scheduler.amazonaws.com';
  const sourceArn = `arn:aws:scheduler:${REGION}:${ACCOUNT}:schedule-group/${GroupName}`;
  const isQueue = Target.Arn.includes(':sqs:');
  const action = isQueue ? 'sqs:SendMessage' : 'lambda:InvokeFunction';
  const refusal =
    access.refusalOfService({ action: 'sts:AssumeRole', resource: Target.RoleArn }, { service, sourceArn }) ??
    access.refusalOf({ action, resource: Target.Arn }, lastOf(Target.RoleArn, '/'));
  if (refusal !== undefined) throw new Error(`${id}: ${refusal}`);
  if (isQueue) return sendToQueue({ kind: 'queue', queue: lastOf(Target.Arn, ':'), body: input }, services);
  return processOf(lastOf(Target.Arn, ':')).invoke(JSON.parse(input));
}

type ScheduleProperties = {
  readonly GroupName: string;
  readonly Target: { readonly Arn: string; readonly Input: string; readonly RoleArn: string };
};

type MappingProperties = {
  readonly FunctionName: string;
  readonly EventSourceArn: string;
  readonly BatchSize?: number;
  readonly FunctionResponseTypes?: readonly string[];
  readonly ScalingConfig?: { readonly MaximumConcurrency: number };
};

async function startMappings(stack: Stack): Promise<AsyncDisposable> {
  await using started = new AsyncDisposableStack();
  for (const [id, { Properties }] of resourcesOf(stack.template, 'AWS::Lambda::EventSourceMapping')) {
    const mapping = stack.resolve(Properties) as MappingProperties;
    if (mapping.FunctionResponseTypes?.join() !== 'ReportBatchItemFailures')
      throw new Error(`${id}: expected ReportBatchItemFailures, got ${mapping.FunctionResponseTypes}`);
    const { endpoint, settings } = stack.services;
    const handler = handlerOf(mapping.FunctionName, stack);
    const credentials = {
      // Lambda polls the queue with the function's own role.
      accessKeyId: mapping.FunctionName,
      secretAccessKey: settings['AWS_SECRET_ACCESS_KEY'] ?? '',
    };
    started.use(
      await startEventSourceMapping({
        ...handler,
        aws: { endpoint, region: REGION, credentials },
        queueUrl: `${endpoint}/${ACCOUNT}/${lastOf(mapping.EventSourceArn, ':')}`,
        ...(mapping.BatchSize === undefined ? {} : { batchSize: mapping.BatchSize }),
        ...(mapping.ScalingConfig === undefined
          ? {}
          : { maximumConcurrency: mapping.ScalingConfig.MaximumConcurrency }),
      }),
    );
  }
  return started.move();
}

const lastOf = (text: string, separator: string): string => text.split(separator).at(-1) ?? '';
