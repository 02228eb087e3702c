import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { Grant, Policy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Alias } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { type CommonEnvironment, type FunctionEnvironment, sources } from '../lib/contract.ts';
import type { Catalog } from './catalog.ts';
import { acknowledgeWildcard, belowArn } from './nag.ts';
import { createDeadLetterQueue } from './queues.ts';
import type { Storage } from './storage.ts';
import { type FunctionDefaults, LONGEST, SyncFunction } from './sync-function.ts';
import type { TokenSecret } from './token-secret.ts';

export type SnapshotsProps = FunctionDefaults & {
  readonly environment: CommonEnvironment;
  readonly storage: Storage;
  readonly secret: TokenSecret;
  readonly catalog: Catalog;
};

/** The longest run: what takes longer would meet the next night's. */
const EXECUTION_TIMEOUT = Duration.hours(23);

/** How long Lambda knows an execution by its name: as long as the ledger knows the job. */
const RETENTION = Duration.days(30);

/** Snapshots as durable executions. Jobs start them, by the alias: a run ends on the version on which it began. */
export class Snapshots extends Construct {
  readonly snapshot: SyncFunction;
  /** By which executions are started: Lambda starts them by a qualified ARN alone. */
  readonly alias: Alias;
  /** What started the executions that failed, timed out or were stopped: Lambda does not try them again. */
  readonly deadLetters: Queue;

  constructor(scope: Construct, id: string, props: SnapshotsProps) {
    super(scope, id);
    const { environment, storage, secret, catalog, network, logRetention } = props;
    this.deadLetters = createDeadLetterQueue(this, 'DeadLetters');
    this.snapshot = new SyncFunction(this, 'Snapshot', {
      network,
      logRetention,
      handler: 'snapshot',
      description: 'Takes snapshots, each a durable execution',
      timeout: LONGEST,
      memoryMb: 1_024,
      deadLetterQueue: this.deadLetters,
      durableConfig: { executionTimeout: EXECUTION_TIMEOUT, retentionPeriod: RETENTION },
      environment: {
        ...environment,
        SYNC_GLUE_DATABASE: catalog.databaseName,
      } satisfies FunctionEnvironment,
    });
    Validations.of(this.snapshot.function).acknowledge({
      id: 'Annotation::aws-lambda:Function.DurableConfig',
      reason: 'It is durable from its first deployment on.',
    });
    const { role } = this.snapshot;
    secret.grantRead(role);
    storage.grantRead(role);
    storage.grantWrite(role, ['work/*', ...sources.flatMap((source) => [`${source}/*`, `${source}.*`])]);
    // A manifest is taken back where another publisher was faster.
    storage.grantDelete(
      role,
      sources.flatMap((source) => [`${source}/*/_manifest.json`, `${source}.*/_manifest.json`]),
    );
    storage.table.grant(role, 'dynamodb:GetItem', 'dynamodb:UpdateItem');
    catalog.grantPublish(role);
    this.grantCheckpoints();
    const version = this.snapshot.function.currentVersion;
    // Runs that are under way go on with the version on which they began.
    version.applyRemovalPolicy(RemovalPolicy.RETAIN);
    this.alias = new Alias(this, 'Live', { aliasName: 'live', version });
  }

  /** Lets a role start executions, by the alias alone. */
  grantStart(grantee: SyncFunction['role']): void {
    Grant.addToPrincipal({
      grantee,
      actions: ['lambda:InvokeFunction'],
      resourceArns: [this.alias.functionArn],
    });
  }

  /** Not in the role's own policy: the function waits for that one, and this one names the function. */
  private grantCheckpoints(): void {
    const { role, function: snapshot } = this.snapshot;
    const policy = new Policy(this, 'Checkpoints', {
      roles: [role],
      statements: [
        new PolicyStatement({
          actions: ['lambda:CheckpointDurableExecution', 'lambda:GetDurableExecutionState'],
          resources: [`${snapshot.functionArn}:*`],
        }),
      ],
    });
    const reason = 'The executions of one function, each named by version and run: not known before.';
    acknowledgeWildcard(policy, belowArn(snapshot, ':*'), reason);
  }
}
