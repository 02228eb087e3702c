import { CfnOutput, Stack, Tags } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import type { FunctionEnvironment } from '../lib/contract.ts';
import { Alarms } from './alarms.ts';
import { capacityOf, fewestWorkers } from './capacity.ts';
import { Catalog } from './catalog.ts';
import type { Instance } from './config-schema.ts';
import { Dashboard } from './dashboard.ts';
import { EventRules } from './event-rules.ts';
import { ExpectedSnapshots } from './expected-snapshots.ts';
import { Jobs } from './jobs.ts';
import { checkLimits } from './limits-check.ts';
import { ownMetrics } from './metrics.ts';
import { Network } from './network.ts';
import { followersOf, Schedules } from './schedules.ts';
import { Snapshots } from './snapshots.ts';
import { Storage } from './storage.ts';
import { Texts } from './texts.ts';
import { TokenSecret } from './token-secret.ts';

/** The default that the design names. */
const WORKERS = 10;

/** All that serves one instance of the platform. */
export class PlatformSync extends Construct {
  constructor(scope: Construct, id: string, instance: Instance) {
    super(scope, id);
    checkLimits(this);
    const { schedules, lifetimes, allow } = instance;
    const storage = new Storage(this, 'Storage', instance);
    const secret = new TokenSecret(this, 'TokenSecret', instance);
    const catalog = new Catalog(this, 'Catalog', { bucket: storage.bucket });
    const defaults = {
      network: instance.fixedAddress ? new Network(this, 'Network', instance) : undefined,
      logRetention: lifetimes.logs,
    };
    const snapshots = schedules.length;
    const workers = instance.workers ?? Math.max(WORKERS, fewestWorkers({ snapshots }));
    const environment = commonEnvironment(instance, {
      storage,
      secret,
      workers,
      stackName: Stack.of(this).stackName,
    });
    const parts = { ...defaults, environment, storage, secret };
    const snapshot = new Snapshots(this, 'Snapshots', { ...parts, catalog });
    const jobs = new Jobs(this, 'Jobs', {
      ...parts,
      capacity: capacityOf({ ...instance, workers, snapshots }),
      allow,
      snapshots: snapshot,
      followers: followersOf(schedules),
    });
    const texts = new Texts(this, 'Texts', { ...defaults, environment, storage, jobs: jobs.queue });
    const timetable = new Schedules(this, 'Schedules', { schedules, jobs: jobs.queue });
    const events = new EventRules(this, 'Events', { rules: instance.eventRules, jobs });
    this.watch(instance, { jobs, texts, snapshot, timetable, events });
    this.addOutputs({
      Store: storage.location,
      TableName: storage.table.tableName,
      QueueUrl: jobs.queue.queueUrl,
      FunctionsQueueUrl: jobs.functionsQueue.queueUrl,
      DeadLetterUrl: jobs.deadLetters.queueUrl,
      TokenSecretArn: secret.arn,
      GlueDatabase: catalog.databaseName,
      SnapshotFunction: snapshot.alias.functionArn,
    });
    this.addTags({ 'platform-sync': instance.name, ...instance.tags });
  }

  private addTags(tags: Readonly<Record<string, string>>): void {
    for (const [key, value] of Object.entries(tags)) Tags.of(this).add(key, value);
  }

  /** Adds the alarms and the dashboard. */
  private watch(instance: Instance, { jobs, texts, snapshot, timetable, events }: Watched): void {
    const metrics = ownMetrics(Stack.of(this).stackName);
    const functions = {
      'run-jobs': jobs.runJobs,
      'run-jobs (code functions)': jobs.runFunctions,
      'split-texts': texts.splitTexts,
      snapshot: snapshot.snapshot,
    };
    const { expected } = new ExpectedSnapshots(this, 'ExpectedSnapshots', {
      ...instance,
      group: timetable.group,
    });
    const alarms = new Alarms(this, 'Alarms', {
      ...instance,
      expected,
      metrics,
      queues: [jobs.queue, jobs.functionsQueue],
      deadLetters: {
        JobsDeadLetters: jobs.deadLetters,
        TextsDeadLetters: texts.deadLetters,
        SnapshotsDeadLetters: snapshot.deadLetters,
        SchedulesDeadLetters: timetable.deadLetters,
        EventsDeadLetters: events.deadLetters,
      },
      functions: Object.values(functions),
    });
    new Dashboard(this, 'Dashboard', {
      schedules: instance.schedules,
      metrics,
      alarms: alarms.all,
      queues: { jobs: jobs.queue, 'code functions': jobs.functionsQueue },
      functions,
    });
  }

  /** The settings for commands on a laptop. */
  private addOutputs(outputs: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }
}

type Watched = {
  readonly jobs: Jobs;
  readonly texts: Texts;
  readonly snapshot: Snapshots;
  readonly timetable: Schedules;
  readonly events: EventRules;
};

type Places = {
  readonly storage: Storage;
  readonly secret: TokenSecret;
  readonly workers: number;
  readonly stackName: string;
};

const commonEnvironment = (
  { baseUrl, tokenHeader, rate, concurrency, timeoutMs, compression, logLevel }: Instance,
  { storage, secret, workers, stackName }: Places,
) =>
  ({
    PLATFORM_BASE_URL: baseUrl,
    PLATFORM_TOKEN_SECRET: secret.arn,
    ...(tokenHeader === undefined ? {} : { PLATFORM_TOKEN_HEADER: tokenHeader }),
    PLATFORM_RATE: String(rate),
    PLATFORM_CONCURRENCY: String(concurrency),
    PLATFORM_WORKERS: String(workers),
    ...(timeoutMs === undefined ? {} : { PLATFORM_TIMEOUT_MS: String(timeoutMs) }),
    SYNC_STORE: storage.location,
    SYNC_COMPRESSION: compression,
    SYNC_TABLE: storage.table.tableName,
    SYNC_STACK: stackName,
    LOG_LEVEL: logLevel,
  }) satisfies FunctionEnvironment;
