import { Annotations, Duration } from 'aws-cdk-lib';
import type { IScheduleGroup } from 'aws-cdk-lib/aws-scheduler';
import { Construct } from 'constructs';
import {
  type CommonEnvironment,
  type ExpectedSnapshot,
  type FunctionEnvironment,
  sources,
} from '../lib/contract.ts';
import { placeOf, publishedWithinHours, type Schedule } from './config-schedules.ts';
import type { Instance } from './config-schema.ts';
import type { RareDeadLetters } from './queues.ts';
import { startRegularly } from './regular-start.ts';
import type { Storage } from './storage.ts';
import { type FunctionDefaults, SyncFunction } from './sync-function.ts';

type ExpectedSnapshotsProps = FunctionDefaults &
  RareDeadLetters &
  Pick<Instance, 'schedules' | 'functions'> & {
    readonly group: IScheduleGroup;
    readonly environment: CommonEnvironment;
    readonly storage: Storage;
  };

/**
 * A function that checks every hour how old the newest published run of each place is, and whether the platform refuses
 * the token. It reports each problem until the problem is over. It also records when jobs of scheduled functions are
 * due, and reports jobs that did not arrive. It uses the store and the table, so it reports missing snapshots
 * even if nothing else runs.
 *
 * An alarm on a metric of runs is not enough: it looks back at most a week, would be red from the first deployment
 * until the first run, and costs a metric for each place.
 */
export class ExpectedSnapshots extends Construct {
  readonly expected: readonly ExpectedSnapshot[];
  /** The function that checks for missing snapshots. */
  readonly watch: SyncFunction;

  constructor(scope: Construct, id: string, props: ExpectedSnapshotsProps) {
    super(scope, id);
    const { schedules, functions } = props;
    this.expected = schedules.flatMap((schedule) => {
      const hours = publishedWithinHours(schedule, schedules);
      if (hours === undefined) this.warnOf(schedule);
      return hours === undefined ? [] : [{ place: placeOf(schedule), hours }];
    });
    this.watch = this.watchFunction(props);
    startRegularly(this, 'Hourly', {
      ...props,
      starts: this.watch,
      description: 'Looks for missing snapshots and a refused token',
      at: { minute: '0' },
      maxEventAge: Duration.hours(1),
      input: { expected: this.expected, functions: functions.map(({ name }) => name) },
    });
  }

  private watchFunction({ logs, network, environment, storage }: ExpectedSnapshotsProps): SyncFunction {
    const watch = new SyncFunction(this, 'Watch', {
      logs,
      network,
      handler: 'watch-snapshots',
      description: 'Looks for missing snapshots and a refused token',
      timeout: Duration.minutes(2),
      memoryMb: 256,
      // It runs again in an hour.
      retryAttempts: 2,
      environment: { ...environment } satisfies FunctionEnvironment,
    });
    storage.grantRead(watch.role, [...sources.flatMap((source) => [`${source}/*`, `${source}.*`]), STATE]);
    storage.grantWrite(watch.role, [STATE, DUE]);
    storage.grantDelete(watch.role, [DUE]);
    storage.grantRows(watch.role, 'dynamodb:GetItem');
    return watch;
  }

  private warnOf(schedule: Schedule): void {
    Annotations.of(this).addWarningV2(
      `platform-sync:snapshot-missing-${placeOf(schedule)}`,
      `a missing snapshot of ${placeOf(schedule)} will not raise an alarm, because the time between its runs is unknown (failures still will). Set publishedWithinHours, or a cron that runs at least twice`,
    );
  }
}

/** The object that records since when the snapshots of each schedule are expected. */
const STATE = 'work/expected-snapshots.json';

/** The objects that record which jobs of scheduled functions are due. */
const DUE = 'work/expected-jobs/*';
