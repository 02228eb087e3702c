import {
  Annotations,
  CfnOutput,
  CfnResource,
  Names,
  Stack,
  Stage,
  Tags,
  Token,
  Tokenization,
} from 'aws-cdk-lib';
import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { PermissionsBoundary } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { IScheduleGroup } from 'aws-cdk-lib/aws-scheduler';
import type { IQueue, Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct, type IConstruct } from 'constructs';
import { type FunctionEnvironment, REPORT_PAGE_KEY } from '../lib/contract.ts';
import type { ExistingTopics } from './alarm-topics.ts';
import { Alarms } from './alarms.ts';
import { allowedTypes } from './allowed-types.ts';
import { capacityOf, minWorkers } from './capacity.ts';
import { Catalog } from './catalog.ts';
import { ConfigError, readSettings } from './config.ts';
import { foreignFields } from './config-arns.ts';
import { type CompleteSettings, OWN_TAG } from './config-schema.ts';
import { Dashboard } from './dashboard.ts';
import { linksOf } from './dashboard-links.ts';
import { configureEgress } from './egress.ts';
import { EventRules } from './event-rules.ts';
import { ExpectedSnapshots } from './expected-snapshots.ts';
import { IdleQueues } from './idle-queues.ts';
import { Jobs } from './jobs.ts';
import { checkLimits } from './limits-check.ts';
import { Network } from './network.ts';
import { type AnyProps, givenValues, partsOf, resourceFaults } from './platform-sync-props.ts';
import { Policies, PUBLISHED } from './policies.ts';
import { createDeadLetterQueue } from './queues.ts';
import { Reports } from './reports.ts';
import { ScheduledFunctions } from './scheduled-functions.ts';
import { followersOf, narrowedPlaces, Schedules } from './schedules.ts';
import { Snapshots } from './snapshots.ts';
import { locationOf, Storage } from './storage.ts';
import { Tables } from './tables.ts';
import { Texts } from './texts.ts';
import { TokenSecret } from './token-secret.ts';

/** The default maximum number of processes. It is higher if the schedules need more. */
const DEFAULT_WORKERS = 10;

/**
 * Above this rate, in requests a second, an instance has a dashboard by default. Below it, the dashboard would be a
 * fifth of the cost or more.
 */
const DASHBOARD_ABOVE_RATE = 20;

/**
 * Feature flags of CDK that new apps have. They are set here, so that the construct is the same in every app. Without
 * the first flag, access logs would need an ACL, which their bucket refuses.
 */
const FEATURE_FLAGS = [
  '@aws-cdk/aws-s3:serverAccessLogsUseBucketPolicy',
  '@aws-cdk/aws-iam:minimizePolicies',
  '@aws-cdk/core:checkSecretUsage',
];

/**
 * Everything that serves one instance of the platform. A stack may have several such constructs, with different names;
 * a construct with the id `Default` directly in a stack has the stack's name. Throws `ConfigError` with every fault of
 * its props.
 */
export class PlatformSync extends Construct {
  /** The bucket of snapshots and results. */
  readonly bucket: IBucket;
  /** The store in the bucket, as in SYNC_STORE: `s3://BUCKET/PREFIX`. */
  readonly location: string;
  /** The table of the ledger, the budget and the score cache. */
  readonly table: ITable;
  /**
   * The queues: `jobs` of all types, `functions` for code functions, `texts` to score, `deadLetters` for messages of
   * these three, and `rareDeadLetters` for everything else that could not be delivered or handled.
   */
  readonly queues: Readonly<Record<'jobs' | 'deadLetters' | 'rareDeadLetters', IQueue>> & {
    readonly functions?: IQueue;
    readonly texts?: IQueue;
  };
  /** The Lambda functions; `runFunctions` runs code functions, `scoreTexts` the jobs of the queue of texts. */
  readonly functions: Readonly<Record<'runJobs' | 'snapshot' | 'watchSnapshots', LambdaFunction>> &
    Readonly<
      Partial<
        Record<
          'runFunctions' | 'scoreTexts' | 'moveJobs' | 'splitTexts' | 'writeTables' | 'writeReport',
          LambdaFunction
        >
      >
    >;
  /** Managed policies for readers, submitters and operators, to attach to their roles. */
  readonly policies: Policies;
  /** The alarms by name. */
  readonly alarms: Readonly<Record<string, Alarm>>;
  /** The instance's name in metrics and executions. */
  readonly serviceName: string;

  constructor(scope: Construct, id: string, props: AnyProps) {
    super(scope, id);
    for (const name of FEATURE_FLAGS) this.node.setContext(name, true);
    checkLimits(this, givenValues(this, props));
    const childrenBefore: ReadonlySet<IConstruct> = new Set(Stack.of(this).node.children);
    const serviceName = serviceNameOf(this);
    this.serviceName = serviceName;
    const instance = this.read(props, serviceName);
    const { resources } = partsOf(props);
    const base = this.base(instance, resources, serviceName);
    const { storage, catalog } = base;
    const work = this.work(instance, base);
    this.bucket = storage.bucket;
    this.location = storage.location;
    this.table = storage.table;
    this.queues = queuesOf(work);
    this.functions = functionsOf(work);
    configureEgress(this, Object.values(this.functions), instance);
    this.policies = new Policies(this, 'Policies', { storage, catalog, queues: this.queues });
    storage.allowReaders(instance.readers, PUBLISHED);
    this.alarms = this.watch(instance, {
      ...work,
      serviceName,
      topics: resources.topics,
      workGroupName: catalog.workGroupName,
    });
    this.addSettings(base, work);
    this.addOutputs({
      ...(this.queues.functions && { FunctionsQueueUrl: this.queues.functions.queueUrl }),
      RareDeadLetterUrl: this.queues.rareDeadLetters.queueUrl,
      WorkGroup: catalog.workGroupName,
      // `npx platform-sync report --link` creates a link to it.
      ...(work.reports && { ReportLocation: `${storage.location}/${REPORT_PAGE_KEY}` }),
    });
    const tags = { [OWN_TAG]: instance.name, ...instance.tags };
    this.addTags(tags);
    const helpers = Stack.of(this).node.children.filter((each) => !childrenBefore.has(each));
    tagHelpers(helpers, tags);
    const { permissionsBoundary } = resources;
    if (permissionsBoundary !== undefined)
      for (const each of [this, ...helpers]) PermissionsBoundary.of(each).apply(permissionsBoundary);
  }

  /** Creates the resources that all functions use. */
  private base(instance: CompleteSettings, resources: Resources, serviceName: string) {
    const logs = { ...resources.logs, retention: instance.lifetimes.logs };
    const key =
      typeof resources.key === 'string' ? Key.fromKeyArn(this, 'GivenKey', resources.key) : resources.key;
    const storage = new Storage(this, 'Storage', { ...instance, ...resources.storage, key });
    const secret = new TokenSecret(this, 'TokenSecret', { ...instance, ...resources.secret, key });
    const catalog = new Catalog(this, 'Catalog', {
      bucket: storage.bucket,
      key: storage.objectKey,
      encryption: instance.encryption,
      prefix: storage.root,
      narrowed: narrowedPlaces(instance.schedules),
      resultsDays: instance.lifetimes.results,
    });
    const isConnected = instance.fixedAddress !== false || resources.network.vpc !== undefined;
    const network = isConnected
      ? new Network(this, 'Network', { ...instance, ...resources.network, logs })
      : undefined;
    const snapshots = instance.schedules.length;
    const workers =
      instance.workers ??
      Math.max(DEFAULT_WORKERS, minWorkers({ snapshots, textsQueue: instance.textsQueue }));
    const environment = commonEnvironment(instance, { storage, secret, serviceName });
    const rate = Math.max(instance.rate, instance.rateCeiling ?? 0);
    const capacity = capacityOf({ ...instance, rate, workers, snapshots });
    return { logs, network, storage, secret, catalog, environment, capacity };
  }

  /** Creates the functions, and everything that starts them. */
  private work(instance: CompleteSettings, base: Base): Work {
    const { schedules, functions, allow, eventRules, canaryMinutes } = instance;
    const { logs, network, environment, storage, secret, catalog, capacity } = base;
    const parts = { logs, network, environment, storage, secret };
    const rareDeadLetters = createDeadLetterQueue(this, 'RareDeadLetters');
    const snapshot = new Snapshots(this, 'Snapshots', { ...parts, rareDeadLetters });
    const functionsQueue = instance.functionsQueue ?? eventRules.length > 0;
    const jobs = new Jobs(this, 'Jobs', {
      ...parts,
      capacity,
      allow,
      snapshots: snapshot,
      followers: followersOf(schedules),
      functionsQueue,
      textsQueue: instance.textsQueue,
      canaryMinutes,
    });
    const texts = allowedTypes(instance).includes('score')
      ? new Texts(this, 'Texts', { ...parts, jobs: (jobs.texts ?? jobs).queue, rareDeadLetters })
      : undefined;
    const { group } = new Schedules(this, 'Schedules', { schedules, jobs: jobs.queue, rareDeadLetters });
    if (jobs.functions !== undefined && eventRules.length > 0)
      new EventRules(this, 'Events', { rules: eventRules, jobs: jobs.functions, rareDeadLetters });
    const scheduled = { ...parts, group, rareDeadLetters };
    const idle =
      jobs.idle.length > 0
        ? new IdleQueues(this, 'IdleQueues', { ...scheduled, idle: jobs.idle, jobs: jobs.queue })
        : undefined;
    const expected = new ExpectedSnapshots(this, 'ExpectedSnapshots', { ...scheduled, schedules, functions });
    new ScheduledFunctions(this, 'ScheduledFunctions', {
      ...scheduled,
      functions,
      jobs: jobs.functions ?? { queue: jobs.queue, worker: jobs.runJobs },
      watch: expected.watch,
    });
    const tables = instance.writeTables ? new Tables(this, 'Tables', { ...scheduled, catalog }) : undefined;
    const reports = instance.writeReport
      ? new Reports(this, 'Reports', { logs, network, environment, storage })
      : undefined;
    return { jobs, texts, snapshot, expected, tables, reports, idle, group, rareDeadLetters };
  }

  /** Reads the settings, and checks them against the account and the region of the stack. */
  private read(props: AnyProps, serviceName: string): CompleteSettings {
    const where = `PlatformSync ${this.node.path}`;
    const faults = [...resourceFaults(props, this), ...this.sharedFaults(props)];
    const { account, region } = Stack.of(this);
    const existing = partsOf(props).resources.storage.bucket;
    const bucket = typeof existing === 'object' ? existing.bucketName : existing;
    const home = { account: ifResolved(account), region: ifResolved(region), ...(bucket && { bucket }) };
    const foreign = foreignFields({ ...props, ...home });
    if (foreign.length > 0)
      Annotations.of(this).addWarningV2(
        'platform-sync:other-accounts',
        `${foreign.join(', ')}: these resources are not in the account ${account}. Their policies must allow this account: its roles must be able to read a secret, its roles and services to use a key, and CloudWatch (and the role of digests) to publish to a topic`,
      );
    try {
      const instance = readSettings({
        settings: { name: defaultNameOf(serviceName), ...partsOf(props).settings },
        where,
        home,
      });
      if (faults.length === 0) return instance;
    } catch (error) {
      if (error instanceof ConfigError) throw new ConfigError([...error.faults, ...faults], where);
      throw error;
    }
    throw new ConfigError(faults, where);
  }

  /** Finds resources that another instance of the app uses: the two would overwrite and prune each other's objects. */
  private sharedFaults(props: AnyProps): readonly string[] {
    const { bucket, prefix } = partsOf(props).resources.storage;
    const location = bucket && locationOf(bucket, prefix);
    const others = this.node.root.node
      .findAll()
      .filter((each): each is PlatformSync => each instanceof PlatformSync && each !== this);
    const isInSameEnvironment = (other: PlatformSync) =>
      Stage.of(other) === Stage.of(this) && Stack.of(other).environment === Stack.of(this).environment;
    return others.flatMap((other) => [
      ...(location !== undefined && other.location === location
        ? [`prefix: expected a folder that no other instance has, got the folder of ${other.node.path}`]
        : []),
      ...(other.serviceName === this.serviceName && isInSameEnvironment(other)
        ? [`stackName: expected a name that no other instance has, got the name of ${other.node.path}`]
        : []),
    ]);
  }

  private addTags(tags: Readonly<Record<string, string>>): void {
    for (const [key, value] of Object.entries(tags)) Tags.of(this).add(key, value);
  }

  /** Adds the alarms and the dashboard. */
  private watch(
    instance: CompleteSettings,
    watched: Work & {
      readonly serviceName: string;
      readonly topics: ExistingTopics | undefined;
      readonly workGroupName: string;
    },
  ): Readonly<Record<string, Alarm>> {
    const { jobs, expected, tables, reports, idle, group, rareDeadLetters } = watched;
    const { serviceName, topics = {}, workGroupName } = watched;
    const { queues, functions } = labelled(watched);
    const deadLetters = {
      JobsDeadLetters: jobs.deadLetters,
      RareDeadLetters: rareDeadLetters,
    };
    const alarms = new Alarms(this, 'Alarms', {
      ...instance,
      expected: expected.expected,
      scheduled: instance.functions.map(({ name }) => name),
      watch: expected.watch,
      tables: tables?.write,
      report: reports?.write,
      move: idle?.move,
      topics,
      serviceName,
      queues: Object.values(queues),
      deadLetters,
      workers: Object.values(functions),
    });
    // Reports start only now: alarms watch their function, and digests are sent to the topics of the alarms.
    reports?.start({ ...instance, group, rareDeadLetters, topics: alarms.topics.of('notice') });
    new Dashboard(this, 'Dashboard', {
      dashboard: instance.dashboard ?? instance.rate > DASHBOARD_ABOVE_RATE,
      serviceName,
      links: linksOf(this, { deadLetters, workGroupName, runbook: instance.alarms.runbook }),
      alarms: Object.values(alarms.all),
      queues,
      functions: {
        ...functions,
        'watch-snapshots': expected.watch,
        ...(tables && { 'write-tables': tables.write }),
        ...(reports && { 'write-report': reports.write }),
        ...(idle && { 'move-jobs': idle.move }),
      },
    });
    for (const [name, alarm] of Object.entries(alarms.all))
      new CfnOutput(this, `Alarm${name}`, { value: alarm.alarmName });
    return alarms.all;
  }

  /**
   * Adds an output for each setting of commands on a laptop. Its description is the name of the setting, by which
   * `env --stack NAME` finds it.
   */
  private addSettings({ environment, catalog }: Base, { snapshot }: Work): void {
    const { LOG_LEVEL: _, ...common } = environment;
    const settings = {
      ...common,
      SYNC_QUEUE_URL: this.queues.jobs.queueUrl,
      SYNC_DEAD_LETTER_URL: this.queues.deadLetters.queueUrl,
      SYNC_GLUE_DATABASE: catalog.databaseName,
      SYNC_SNAPSHOT_FUNCTION: snapshot.alias.functionArn,
    };
    for (const [description, value] of Object.entries(settings))
      new CfnOutput(this, outputName(description), { value, description });
  }

  private addOutputs(outputs: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }
}

/** The name of the output for a setting, such as `QueueUrl` for SYNC_QUEUE_URL. CDK adds the construct's path to it. */
const outputName = (setting: string): string =>
  ({ SYNC_TABLE: 'TableName', PLATFORM_TOKEN_SECRET: 'TokenSecretArn' })[setting] ??
  setting
    .replace(/^[A-Z]+_/, '')
    .toLowerCase()
    .replace(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase());

type Work = {
  readonly jobs: Jobs;
  readonly texts: Texts | undefined;
  readonly snapshot: Snapshots;
  readonly expected: ExpectedSnapshots;
  readonly tables: Tables | undefined;
  readonly reports: Reports | undefined;
  readonly idle: IdleQueues | undefined;
  readonly group: IScheduleGroup;
  readonly rareDeadLetters: Queue;
};

const queuesOf = ({ jobs, rareDeadLetters }: Work): PlatformSync['queues'] => ({
  jobs: jobs.queue,
  deadLetters: jobs.deadLetters,
  rareDeadLetters,
  ...(jobs.functions && { functions: jobs.functions.queue }),
  ...(jobs.texts && { texts: jobs.texts.queue }),
});

const functionsOf = ({
  jobs,
  texts,
  snapshot,
  tables,
  reports,
  idle,
  expected: { watch },
}: Work): PlatformSync['functions'] => ({
  runJobs: jobs.runJobs.function,
  ...(jobs.functions && { runFunctions: jobs.functions.worker.function }),
  ...(jobs.texts && { scoreTexts: jobs.texts.worker.function }),
  ...(texts && { splitTexts: texts.splitTexts.function }),
  watchSnapshots: watch.function,
  ...(tables && { writeTables: tables.write.function }),
  ...(reports && { writeReport: reports.write.function }),
  ...(idle && { moveJobs: idle.move.function }),
  snapshot: snapshot.snapshot.function,
});

/** The queues and functions that alarms watch and the dashboard shows, by their labels in the dashboard. */
const labelled = ({ jobs, texts, snapshot }: Work) => ({
  queues: {
    jobs: jobs.queue,
    ...(jobs.functions && { 'code functions': jobs.functions.queue }),
    ...(jobs.texts && { texts: jobs.texts.queue }),
  },
  functions: {
    'run-jobs': jobs.runJobs,
    ...(jobs.functions && { 'run-jobs (code functions)': jobs.functions.worker }),
    ...(jobs.texts && { 'run-jobs (texts)': jobs.texts.worker }),
    ...(texts && { 'split-texts': texts.splitTexts }),
    snapshot: snapshot.snapshot,
  },
});

type Resources = ReturnType<typeof partsOf>['resources'];
type Base = ReturnType<PlatformSync['base']>;

/**
 * The name of a construct in metrics and executions: the stack's name if the stack has nothing else, or a unique name.
 */
function serviceNameOf(construct: Construct): string {
  const { scope, id } = construct.node;
  if (scope !== undefined && Stack.isStack(scope) && id === 'Default') return scope.stackName;
  return Names.uniqueResourceName(construct, { ...DASHES, maxLength: 60 });
}

const DASHES = { separator: '-', allowedSpecialCharacters: '-' };

/** The default name of an instance: the service name, shortened to a valid name. */
const defaultNameOf = (serviceName: string) =>
  serviceName
    .toLowerCase()
    .slice(-41)
    .replace(/^[^a-z]+/, '');

/** Tags the resources that CDK adds outside of the construct, such as a function that empties buckets. */
function tagHelpers(helpers: readonly IConstruct[], tags: Readonly<Record<string, string>>): void {
  const list = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
  for (const each of helpers.flatMap((helper) => helper.node.findAll()))
    if (CfnResource.isCfnResource(each) && /^AWS::(IAM::Role|Lambda::Function)$/.test(each.cfnResourceType))
      each.addPropertyOverride('Tags', list);
}

const ifResolved = (value: string) => (Token.isUnresolved(value) ? undefined : value);

type EnvironmentParts = {
  readonly storage: Storage;
  readonly secret: TokenSecret;
  readonly serviceName: string;
};

const commonEnvironment = (
  {
    baseUrl,
    tokenHeader,
    links,
    gates,
    prices,
    rate,
    rateCeiling,
    concurrency,
    timeoutMs,
    compression,
    encryption,
    logLevel,
  }: CompleteSettings,
  { storage, secret, serviceName }: EnvironmentParts,
) =>
  ({
    PLATFORM_BASE_URL: baseUrl,
    PLATFORM_TOKEN_SECRET: secret.arn,
    ...(tokenHeader === undefined ? {} : { PLATFORM_TOKEN_HEADER: tokenHeader }),
    ...(links === undefined ? {} : { PLATFORM_LINKS: JSON.stringify(links) }),
    PLATFORM_RATE: String(rate),
    ...(rateCeiling === undefined ? {} : { PLATFORM_RATE_CEILING: String(rateCeiling) }),
    PLATFORM_CONCURRENCY: String(concurrency),
    ...(timeoutMs === undefined ? {} : { PLATFORM_TIMEOUT_MS: Tokenization.stringifyNumber(timeoutMs) }),
    SYNC_STORE: storage.location,
    SYNC_COMPRESSION: compression,
    ...(encryption === undefined ? {} : { SYNC_ENCRYPTION: encryption }),
    ...(prices === undefined ? {} : { PLATFORM_PRICES: JSON.stringify(prices) }),
    ...(gates === undefined ? {} : { SYNC_GATES: JSON.stringify(gates) }),
    SYNC_TABLE: storage.table.tableName,
    SYNC_STACK: serviceName,
    LOG_LEVEL: logLevel,
  }) satisfies FunctionEnvironment;
