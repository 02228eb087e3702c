import { Annotations, Duration, RemovalPolicy, Stack, Token, Validations } from 'aws-cdk-lib';
import { Grant, type IRole, Policy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Alias } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { type CommonEnvironment, type FunctionEnvironment, sources } from '../lib/contract.ts';
import { acknowledgeWildcard, belowArn } from './nag.ts';
import type { RareDeadLetters } from './queues.ts';
import type { Storage } from './storage.ts';
import { type FunctionDefaults, MAX_TIMEOUT, SyncFunction } from './sync-function.ts';
import type { TokenSecret } from './token-secret.ts';

export type SnapshotsProps = FunctionDefaults &
  RareDeadLetters & {
    readonly environment: CommonEnvironment;
    readonly storage: Storage;
    readonly secret: TokenSecret;
  };

/** Maximum duration of a run. A longer run would overlap with the run of the next night. */
const EXECUTION_TIMEOUT = Duration.hours(23);

/** How long Lambda retains the name of an execution: as long as the ledger has the job's row. */
const RETENTION = Duration.days(30);

/** The regions in which Lambda has durable functions. Source: AWS's announcements of 2025-12. */
const DURABLE_REGIONS: readonly string[] = [
  ...[
    'us-east-1',
    'us-east-2',
    'us-west-2',
    'eu-central-1',
    'eu-north-1',
    'eu-south-1',
    'eu-south-2',
    'eu-west-1',
  ],
  ...['ap-east-1', 'ap-northeast-1', 'ap-south-1', 'ap-southeast-1', 'ap-southeast-2', 'ap-southeast-5'],
  'ap-southeast-7',
];

/** Snapshots as durable executions. Jobs start them through an alias, so a run stays on the version that started it. */
export class Snapshots extends Construct {
  readonly snapshot: SyncFunction;
  /** The alias that starts executions, since Lambda starts them only by a qualified ARN. */
  readonly alias: Alias;

  constructor(scope: Construct, id: string, props: SnapshotsProps) {
    super(scope, id);
    const { environment, storage, secret, network, logs } = props;
    this.snapshot = new SyncFunction(this, 'Snapshot', {
      network,
      logs,
      handler: 'snapshot',
      description: 'Takes snapshots, each a durable execution',
      timeout: MAX_TIMEOUT,
      memoryMb: 1_024,
      // It gets the inputs of executions that failed, timed out or were stopped, since Lambda does not retry them.
      deadLetterQueue: props.rareDeadLetters,
      durableConfig: { executionTimeout: EXECUTION_TIMEOUT, retentionPeriod: RETENTION },
      environment: { ...environment } satisfies FunctionEnvironment,
    });
    Validations.of(this.snapshot.function).acknowledge({
      id: 'Annotation::aws-lambda:Function.DurableConfig',
      reason: 'It has been durable since its first deployment.',
    });
    this.warnOfRegion();
    const { role } = this.snapshot;
    secret.grantRead(role);
    grantObjects(storage, role);
    storage.grantRows(role, 'dynamodb:GetItem', 'dynamodb:PutItem');
    this.grantCheckpoints();
    const version = this.snapshot.function.currentVersion;
    // Old versions are retained for running snapshots. The version of a failed update is deleted, since Lambda would
    // refuse to create it again.
    version.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
    this.alias = new Alias(this, 'Live', { aliasName: 'live', version });
  }

  /** Grants starting executions through the alias. */
  grantStart(grantee: SyncFunction['role']): void {
    Grant.addToPrincipal({
      grantee,
      actions: ['lambda:InvokeFunction'],
      resourceArns: [this.alias.functionArn],
    });
  }

  /** Warns about a region that may not have durable functions. */
  private warnOfRegion(): void {
    const { region } = Stack.of(this);
    if (Token.isUnresolved(region) || DURABLE_REGIONS.includes(region)) return;
    Annotations.of(this).addWarningV2(
      'platform-sync:durable-functions',
      `snapshots are durable executions of Lambda, which AWS announced for ${DURABLE_REGIONS.join(', ')}, and in April 2026 for 16 further regions that are not listed here. Before the first deployment, check whether ${region} has them. If not, CloudFormation refuses DurableConfig; take snapshots with the commands on a machine there`,
    );
  }

  /**
   * Grants the permissions for checkpoints, in a separate policy, since they refer to the function. The role's default
   * policy cannot refer to the function, because the function depends on that policy.
   */
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
    const reason =
      'The executions of one function. Their names have the version and the run, which are not known in advance.';
    acknowledgeWildcard(policy, belowArn(snapshot, ':*'), reason);
  }
}

function grantObjects(storage: Storage, role: IRole): void {
  storage.grantRead(role);
  storage.grantWrite(role, [
    'work/*',
    'changes/*',
    'table.json',
    ...RUN_PATTERNS.map((place) => `${place}/*`),
  ]);
  // Open parts are deleted once complete parts replace them, and changes if another publisher was faster.
  storage.grantDelete(role, [
    'work/*/open-*',
    'changes/*',
    ...RUN_PATTERNS.map((place) => `${place}/_tagged.json`),
  ]);
  // A run that becomes the newest one again loses its tag.
  storage.grantTag(role, ['changes/*', 'parquet/*/dt=*', ...RUN_PATTERNS.map((place) => `${place}/dt=*`)]);
}

/** The key patterns of runs: one for each source, which includes its narrowed snapshots. */
const RUN_PATTERNS = sources.map((source) => `${source}*`);
