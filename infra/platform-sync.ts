import { CfnOutput, Names, Stack, Tags, Token } from 'aws-cdk-lib';
import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { PermissionsBoundary } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { FunctionEnvironment } from '../lib/contract.ts';
import type { GivenTopics } from './alarm-topics.ts';
import { Alarms } from './alarms.ts';
import { capacityOf, fewestWorkers } from './capacity.ts';
import { Catalog } from './catalog.ts';
import { ConfigError, readSettings } from './config.ts';
import type { CompleteSettings } from './config-schema.ts';
import { Dashboard } from './dashboard.ts';
import { linksOf } from './dashboard-links.ts';
import { EventRules } from './event-rules.ts';
import { ExpectedSnapshots } from './expected-snapshots.ts';
import { Jobs } from './jobs.ts';
import { checkLimits } from './limits-check.ts';
import { ownMetrics } from './metrics.ts';
import { Network } from './network.ts';
import { type AnyProps, partsOf, resourceFaults } from './platform-sync-props.ts';
import { Policies, PUBLISHED } from './policies.ts';
import { followersOf, Schedules } from './schedules.ts';
import { Snapshots } from './snapshots.ts';
import { Storage } from './storage.ts';
import { Texts } from './texts.ts';
import { TokenSecret } from './token-secret.ts';

/** The default that the design names. */
const WORKERS = 10;

/**
 * Switches of CDK that its own new apps have too: with them the construct is the same in every app. (Without the first,
 * access logs would need an ACL, which their bucket refuses.)
 */
const SWITCHES = [
  '@aws-cdk/aws-s3:serverAccessLogsUseBucketPolicy',
  '@aws-cdk/aws-iam:minimizePolicies',
  '@aws-cdk/core:checkSecretUsage',
];

/**
 * All that serves one instance of the platform. Several may be in one stack: a construct has names of its own unless it
 * is directly in a stack under the id `Default`, which then is all about it and lends it its name. Throws `ConfigError`
 * with every fault of its props.
 */
export class PlatformSync extends Construct {
  /** Where snapshots and results are stored: `location` as SYNC_STORE names it. */
  readonly bucket: IBucket;
  readonly location: string;
  readonly table: ITable;
  /** Jobs of all types, code functions only, and the dead letters of both. */
  readonly queues: Readonly<Record<'jobs' | 'functions' | 'deadLetters', IQueue>>;
  /** Each by what it does; `runFunctions` runs code functions. */
  readonly functions: Readonly<
    Record<'runJobs' | 'runFunctions' | 'splitTexts' | 'snapshot', LambdaFunction>
  >;
  /** What people may do, to attach to their roles. */
  readonly policies: Policies;
  readonly alarms: Readonly<Record<string, Alarm>>;

  constructor(scope: Construct, id: string, props: AnyProps) {
    super(scope, id);
    for (const name of SWITCHES) this.node.setContext(name, true);
    checkLimits(this);
    const serviceName = serviceNameOf(this);
    const instance = this.read(props, serviceName);
    const { resources } = partsOf(props);
    const base = this.base(instance, resources, serviceName);
    const { storage, secret, catalog } = base;
    const work = this.work(instance, base);
    const { jobs, texts, snapshot } = work;
    this.bucket = storage.bucket;
    this.location = storage.location;
    this.table = storage.table;
    this.queues = { jobs: jobs.queue, functions: jobs.functionsQueue, deadLetters: jobs.deadLetters };
    this.functions = {
      runJobs: jobs.runJobs.function,
      runFunctions: jobs.runFunctions.function,
      splitTexts: texts.splitTexts.function,
      snapshot: snapshot.snapshot.function,
    };
    this.policies = new Policies(this, 'Policies', { storage, catalog, queues: this.queues });
    storage.letRead(instance.readers, PUBLISHED);
    this.alarms = this.watch(instance, {
      ...work,
      serviceName,
      topics: resources.topics,
      workGroupName: catalog.workGroupName,
    });
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
    const { permissionsBoundary } = resources;
    if (permissionsBoundary !== undefined) PermissionsBoundary.of(this).apply(permissionsBoundary);
  }

  /** What everything works with. */
  private base(instance: CompleteSettings, resources: Resources, serviceName: string) {
    const logs = { ...resources.logs, retention: instance.lifetimes.logs };
    const storage = new Storage(this, 'Storage', { ...instance, ...resources.storage });
    const secret = new TokenSecret(this, 'TokenSecret', { ...instance, ...resources.secret });
    const catalog = new Catalog(this, 'Catalog', { bucket: storage.bucket, prefix: storage.root });
    const isConnected = instance.fixedAddress !== false || resources.network.vpc !== undefined;
    const network = isConnected
      ? new Network(this, 'Network', { ...instance, ...resources.network, logs })
      : undefined;
    const snapshots = instance.schedules.length;
    const workers = instance.workers ?? Math.max(WORKERS, fewestWorkers({ snapshots }));
    const environment = commonEnvironment(instance, { storage, secret, workers, serviceName });
    const capacity = capacityOf({ ...instance, workers, snapshots });
    return { logs, network, storage, secret, catalog, environment, capacity };
  }

  /** What works, and what starts work. */
  private work({ schedules, allow, eventRules }: CompleteSettings, base: Base): Work {
    const { logs, network, environment, storage, secret, catalog, capacity } = base;
    const parts = { logs, network, environment, storage, secret };
    const snapshot = new Snapshots(this, 'Snapshots', { ...parts, catalog });
    const followers = followersOf(schedules);
    const jobs = new Jobs(this, 'Jobs', { ...parts, capacity, allow, snapshots: snapshot, followers });
    const texts = new Texts(this, 'Texts', { logs, network, environment, storage, jobs: jobs.queue });
    const timetable = new Schedules(this, 'Schedules', { schedules, jobs: jobs.queue });
    const events = new EventRules(this, 'Events', { rules: eventRules, jobs });
    return { jobs, texts, snapshot, timetable, events };
  }

  /** The settings, checked; what the stack knows of its place counts in these checks. */
  private read(props: AnyProps, serviceName: string): CompleteSettings {
    const where = `PlatformSync ${this.node.path}`;
    const faults = resourceFaults(props);
    const { account, region } = Stack.of(this);
    try {
      const instance = readSettings({
        settings: { name: tagOf(serviceName), ...partsOf(props).settings },
        where,
        home: { account: known(account), region: known(region) },
      });
      if (faults.length === 0) return instance;
    } catch (error) {
      if (error instanceof ConfigError) throw new ConfigError([...error.faults, ...faults], where);
      throw error;
    }
    throw new ConfigError(faults, where);
  }

  private addTags(tags: Readonly<Record<string, string>>): void {
    for (const [key, value] of Object.entries(tags)) Tags.of(this).add(key, value);
  }

  /** Adds the alarms and the dashboard. */
  private watch(
    instance: CompleteSettings,
    watched: Work & {
      readonly serviceName: string;
      readonly topics: GivenTopics | undefined;
      readonly workGroupName: string;
    },
  ): Readonly<Record<string, Alarm>> {
    const { jobs, texts, snapshot, timetable, events, serviceName, topics = {}, workGroupName } = watched;
    const metrics = ownMetrics(serviceName);
    const functions = {
      'run-jobs': jobs.runJobs,
      'run-jobs (code functions)': jobs.runFunctions,
      'split-texts': texts.splitTexts,
      snapshot: snapshot.snapshot,
    };
    const { expected } = new ExpectedSnapshots(this, 'ExpectedSnapshots', {
      ...instance,
      group: timetable.group,
      serviceName,
    });
    const deadLetters = {
      JobsDeadLetters: jobs.deadLetters,
      TextsDeadLetters: texts.deadLetters,
      SnapshotsDeadLetters: snapshot.deadLetters,
      SchedulesDeadLetters: timetable.deadLetters,
      EventsDeadLetters: events.deadLetters,
    };
    const alarms = new Alarms(this, 'Alarms', {
      ...instance,
      expected,
      topics,
      metrics,
      queues: [jobs.queue, jobs.functionsQueue],
      deadLetters,
      functions: Object.values(functions),
    });
    new Dashboard(this, 'Dashboard', {
      serviceName,
      links: linksOf(this, { deadLetters, workGroupName, runbook: instance.alarms.runbook }),
      schedules: instance.schedules,
      metrics,
      alarms: alarms.all,
      queues: { jobs: jobs.queue, 'code functions': jobs.functionsQueue },
      functions,
    });
    return Object.fromEntries(alarms.all.map((alarm) => [alarm.node.id, alarm]));
  }

  /** The settings for commands on a laptop. */
  private addOutputs(outputs: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }
}

type Work = {
  readonly jobs: Jobs;
  readonly texts: Texts;
  readonly snapshot: Snapshots;
  readonly timetable: Schedules;
  readonly events: EventRules;
};

type Resources = ReturnType<typeof partsOf>['resources'];
type Base = ReturnType<PlatformSync['base']>;

/**
 * What the metrics and executions of a construct are told apart by: the stack's name, if the stack is all about it, and
 * otherwise one that no other construct has.
 */
function serviceNameOf(construct: Construct): string {
  const { scope, id } = construct.node;
  if (scope !== undefined && Stack.isStack(scope) && id === 'Default') return scope.stackName;
  return Names.uniqueResourceName(construct, { ...DASHES, maxLength: 60 });
}

const DASHES = { separator: '-', allowedSpecialCharacters: '-' };

/** The default name of an instance, in the form that names have. */
const tagOf = (serviceName: string) =>
  serviceName
    .toLowerCase()
    .slice(-41)
    .replace(/^[^a-z]+/, '');

const known = (value: string) => (Token.isUnresolved(value) ? undefined : value);

type Places = {
  readonly storage: Storage;
  readonly secret: TokenSecret;
  readonly workers: number;
  readonly serviceName: string;
};

const commonEnvironment = (
  { baseUrl, tokenHeader, rate, concurrency, timeoutMs, compression, logLevel }: CompleteSettings,
  { storage, secret, workers, serviceName }: Places,
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
    SYNC_STACK: serviceName,
    LOG_LEVEL: logLevel,
  }) satisfies FunctionEnvironment;
