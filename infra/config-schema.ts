import * as z from 'zod/mini';
import { gatesSchema, jobTypes, platformLink, pricesSchema, tokenHeader } from '../lib/contract.ts';
import { type EventRuleSchema, eventRuleSchema } from './config-events.ts';
import {
  atSynth,
  awsAccount,
  bucketName,
  email,
  encryption,
  fixedAddress,
  folders,
  integer,
  isToken,
  keyArn,
  name,
  networkId,
  nonBlank,
  number,
  origin,
  orToken,
  parameter,
  proxyUrl,
  reader,
  region,
  secretArn,
  tableName,
  text,
  topicArn,
  uuid,
} from './config-fields.ts';
import { type ScheduledFunctionSchema, scheduledFunctionSchema } from './config-functions.ts';
import { type ScheduleSettings, scheduleSchema } from './config-schedules.ts';
import { endpointServices } from './endpoints.ts';
import { severities } from './severities.ts';

/** The retentions that CloudWatch Logs accepts. */
const logDays = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

/**
 * How long things are stored, in days. Not configurable: rows of the ledger (30 days), scores in the cache and rows
 * of batches (90 days).
 */
const lifetimesFields = {
  /**
   * Days, 15 to 3,650, of unfinished runs, staged texts and responses. The minimum is 15, since a message may wait
   * for 14 days. Default: 30.
   */
  work: z._default(integer(15, 3_650), 30),
  /** Days, 1 to 3,650, of superseded versions of objects, and of deleted objects. Default: 30. */
  oldVersions: z._default(integer(1, 3_650), 30),
  /** Days, 1 to 3,650, of the results of jobs. Default: 90. */
  results: z._default(atSynth(integer(1, 3_650)), 90),
  /** Days, 15 to 3,650, of requests to score, and of anything else in `inbox/`. Default: 90. */
  texts: z._default(integer(15, 3_650), 90),
  /** Days, 15 to 3,650, of the scores of texts; the texts expire earlier. Default: 365. */
  scores: z._default(integer(15, 3_650), 365),
  /** Days, 1 to 3,650, of messages that could not become jobs, with the reasons. Default: 90. */
  refused: z._default(integer(1, 3_650), 90),
  /**
   * Days, 30 to 36,500, of published runs of the schedules, except the newest of each place. Default: they never
   * expire.
   */
  runs: z.optional(integer(30, 36_500)),
  /** Days of the functions' logs: a retention of CloudWatch Logs. Writing a gigabyte costs $0.50. Default: 30. */
  logs: z._default(
    z.number({ error: 'a number of days' }).check(
      z.refine((days) => isToken(days) || logDays.includes(days), {
        error: `one of ${logDays.join(', ')}`,
      }),
    ),
    30,
  ),
};
interface LifetimesSchema extends z.ZodMiniObject<typeof lifetimesFields, z.core.$strict> {}
const lifetimes: LifetimesSchema = z.strictObject(lifetimesFields, { error: 'an object of lifetimes' });

const topicsFields = {
  /** The ARN of a topic for alarms that cannot wait until the morning. Default: none. */
  page: z.optional(topicArn),
  /** The ARN of a topic for alarms that need attention on a working day. Default: none. */
  ticket: z.optional(topicArn),
  /** The ARN of a topic for alarms that need no action, and for digests. Default: none. */
  notice: z.optional(topicArn),
};
const topics: TopicsSchema = z.strictObject(topicsFields, {
  error: 'an object of topics by severity: page, ticket, notice',
});
interface TopicsSchema extends z.ZodMiniObject<typeof topicsFields, z.core.$strict> {}

const slackFields = {
  /** The id of the workspace, such as T0123ABCD, as its connection to AWS shows it. Required. */
  workspaceId: text('the id of a Slack workspace, such as T0123ABCD', /^[0-9A-Z]{1,255}$/),
  /** The id of the channel, such as C0123ABCD: the end of its link. Required. */
  channelId: text('the id of a Slack channel, such as C0123ABCD', /^[A-Za-z0-9]{1,255}$/),
};
const slack: SlackSchema = z.strictObject(slackFields, { error: 'an object of workspaceId and channelId' });
interface SlackSchema extends z.ZodMiniObject<typeof slackFields, z.core.$strict> {}

const overrideFields = {
  /**
   * The alarm goes off above this value. Not allowed for alarms whose threshold has its own setting, such as
   * oldestJobHours. Default: see docs/alarms.md.
   */
  threshold: z.optional(number(0, 1_000_000_000_000)),
  /** The severity of the alarm: page, ticket or notice. Default: see docs/alarms.md. */
  severity: z.optional(z.enum(severities, { error: `one of ${severities.join(', ')}` })),
  /** Whether to turn this alarm off. Default: false. */
  off: z.optional(z.boolean({ error: 'true or false' })),
};
const override: OverrideSchema = z.strictObject(overrideFields, {
  error: 'an object of threshold, severity and off',
});
interface OverrideSchema extends z.ZodMiniObject<typeof overrideFields, z.core.$strict> {}

const alarmsFields = {
  /** An e-mail address that is notified of all alarms; AWS asks it once to confirm. Default: none. */
  email: z.optional(email),
  /** The ARN of a topic that is notified of all alarms. Default: none. */
  topicArn: z.optional(topicArn),
  /** Topics that are notified of the alarms of one severity. Default: none. */
  topics: z._default(topics, {}),
  /**
   * A channel in a Slack workspace that is connected to AWS (Amazon Q Developer in chat applications). Default:
   * none.
   */
  slack: z.optional(slack),
  /** Settings of single alarms, by name. Default: none. */
  overrides: z._default(z.record(z.string(), override, { error: 'an object of alarms' }), {}),
  /**
   * An alarm goes off if the oldest job is older than this many hours, 1 to 336. Choose more if bulk requests may
   * occupy the queue for days. Default: 24.
   */
  oldestJobHours: z._default(atSynth(integer(1, 336)), 24),
  /** An alarm goes off if more texts than this are scored in a day, since each text costs credits. Default: 50,000. */
  sentimentCallsPerDay: z._default(integer(1, 1_000_000_000), 50_000),
  /** An alarm goes off if scoring uses more tokens than this in a day. Default: 20,000,000. */
  sentimentTokensPerDay: z._default(integer(1, 1_000_000_000_000), 20_000_000),
  /** The URL or path of the runbook; alarms link to its sections. Default: infra/RUNBOOK.md. */
  runbook: z._default(nonBlank('a URL or path of the runbook'), 'infra/RUNBOOK.md'),
};
interface AlarmsSchema extends z.ZodMiniObject<typeof alarmsFields, z.core.$strict> {}
const alarms: AlarmsSchema = z.strictObject(alarmsFields, { error: 'an object of alarms' });

const vpcFields = {
  /** The id of the VPC, such as vpc-0a1b2c3d4e5f60718. Required. */
  id: networkId('vpc'),
  /** The ids of the functions' subnets, which must reach the platform and AWS. Required, at least one. */
  subnets: z.array(networkId('subnet'), { error: 'a list of ids of subnets' }).check(z.minLength(1)),
  /** The ids of the functions' security groups. Default: a group of the stack, which allows only outgoing TLS. */
  securityGroups: z.optional(z.array(networkId('sg'), { error: 'a list of ids of security groups' })),
};
interface VpcSchema extends z.ZodMiniObject<typeof vpcFields, z.core.$strict> {}
const vpc: VpcSchema = z.strictObject(vpcFields, { error: 'an object of id and subnets' });

/** What jobs may use, in the form of SYNC_ALLOW. */
const allowFields = {
  /** Job types. Default: all except update-formula, which changes a calculation for all its users. */
  types: z.optional(
    z.array(z.enum(jobTypes, { error: `one of ${jobTypes.join(', ')}` }), { error: 'a list of job types' }),
  ),
  /** Packages whose code functions may run, by UUID. Default: all. */
  packages: z.optional(z.array(uuid('a package'), { error: 'a list of package UUIDs' })),
  /** Functions that may run: PACKAGE/VERSION/FUNCTION for one, FUNCTION for all with that name. Default: all. */
  functions: z.optional(
    z.array(
      text(
        'PACKAGE/VERSION/FUNCTION with the package’s UUID, or FUNCTION',
        /^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\/[^/]+\/[^/]+|[^/\s]+)$/i,
      ),
      { error: 'a list of functions' },
    ),
  ),
};
interface AllowSchema extends z.ZodMiniObject<typeof allowFields, z.core.$strict> {}
export const allow: AllowSchema = z.strictObject(allowFields, {
  error: 'an object of types, packages and functions',
});

const link = orToken(platformLink, 'an address with {id} over https (or http on loopback)');

/** The unit may not be a CDK token, since its length is checked. */
const prices = pricesSchema.check(
  z.refine(({ unit }) => !isToken(unit), { error: 'a value that is known at synth', path: ['unit'] }),
);

/** The addresses of things in the platform, in the form of PLATFORM_LINKS. */
const linksFields = {
  /** The address of a calculation, such as https://acme.example.com/calculations/{id}. Default: none. */
  calculation: link,
  /** The address of a card. Default: none. */
  card: link,
  /** The address of a dataset. Default: none. */
  dataset: link,
  /** The address of a data file. Default: none. */
  'data-file': link,
};
interface LinksSchema extends z.ZodMiniObject<typeof linksFields, z.core.$strict> {}
const links: LinksSchema = z.strictObject(linksFields, {
  error: 'an object of calculation, card, dataset and data-file',
});

const proxyFields = {
  /**
   * The proxy's address without user and path, such as http://proxy.example.com:3128: HTTPS_PROXY of the functions.
   * Required.
   */
  url: proxyUrl,
  /**
   * Hosts that are reached without the proxy, separated by commas, such as .amazonaws.com if there are endpoints:
   * NO_PROXY. Default: none.
   */
  except: z.optional(text('hosts, separated by commas', /^[^\s]{1,1000}$/)),
};
const proxy: ProxySchema = z.strictObject(proxyFields, { error: 'an object of url and except' });
interface ProxySchema extends z.ZodMiniObject<typeof proxyFields, z.core.$strict> {}

/** The name of the tag that every resource of an instance has. Its value is the instance's name. */
export const OWN_TAG = 'platform-sync';

/**
 * The settings of one instance. The object is defined apart from the call that creates the schema, so that the
 * package's type declarations keep the docstrings of its members.
 */
const instanceFields = {
  /** The instance's name: the stack is `platform-sync-NAME`. Required. */
  name,
  /**
   * The id of the account to deploy to. Default: the account of the ARNs in the settings if it is the same in all
   * of them, otherwise the account of the credentials.
   */
  account: z.optional(awsAccount),
  /**
   * The region to deploy to. Default: the region of the ARNs in the settings, otherwise the region of the
   * credentials.
   */
  region: z.optional(region),
  /** The origin of the platform's instance, over https. Required. */
  baseUrl: origin,
  /** The name or ARN of a SecureString in the Parameter Store that has the token; it costs nothing. Default: none. */
  tokenParameter: z.optional(parameter),
  /**
   * The ARN of an existing secret that has the token. Default: none; without tokenParameter, the stack creates a
   * secret, for $0.40 a month.
   */
  tokenSecretArn: z.optional(secretArn),
  /** The ARN of the customer managed key that encrypts the parameter or the secret. Default: none. */
  tokenKeyArn: z.optional(keyArn),
  /** The name of the header that carries the token. Default: X-SERVICE-Developer-Token. */
  tokenHeader: z.optional(orToken(tokenHeader, 'the name of a header')),
  /** The name of an existing bucket; you manage its lifecycle rules and versions. Default: the stack creates one. */
  bucket: z.optional(bucketName),
  /** The folder of this instance in the existing bucket, such as teams/acme. Default: the whole bucket. */
  prefix: z.optional(folders),
  /**
   * The encryption header that the existing bucket requires for each object: AES256, aws:kms, or aws:kms: followed
   * by the ARN of a key. Default: no header, since most buckets encrypt by themselves.
   */
  encryption: z.optional(encryption),
  /** The name of an existing table, left by another stack of this app. Default: the stack creates one. */
  table: z.optional(tableName),
  /**
   * The ARN of a customer managed key for the bucket, the table and the secret, created or existing: $1 a month,
   * and $0.03 for 10,000 uses. Default: keys of AWS, which cost nothing.
   */
  key: z.optional(keyArn),
  /**
   * ARNs of further keys with which stored objects, rows or the token are encrypted, so that they stay
   * readable. Default: none.
   */
  formerKeys: z._default(z.array(keyArn, { error: 'a list of ARNs of KMS keys' }), []),
  /**
   * An existing network, by ids; you pay for its NAT gateway and endpoints. Default: none, or with fixedAddress a
   * network of the stack.
   */
  vpc: z.optional(vpc),
  /**
   * Interface endpoints of AWS services to create in `vpc`: list those that the network needs and does not have yet
   * ([network](network.md)). Each costs $7.30 a month in each subnet. Default: none.
   */
  endpoints: z._default(
    z.array(z.enum(endpointServices, { error: `one of ${endpointServices.join(', ')}` }), {
      error: 'a list of services',
    }),
    [],
  ),
  /** The proxy through which the functions call the platform and AWS. Default: none. */
  proxy: z.optional(proxy),
  /**
   * The path of a file of PEM certificates that the functions trust in addition to the public ones, for example of
   * a proxy that inspects TLS. It becomes a layer. Default: none.
   */
  certificates: z.optional(atSynth(nonBlank('the path of a file of PEM certificates'))),
  /**
   * What happens to buckets, table and fixed address when the stack is deleted. retain: they stay, and AWS refuses
   * to delete the table. protect: AWS also refuses to delete the buckets and the stack. destroy (for trials): they
   * are deleted with all their contents. Default: retain.
   */
  removal: z._default(
    z.enum(['retain', 'protect', 'destroy'], { error: 'retain, protect or destroy' }),
    'retain',
  ),
  /**
   * For this many minutes (5, 10, 15 or 30), a new version of the job functions gets a tenth of the messages, and
   * is rolled back if it fails. The alarm of each queue costs $0.10 a month. Default: a new version gets all
   * messages immediately, and is never rolled back.
   */
  canaryMinutes: z.optional(z.literal([5, 10, 15, 30], { error: '5, 10, 15 or 30' })),
  /** The addresses of things in the platform, with `{id}`. The report and the digest link to them. Default: none. */
  links: z.optional(links),
  /**
   * By place: a run with less than this share of the last run's records, 0 to 1, is refused as shrunk; null: never.
   * Default: 0.5.
   */
  gates: z.optional(gatesSchema),
  /**
   * The price of each call, in the form of PLATFORM_PRICES, so that commands with the stack's settings print costs.
   * Default: none.
   */
  prices: z.optional(prices),
  /** Maximum requests a second of the whole instance. Default: 2. */
  rate: z._default(atSynth(number(0.001, 10_000)), 2),
  /**
   * The instance may raise its rate up to this many requests a second while nothing is throttled; it settles below
   * the limit that it learns. Default: `rate`.
   */
  rateCeiling: z.optional(atSynth(number(0.001, 10_000))),
  /** Maximum requests in flight in one process. Default: 8. */
  concurrency: z._default(atSynth(integer(1, 1_000)), 8),
  /** Maximum concurrent processes; an idle process costs nothing. Default: 10, or more if the schedules need more. */
  workers: z.optional(atSynth(integer(1, 10_000))),
  /**
   * Average duration of a call of the platform in milliseconds. The number of concurrent processes is computed from
   * it. Default: 1,000.
   */
  latencyMs: z._default(atSynth(integer(1, 60_000)), 1_000),
  /** Average duration of a code function in milliseconds, for the same purpose. Default: 10,000. */
  codeFunctionMs: z._default(atSynth(integer(1, 330_000)), 10_000),
  /** Time limit of one attempt of a call, in milliseconds; code functions have 330,000. Default: 60,000. */
  timeoutMs: z.optional(integer(1_000, 300_000)),
  /**
   * Compression of the parts of snapshots, gzip or zstd: zstd is a sixth smaller, and takes a quarter less CPU.
   * Default: gzip.
   */
  compression: z._default(orToken(z.enum(['gzip', 'zstd']), 'gzip or zstd'), 'gzip'),
  /** The lowest log level that is written: trace, debug, info or warn. Alarms need warnings. Default: info. */
  logLevel: z._default(
    orToken(z.enum(['trace', 'debug', 'info', 'warn']), 'trace, debug, info or warn'),
    'info',
  ),
  /**
   * The job types, packages and functions that jobs may use. A job must be allowed by each list. Default:
   * everything except update-formula.
   */
  allow: z.optional(allow),
  /** The snapshots to take on a schedule. Default: none, so only jobs and commands take snapshots. */
  schedules: z._default(z.array(scheduleSchema, { error: 'a list of schedules' }), []),
  /** Code functions to run on a schedule, through the queue of code functions if it exists. Default: none. */
  functions: z._default(
    z.array<ScheduledFunctionSchema>(scheduledFunctionSchema, { error: 'a list of functions on schedules' }),
    [],
  ),
  /**
   * Rules by which EventBridge events run code functions. They need the queue of code functions, for $0.36 a month.
   * Default: none.
   */
  eventRules: z._default(z.array<EventRuleSchema>(eventRuleSchema, { error: 'a list of event rules' }), []),
  /**
   * Whether code functions have a separate queue, for $0.36 a month. Event rules need it. After it is turned off,
   * its messages move to the queue of all jobs within an hour. Default: true if there are event rules.
   */
  functionsQueue: z.optional(z.boolean({ error: 'true or false' })),
  /**
   * Whether the texts of requests in the inbox have a separate queue, and a function with half the memory, for
   * $0.36 a month. It saves money above 27,000 × `rate` texts a month. After it is turned off, its messages move to
   * the queue of all jobs within an hour. Default: false.
   */
  textsQueue: z._default(z.boolean({ error: 'true or false' }), false),
  /** Whether the tables of each run are built after its publication, and missing tables every night. Default: true. */
  writeTables: z._default(z.boolean({ error: 'true or false' }), true),
  /** Whether the report is written after each publication, for $0.10 a month; digests need it too. Default: true. */
  writeReport: z._default(z.boolean({ error: 'true or false' }), true),
  /**
   * Whether to create a dashboard, for $3 a month after the first three of the account. Its queries are saved in
   * CloudWatch in any case. Default: true if `rate` is above 20.
   */
  dashboard: z.optional(z.boolean({ error: 'true or false' })),
  /**
   * Whether calls come from one fixed IP address, through a NAT gateway, for about $36 a month: true for a new
   * address, or the id of an existing address. Default: false.
   */
  fixedAddress: z._default(fixedAddress, false),
  /** How many days things are stored. Default: the defaults of its fields. */
  lifetimes: z._default(lifetimes, lifetimes.parse({})),
  /**
   * The alarms, and who is notified of them. Each metric of an alarm costs $0.10 a month. Default: the defaults of
   * its fields.
   */
  alarms: z._default(alarms, alarms.parse({})),
  /** Ids of accounts, or ARNs of their roles, that may read the published runs and their changes. Default: none. */
  readers: z._default(z.array(reader, { error: 'a list of accounts and roles' }), []),
  /** Tags of every resource, by name, besides `platform-sync` with the instance's name. Default: none. */
  tags: z._default(
    z
      .record(
        text('a tag’s name', /^(?!aws:)[\w .:/=+@-]{1,128}$/),
        text('a tag’s value', /^[\w .:/=+@-]{0,256}$/),
        { error: 'an object of tags' },
      )
      .check(({ value, issues }) => {
        const names = [OWN_TAG, ...Object.keys(value).filter((name) => name !== OWN_TAG)];
        for (const [index, name] of names.entries()) {
          const same = names.slice(0, index).find((each) => each.toLowerCase() === name.toLowerCase());
          const message = `a name that differs from ${same} by more than letter case: IAM keeps only one of the two`;
          if (same !== undefined) issues.push({ code: 'custom', path: [name], message, input: name });
        }
      }),
    {},
  ),
};

/** One instance of the platform, and the stack that serves it. */
const instanceSchema = z.strictObject(instanceFields, { error: 'an instance' });

/** The settings of one instance, checked and with their defaults. */
export type Instance = z.infer<typeof instanceSchema>;

/** The settings of one instance in another app's stack, which determines the account and the region. */
export const settingsSchema = z.omit(instanceSchema, { account: true, region: true });

/** The settings, checked and with their defaults. */
export type CompleteSettings = z.infer<typeof settingsSchema>;

/** A type whose objects and lists are read-only. */
type Unchanged<T> = T extends readonly (infer Item)[]
  ? readonly Unchanged<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Unchanged<T[Name]> }
    : T;

/** The settings of one instance as the user writes them. Settings with a default may be absent. */
export type InstanceSettings = Unchanged<
  Omit<
    z.input<z.ZodMiniObject<typeof instanceFields, z.core.$strict>>,
    'name' | 'schedules' | 'account' | 'region'
  > & {
    /** The instance's name, the value of the tag of every resource. Default: the construct's name in metrics. */
    name?: string | undefined;
    /** The snapshots to take on a schedule. Default: none, so only jobs and commands take snapshots. */
    schedules?: ScheduleSettings[] | undefined;
  }
>;

/** The schema of the context value `platform-sync`. */
export const configSchema = z.strictObject(
  { instances: z.array(instanceSchema, { error: 'a list of instances' }) },
  { error: 'an object of instances' },
);
