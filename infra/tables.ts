import { Duration } from 'aws-cdk-lib';
import { EventField, Rule, RuleTargetInput } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { IScheduleGroup } from 'aws-cdk-lib/aws-scheduler';
import { Construct } from 'constructs';
import { type CommonEnvironment, type FunctionEnvironment, sources } from '../lib/contract.ts';
import type { Catalog } from './catalog.ts';
import type { RareDeadLetters } from './queues.ts';
import { startRegularly } from './regular-start.ts';
import type { Storage } from './storage.ts';
import { type FunctionDefaults, MAX_TIMEOUT, SyncFunction } from './sync-function.ts';

type TablesProps = FunctionDefaults &
  RareDeadLetters & {
    readonly group: IScheduleGroup;
    readonly environment: CommonEnvironment;
    readonly storage: Storage;
    readonly catalog: Catalog;
  };

/** Builds the tables of each published run, and every night all tables that are missing. */
export class Tables extends Construct {
  readonly write: SyncFunction;

  constructor(scope: Construct, id: string, props: TablesProps) {
    super(scope, id);
    const { logs, network, environment, storage, catalog } = props;
    this.write = new SyncFunction(this, 'Write', {
      logs,
      network,
      handler: 'write-tables',
      description: 'Writes tables as Parquet',
      timeout: MAX_TIMEOUT,
      memoryMb: 2_048,
      // Tables that are still missing are built after the next publication or in the next night.
      retryAttempts: 2,
      environment: { ...environment, SYNC_GLUE_DATABASE: catalog.databaseName } satisfies FunctionEnvironment,
    });
    grantObjects(storage, this.write.role);
    catalog.grantPublish(this.write.role);
    this.startDaily(props);
    this.startAfterPublications(props);
  }

  private startDaily({ group, rareDeadLetters }: TablesProps): void {
    startRegularly(this, 'Daily', {
      group,
      rareDeadLetters,
      starts: this.write,
      description: 'Writes tables as Parquet',
      at: { minute: '30', hour: '1' },
      maxEventAge: Duration.hours(6),
      input: {},
    });
  }

  /**
   * Starts the function after a publication, whose last step is to write `latest.json`. If the event is lost, the
   * tables are built in the next night.
   */
  private startAfterPublications({ storage }: TablesProps): void {
    const keys = sources.map((source) => ({ wildcard: `${storage.root}${source}*/latest.json` }));
    new Rule(this, 'Published', {
      description: 'Runs that are published',
      eventPattern: {
        source: ['aws.s3'],
        detailType: ['Object Created'],
        detail: { bucket: { name: [storage.bucket.bucketName] }, object: { key: keys } },
      },
      targets: [
        new LambdaFunction(this.write.function, {
          maxEventAge: Duration.hours(24),
          event: RuleTargetInput.fromObject({
            published: EventField.fromPath('$.detail.object.key'),
          }),
        }),
      ],
    });
  }
}

function grantObjects(storage: Storage, role: SyncFunction['role']): void {
  const ofRuns = sources.flatMap((source) => [`${source}/*`, `${source}.*`]);
  storage.grantRead(role, ['parquet/*', ...ofRuns]);
  const marks = sources.map((source) => `${source}*/_tag*.json`);
  storage.grantWrite(role, ['parquet/*', ...marks]);
  storage.grantDelete(role, ['parquet/*', ...marks]);
  // The objects of replaced runs are tagged, so that a lifecycle rule deletes them.
  storage.grantTag(role, [
    'changes/*',
    'parquet/*/dt=*',
    ...sources.flatMap((source) => [`${source}/dt=*`, `${source}.*/dt=*`]),
  ]);
}
