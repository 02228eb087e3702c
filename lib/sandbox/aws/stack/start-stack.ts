import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createHandlerProcess, type HandlerProcess } from '../functions/create-handler-process.ts';
import { startEventSourceMapping } from '../functions/event-source-mapping.ts';
import { account, region } from '../identity.ts';
import type { Asked } from '../services/gateway.ts';
import type { PutEvent } from '../services/start-events.ts';
import type { EndedExecution } from '../services/start-executions.ts';
import type { Glue } from '../services/start-glue.ts';
import type { Lambda } from '../services/start-lambda.ts';
import { matchesPattern } from './event-pattern.ts';
import { type StackServices, startStackServices } from './stack-services.ts';
import { resourcesOf, type StackToRun, type Template } from './template.ts';
import { type Resolve, templateValues } from './template-values.ts';

export type StackOptions = StackToRun & {
  /** Texts of the template that stand for something else here, such as the platform's origin. */
  readonly texts?: Readonly<Record<string, string>>;
  /** What the secrets of the stack hold. */
  readonly secret: string;
  /** Variables that functions find in place of those of the template. */
  readonly overrides?: Readonly<Record<string, string>>;
  /** Gets every line that a function writes. */
  readonly onLog?: (line: string) => void;
};

export type LocalStack = {
  /** The SDK's variables that reach its services from outside. */
  readonly settings: Readonly<Record<string, string>>;
  readonly resolve: Resolve;
  /** An output of the template. */
  output(name: string): string;
  /** Every request so far. A function's are by its logical id. */
  readonly asked: readonly Asked[];
  readonly events: readonly PutEvent[];
  readonly glue: Pick<Glue, 'partitions'>;
  readonly lambda: Pick<Lambda, 'requests'>;
  /** Hands the messages of queues to functions, as the template's mappings say, until it is disposed of. */
  poll(): Promise<AsyncDisposable>;
  /** Invokes what the rules name whose pattern the event is of; the answers. */
  emit(event: object): Promise<readonly unknown[]>;
  /**
   * Runs to its end an execution that was asked for. `timeoutMs` is what an invocation may take: the function's own if
   * absent.
   */
  runExecution(name: string, timeoutMs?: number): Promise<EndedExecution>;
} & AsyncDisposable;

/**
 * A stack on this machine as it would be deployed: the functions from their assets, each with the environment that the
 * template gives it and with what Lambda adds, over local services that one endpoint reaches. A function's access key id
 * is its logical id. Throws for what the template has and this does not know.
 */
export async function startStack(options: StackOptions): Promise<LocalStack> {
  const { template, texts = {}, secret } = options;
  const services = await startStackServices(template, secret);
  const resolve = templateValues(template, { endpoint: services.endpoint, texts });
  const running = new AsyncDisposableStack();
  running.use(services);
  const stack = { ...options, services, resolve };
  const processes = new Map<string, HandlerProcess>();
  const processOf = (id: string, given: { readonly timeoutMs?: number } = {}) => {
    const key = `${id} ${given.timeoutMs}`;
    const process =
      processes.get(key) ?? running.use(createHandlerProcess({ ...handlerOf(id, stack), ...given }));
    processes.set(key, process);
    return process;
  };
  return {
    settings: services.settings,
    resolve,
    output: (name) => String(resolve(template.Outputs?.[name]?.Value)),
    asked: services.asked,
    events: services.events,
    glue: services.glue,
    lambda: services.lambda,
    poll: () => startMappings(stack),
    emit: (event) =>
      Promise.all(functionsFor(event, template, resolve).map((id) => processOf(id).invoke(event))),
    runExecution(name, timeoutMs) {
      const asked = services.lambda.requests.find((request) => request.name === name);
      if (asked === undefined) throw new Error(`expected an execution ${name} that was asked for`);
      const [id = ''] = lastOf(asked.function, 'function:').split(':');
      return services.executions.run({
        // Of the version to which the alias points.
        arn: `arn:aws:lambda:${region}:${account}:function:${id}:1/durable-execution/${name}/${randomUUID()}`,
        input: JSON.stringify(asked.input),
        invoke: (event) => processOf(id, timeoutMs === undefined ? {} : { timeoutMs }).invoke(event),
      });
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

type Stack = StackOptions & { readonly services: StackServices; readonly resolve: Resolve };

type FunctionProperties = {
  readonly Code: { readonly S3Key: string };
  readonly Handler: string;
  readonly Timeout: number;
  readonly MemorySize: number;
  readonly Environment: { readonly Variables: Readonly<Record<string, string>> };
};

/** How a function is run. Its file is that of its asset which its handler names. */
function handlerOf(id: string, { template, assets, overrides, onLog, services, resolve }: Stack) {
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
    environment: {
      ...services.settings,
      AWS_ACCESS_KEY_ID: id,
      ...Environment.Variables,
      ...overrides,
    },
    timeoutMs: Timeout * 1_000,
    memoryMb: MemorySize,
    ...(onLog === undefined ? {} : { onLog }),
  };
}

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
      // Lambda asks the queue by the function's own role.
      accessKeyId: mapping.FunctionName,
      secretAccessKey: settings['AWS_SECRET_ACCESS_KEY'] ?? '',
    };
    started.use(
      await startEventSourceMapping({
        ...handler,
        aws: { endpoint, region, credentials },
        queueUrl: `${endpoint}/${account}/${lastOf(mapping.EventSourceArn, ':')}`,
        ...(mapping.BatchSize === undefined ? {} : { batchSize: mapping.BatchSize }),
        ...(mapping.ScalingConfig === undefined
          ? {}
          : { maximumConcurrency: mapping.ScalingConfig.MaximumConcurrency }),
      }),
    );
  }
  return started.move();
}

type RuleProperties = {
  readonly EventPattern: object;
  readonly Targets: readonly { readonly Arn: string; readonly InputTransformer?: object }[];
};

/** The functions that EventBridge invokes with an event as it is: those of rules, that the rules may invoke. */
function functionsFor(event: object, template: Template, resolve: Resolve): readonly string[] {
  return resourcesOf(template, 'AWS::Events::Rule').flatMap(([id, { Properties }]) => {
    const { EventPattern, Targets } = resolve(Properties) as RuleProperties;
    if (!matchesPattern(EventPattern, event)) return [];
    const rule = resolve({ 'Fn::GetAtt': [id, 'Arn'] });
    return Targets.map(({ Arn, InputTransformer }) => {
      const permitted = resourcesOf(template, 'AWS::Lambda::Permission').some(([, { Properties: given }]) => {
        const { FunctionName, SourceArn, Principal } = resolve(given) as Readonly<Record<string, unknown>>;
        return FunctionName === Arn && SourceArn === rule && Principal === 'events.amazonaws.com';
      });
      if (!permitted || InputTransformer !== undefined)
        throw new Error(`${id}: expected a function that may be invoked with the event, got ${Arn}`);
      return lastOf(Arn, ':');
    });
  });
}

const lastOf = (text: string, separator: string): string => text.split(separator).at(-1) ?? '';
