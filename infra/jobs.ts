import { Duration, Stack } from 'aws-cdk-lib';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { Grant } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { type CommonEnvironment, type FunctionEnvironment, type JobType, jobTimes } from '../lib/contract.ts';
import { allowedTypes, CHANGES_FORMULAS } from './allowed-types.ts';
import { canaryOf } from './canary.ts';
import type { Capacity } from './capacity.ts';
import type { Instance } from './config-schema.ts';
import { createDeadLetterQueue, createQueue } from './queues.ts';
import type { Snapshots } from './snapshots.ts';
import type { Storage } from './storage.ts';
import { type FunctionDefaults, SyncFunction } from './sync-function.ts';
import type { TokenSecret } from './token-secret.ts';

/** A queue for jobs of some types, and the function that takes its messages. */
export type OwnQueue = { readonly queue: Queue; readonly worker: SyncFunction };

export type JobsProps = FunctionDefaults & {
  readonly environment: CommonEnvironment;
  readonly storage: Storage;
  readonly secret: TokenSecret;
  readonly capacity: Capacity;
  readonly allow: Instance['allow'];
  readonly snapshots: Snapshots;
  /** Whether code functions have a separate queue and function. */
  readonly functionsQueue: boolean;
  /** Whether the texts of requests have a separate queue and function. */
  readonly textsQueue: boolean;
  /** The value of SYNC_FOLLOWERS. */
  readonly followers: string | undefined;
  readonly canaryMinutes: Instance['canaryMinutes'];
};

/**
 * The time limit of an invocation: the maximum time of a code function, time to store the outcome and respond, and 65 s
 * to claim the job and to wait for the pace.
 */
const TIME_LIMIT = Duration.millis(jobTimes.codeFunctionMs + jobTimes.toRespondMs).plus(Duration.seconds(65));

/**
 * Memory in MB. Measured with Node 24: a batch of ten code functions takes at most 226 MB with outputs of 5 MB, and 618
 * MB with outputs of 95 MB, which PLATFORM_MAX_RESPONSE_BYTES allows. With 512 MB, the function would be killed after
 * it sent such jobs, so their outcome would be unknown.
 */
const MEMORY_MB = {
  RunJobs: 1_024,
  // It has one output at a time; an output of 95 MB takes 441 MB.
  RunFunctions: 768,
  // Ten chunks have at most 2 MB, and even ten outputs of 5 MB take only 226 MB.
  ScoreTexts: 512,
};

/** How many times a message may be received. Only a message whose job neither ends nor is refused gets that far. */
const MAX_RECEIVES = 1_000;

/**
 * The queues of jobs and their functions: a queue for jobs of all types, a queue for code functions, to which event
 * rules send, and a queue for the texts of requests. Code functions are taken one at a time, so that a slow one delays
 * no other job. The second and third queue have a function only if the settings use them, since Lambda polls a queue
 * all the time and each poll costs. If they are turned off, the queues stay, with their jobs (`idle`). All queues share
 * one dead-letter queue; its messages return to the queue for all types.
 */
export class Jobs extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;
  readonly runJobs: SyncFunction;
  readonly functions: OwnQueue | undefined;
  readonly texts: OwnQueue | undefined;
  /** Queues without a function. */
  readonly idle: readonly Queue[];

  constructor(scope: Construct, id: string, props: JobsProps) {
    super(scope, id);
    this.deadLetters = createDeadLetterQueue(this, 'DeadLetters');
    this.queue = this.jobsQueue('Queue');
    this.runJobs = this.worker('RunJobs', { queue: this.queue, types: allowedTypes(props) }, props);
    receiverOf(this.runJobs, props).addEventSource(
      new SqsEventSource(this.queue, { ...reporting, batchSize: 10, maxConcurrency: props.capacity.jobs }),
    );
    const functions = this.jobsQueue('FunctionsQueue');
    const texts = this.jobsQueue('TextsQueue');
    this.functions = props.functionsQueue ? this.codeFunctions(functions, props) : undefined;
    this.texts = props.textsQueue ? this.ownTexts(texts, props) : undefined;
    this.idle = [...(this.functions ? [] : [functions]), ...(this.texts ? [] : [texts])];
  }

  private codeFunctions(queue: Queue, props: JobsProps): OwnQueue {
    const types = allowedTypes(props).filter((type) => type === 'run-function' || type === CHANGES_FORMULAS);
    const worker = this.worker('RunFunctions', { queue, types }, props);
    receiverOf(worker, props).addEventSource(
      new SqsEventSource(queue, {
        ...reporting,
        batchSize: 1,
        maxConcurrency: props.capacity.functions,
      }),
    );
    return { queue, worker };
  }

  private ownTexts(queue: Queue, props: JobsProps): OwnQueue {
    const worker = this.worker('ScoreTexts', { queue, types: ['score'] }, props);
    receiverOf(worker, props).addEventSource(
      new SqsEventSource(queue, { ...reporting, batchSize: 10, maxConcurrency: props.capacity.jobs }),
    );
    return { queue, worker };
  }

  private jobsQueue(id: string): Queue {
    return createQueue(this, id, {
      visibilityTimeout: TIME_LIMIT.plus(Duration.seconds(30)),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: MAX_RECEIVES },
    });
  }

  private worker(
    id: keyof typeof DESCRIPTIONS,
    { queue, types }: Work,
    { environment, ...props }: JobsProps,
  ): SyncFunction {
    const { secret, allow, network, logs, snapshots, followers } = props;
    const bus = EventBus.fromEventBusName(this, `${id}Bus`, 'default');
    const worker = new SyncFunction(this, id, {
      network,
      logs,
      handler: 'run-jobs',
      description: `Runs jobs of ${DESCRIPTIONS[id]}`,
      timeout: TIME_LIMIT,
      memoryMb: MEMORY_MB[id],
      environment: {
        ...environment,
        SYNC_QUEUE_URL: queue.queueUrl,
        SYNC_EVENT_BUS: bus.eventBusName,
        SYNC_SNAPSHOT_FUNCTION: snapshots.alias.functionArn,
        ...(followers === undefined ? {} : { SYNC_FOLLOWERS: followers }),
        // A list may be known only at deployment.
        SYNC_ALLOW: Stack.of(this).toJsonString({ ...allow, types }),
      } satisfies FunctionEnvironment,
    });
    const { role } = worker;
    secret.grantRead(role);
    // A worker replaces a message without a job id with a message that has one. The event source mapping deletes the old
    // message.
    queue.grant(role, 'sqs:SendMessage');
    grantWork(role, types, props);
    Grant.addToPrincipal({
      grantee: role,
      actions: ['events:PutEvents'],
      resourceArns: [bus.eventBusArn],
      conditions: { StringEquals: { 'events:source': 'platform-sync' } },
    });
    return worker;
  }
}

/** The receiver of a queue's messages: the function, or the alias by which new versions are introduced gradually. */
const receiverOf = ({ function: worker }: SyncFunction, { canaryMinutes }: JobsProps): IFunction =>
  canaryMinutes === undefined ? worker : canaryOf(worker, canaryMinutes);

const DESCRIPTIONS = { RunJobs: 'all types', RunFunctions: 'code functions', ScoreTexts: 'texts' } as const;

type Work = { readonly queue: Queue; readonly types: readonly JobType[] };

/** Grants everything that jobs of these types read, write and start. */
function grantWork(
  role: SyncFunction['role'],
  types: readonly JobType[],
  { storage, snapshots }: Pick<JobsProps, 'storage' | 'snapshots'>,
): void {
  storage.grantRead(role, ['results/*', 'work/*', 'table.json']);
  storage.grantWrite(role, ['results/*', 'refused/*', 'work/*', 'table.json']);
  if (types.includes('score')) {
    // A chunk that is scored again reads its earlier part; a new summary replaces the earlier summary.
    storage.grantRead(role, ['scores/*']);
    storage.grantWrite(role, ['scores/*']);
    storage.grantDelete(role, ['scores/*']);
    // The rows of the score cache, and of the chunks of a batch.
    storage.grantRows(role, 'dynamodb:BatchGetItem', 'dynamodb:DeleteItem', 'dynamodb:Query');
  }
  if (types.includes('run-function')) {
    // Formulas that a function returned are imported, and compared with earlier imports.
    storage.grantRead(role, ['formulas/imported/*']);
    storage.grantWrite(role, ['formulas/imported/*']);
  }
  if (types.includes(CHANGES_FORMULAS)) storage.grantWrite(role, ['formulas/*']);
  if (types.includes('snapshot')) snapshots.grantStart(role);
  storage.grantRows(role, 'dynamodb:GetItem', 'dynamodb:PutItem');
}

const reporting = { reportBatchItemFailures: true } as const;
