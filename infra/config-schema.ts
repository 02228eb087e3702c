import * as z from 'zod/mini';
import { jobTypes, platformLink, tokenHeader } from '../lib/contract.ts';
import { type EventRuleSchema, eventRuleSchema } from './config-events.ts';
import {
  atSynth,
  awsAccount,
  bucketName,
  email,
  encryption,
  filled,
  fixedAddress,
  folders,
  isToken,
  keyArn,
  name,
  networkId,
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
  whole,
} from './config-fields.ts';
import { type ScheduleSettings, scheduleSchema } from './config-schedules.ts';
import { endpointServices } from './endpoints.ts';
import { severities } from './severities.ts';

/** The retentions that CloudWatch Logs accepts. */
const logDays = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

/** How long things are stored, in days. Rows of the ledger stay 30 days, scores in the cache and rows of batches 90. */
const lifetimesFields = {
  /** Unfinished runs, staged texts and responses: longer than the 14 days that a message may wait. */
  work: z._default(whole(15, 3_650), 30),
  /** Versions of an object that are no longer the newest, and deleted objects. */
  oldVersions: z._default(whole(1, 3_650), 30),
  /** Results of jobs. */
  results: z._default(atSynth(whole(1, 3_650)), 90),
  /** Requests to score, and anything else in `inbox/`. */
  texts: z._default(whole(15, 3_650), 90),
  /** Scores of texts: the texts themselves go earlier. */
  scores: z._default(whole(15, 3_650), 365),
  /** Messages that could not become jobs, and why. */
  refused: z._default(whole(1, 3_650), 90),
  /** Published runs of the schedules, except the newest of each place: forever if absent. */
  runs: z.optional(whole(30, 36_500)),
  /** Logs of the functions: one of the lengths that CloudWatch takes. A gigabyte costs $0.50 when it is written. */
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
  /** For what cannot wait until the morning. */
  page: z.optional(topicArn),
  /** For what somebody should deal with on a working day. */
  ticket: z.optional(topicArn),
  /** For what is good to know; digests go there too. */
  notice: z.optional(topicArn),
};
const topics: TopicsSchema = z.strictObject(topicsFields, {
  error: 'an object of topics by severity: page, ticket, notice',
});
interface TopicsSchema extends z.ZodMiniObject<typeof topicsFields, z.core.$strict> {}

const slackFields = {
  /** Of the workspace, as its connection to AWS shows it. */
  workspaceId: text('the id of a Slack workspace, such as T0123ABCD', /^[0-9A-Z]{1,255}$/),
  /** Of the channel: the end of its link. */
  channelId: text('the id of a Slack channel, such as C0123ABCD', /^[A-Za-z0-9]{1,255}$/),
};
const slack: SlackSchema = z.strictObject(slackFields, { error: 'an object of workspaceId and channelId' });
interface SlackSchema extends z.ZodMiniObject<typeof slackFields, z.core.$strict> {}

const overrideFields = {
  /** It goes off above this. Where another setting says that, not by this one. */
  threshold: z.optional(number(0, 1_000_000_000_000)),
  /** Who is notified of it. Default: as docs/alarms.md lists it. */
  severity: z.optional(z.enum(severities, { error: `one of ${severities.join(', ')}` })),
  /** True leaves it out. Default: false. */
  off: z.optional(z.boolean({ error: 'true or false' })),
};
const override: OverrideSchema = z.strictObject(overrideFields, {
  error: 'an object of threshold, severity and off',
});
interface OverrideSchema extends z.ZodMiniObject<typeof overrideFields, z.core.$strict> {}

const alarmsFields = {
  /** Who is notified of all alarms; AWS asks the address once whether it wants that. Without it: nobody by e-mail. */
  email: z.optional(email),
  /** A topic that is notified of all alarms. Without it: none. */
  topicArn: z.optional(topicArn),
  /** Topics of one severity each; `email`, `slack` and `topicArn` are notified of all alarms. */
  topics: z._default(topics, {}),
  /** A channel in a Slack workspace that has been connected to AWS (Amazon Q Developer in chat applications). */
  slack: z.optional(slack),
  /** Changes of single alarms, by their names. */
  overrides: z._default(z.record(z.string(), override, { error: 'an object of alarms' }), {}),
  /** A bulk request may occupy the queue for days: above this, the oldest job is too old. */
  oldestJobHours: z._default(atSynth(whole(1, 336)), 24),
  /** Above this many texts scored in a day an alarm goes off: each costs credits. */
  sentimentCallsPerDay: z._default(whole(1, 1_000_000_000), 50_000),
  /** The same of tokens. */
  sentimentTokensPerDay: z._default(whole(1, 1_000_000_000_000), 20_000_000),
  /** Where to read the runbook; alarms link to its sections. */
  runbook: z._default(filled('a URL or path of the runbook'), 'infra/RUNBOOK.md'),
};
interface AlarmsSchema extends z.ZodMiniObject<typeof alarmsFields, z.core.$strict> {}
const alarms: AlarmsSchema = z.strictObject(alarmsFields, { error: 'an object of alarms' });

const vpcFields = {
  /** Of the VPC. */
  id: networkId('vpc'),
  /** Its subnets in which the functions are, from which they must reach the platform and AWS. */
  subnets: z.array(networkId('subnet'), { error: 'a list of ids of subnets' }).check(z.minLength(1)),
  /** What the functions may reach. Default: a group of the stack, which lets out only TLS. */
  securityGroups: z.optional(z.array(networkId('sg'), { error: 'a list of ids of security groups' })),
};
interface VpcSchema extends z.ZodMiniObject<typeof vpcFields, z.core.$strict> {}
const vpc: VpcSchema = z.strictObject(vpcFields, { error: 'an object of id and subnets' });

/** What jobs may use, in the form of SYNC_ALLOW. */
const allowFields = {
  /** Job types. Default: all but update-formula, which changes a calculation for everybody. */
  types: z.optional(
    z.array(z.enum(jobTypes, { error: `one of ${jobTypes.join(', ')}` }), { error: 'a list of job types' }),
  ),
  /** Packages whose code functions may run, by UUID. Default: all. */
  packages: z.optional(z.array(uuid('a package'), { error: 'a list of package UUIDs' })),
  /** Functions that may run: PACKAGE/VERSION/FUNCTION for one, FUNCTION for all of that name. Default: all. */
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

/** Where things are in the platform, in the form of PLATFORM_LINKS. */
const linksFields = {
  /** The address of a calculation, such as https://acme.example.com/calculations/{id}. */
  calculation: link,
  /** The address of a card's page. */
  card: link,
  /** The address of a dataset's page. */
  dataset: link,
  /** The address of a data file's page. */
  'data-file': link,
};
interface LinksSchema extends z.ZodMiniObject<typeof linksFields, z.core.$strict> {}
const links: LinksSchema = z.strictObject(linksFields, {
  error: 'an object of calculation, card, dataset and data-file',
});

const proxyFields = {
  /** HTTPS_PROXY of the functions. */
  url: proxyUrl,
  /** NO_PROXY: hosts that are reached without it, such as .amazonaws.com where endpoints are. Default: none. */
  except: z.optional(text('hosts with commas between them', /^[^\s]{1,1000}$/)),
};
const proxy: ProxySchema = z.strictObject(proxyFields, { error: 'an object of url and except' });
interface ProxySchema extends z.ZodMiniObject<typeof proxyFields, z.core.$strict> {}

/** The tag of everything in an instance: its name. */
export const OWN_TAG = 'platform-sync';

/**
 * The settings of one instance. Not in the call that makes a schema of them: the declarations of the package have the words
 * of its members only like this.
 */
const instanceFields = {
  /** The stack is `platform-sync-` and this. */
  name,
  /** Where it is deployed. Default: the account of what it names, if that is one; else of the credentials. */
  account: z.optional(awsAccount),
  /** The same of the region. */
  region: z.optional(region),
  /** The instance of the platform that it serves. Required. */
  baseUrl: origin,
  /** The token in a SecureString of the Parameter Store, which costs nothing. */
  tokenParameter: z.optional(parameter),
  /** The token in a secret that exists. Without either, the stack makes a secret: $0.40 a month. */
  tokenSecretArn: z.optional(secretArn),
  /** The customer managed key that the parameter or the secret is encrypted with, if it is. Default: none. */
  tokenKeyArn: z.optional(keyArn),
  /** The header that carries the token. Default: X-SERVICE-Developer-Token. */
  tokenHeader: z.optional(orToken(tokenHeader, 'the name of a header')),
  /** A bucket that exists, by its name: its rules and versions are yours. Default: one of the stack. */
  bucket: z.optional(bucketName),
  /** The folder of this instance in the bucket that is named. Default: the whole bucket. */
  prefix: z.optional(folders),
  /** What the bucket that is named demands to be asked for when something is put: AES256, aws:kms, or aws:kms: with the ARN of a key. Default: nothing, as most buckets encrypt by themselves. */
  encryption: z.optional(encryption),
  /** A table that an earlier stack left, by its name. Default: one of the stack. */
  table: z.optional(tableName),
  /** A customer managed key for bucket, table and secret of the stack, or of those that are named: $1 a month, and $0.03 for 10,000 uses. Default: keys of AWS, which cost nothing. */
  key: z.optional(keyArn),
  /** Keys that were `key` before, or those of the bucket, the table or the token: what is stored under them can still be read. Default: none. */
  formerKeys: z._default(z.array(keyArn, { error: 'a list of ARNs of KMS keys' }), []),
  /** A network that exists, by its ids. Default: none, or that of fixedAddress. Its NAT gateway and endpoints are yours to pay. */
  vpc: z.optional(vpc),
  /** Interface endpoints of AWS's services that the stack makes in that network, which needs those that it lacks: [network](network.md) lists them. $7.30 a month for each and each subnet. Default: none. */
  endpoints: z._default(
    z.array(z.enum(endpointServices, { error: `one of ${endpointServices.join(', ')}` }), {
      error: 'a list of services',
    }),
    [],
  ),
  /** The proxy through which the functions call the platform and AWS. Default: none. */
  proxy: z.optional(proxy),
  /** A file of PEM certificates that the functions trust besides the public ones, such as of a proxy that looks into TLS. It becomes a layer. Default: none. */
  certificates: z.optional(atSynth(filled('the path of a file of PEM certificates'))),
  /** What happens to buckets, table and fixed address with the stack: retain leaves them, and AWS refuses to delete the table; protect also refuses to delete bucket and stack; destroy deletes all that is in them, for trials. Default: retain. */
  removal: z._default(
    z.enum(['retain', 'protect', 'destroy'], { error: 'retain, protect or destroy' }),
    'retain',
  ),
  /** For so many minutes, 5, 10, 15 or 30, a new version of what takes jobs gets a tenth of the messages, and is rolled back if it fails; $0.10 a month for the alarm of each queue. Default: it takes all at once, and nothing is rolled back. */
  canaryMinutes: z.optional(z.literal([5, 10, 15, 30], { error: '5, 10, 15 or 30' })),
  /** The addresses of things in the platform, with `{id}`: report and digest link there. Default: none. */
  links: z.optional(links),
  /** Requests a second that everything in the instance may send together. Default: 2. */
  rate: z._default(atSynth(number(0.001, 10_000)), 2),
  /** Up to which rate the instance may raise its own while nothing is refused, settling under what it learns. Default: none: `rate` is never exceeded. */
  rateCeiling: z.optional(atSynth(number(0.001, 10_000))),
  /** Requests in flight in one process. Default: 8. */
  concurrency: z._default(atSynth(whole(1, 1_000)), 8),
  /** The most processes at once. Default: 10, or more if the schedules need more. None of them costs while it is idle. */
  workers: z.optional(atSynth(whole(1, 10_000))),
  /** How long a call of the platform takes on average: how many processes take jobs at once follows from it. Default: 1,000. */
  latencyMs: z._default(atSynth(whole(1, 60_000)), 1_000),
  /** The same of a code function. Default: 10,000. */
  codeFunctionMs: z._default(atSynth(whole(1, 330_000)), 10_000),
  /** The time limit of one attempt; code functions have their own, 330,000. Default: 60,000. */
  timeoutMs: z.optional(whole(1_000, 300_000)),
  /** Of parts of snapshots: zstd is a sixth smaller, and takes a quarter less CPU. Default: gzip. */
  compression: z._default(orToken(z.enum(['gzip', 'zstd']), 'gzip or zstd'), 'gzip'),
  /** The least level that is logged. Alarms are made of warnings. Default: info. */
  logLevel: z._default(
    orToken(z.enum(['trace', 'debug', 'info', 'warn']), 'trace, debug, info or warn'),
    'info',
  ),
  /** What jobs may use: every list must allow a job, and a list that is absent allows everything but update-formula. */
  allow: z.optional(allow),
  /** The snapshots that are taken by themselves. Without any, snapshots are taken by jobs and commands alone. Default: none. */
  schedules: z._default(z.array(scheduleSchema, { error: 'a list of schedules' }), []),
  /** Events that become runs of code functions. Any of them needs the queue of code functions: $0.36 a month. Default: none. */
  eventRules: z._default(z.array<EventRuleSchema>(eventRuleSchema, { error: 'a list of event rules' }), []),
  /** Whether code functions have a queue of their own, for $0.36 a month, which event rules need. Turned off, what is on it moves to the queue of all jobs within an hour. Default: if there are any event rules. */
  functionsQueue: z.optional(z.boolean({ error: 'true or false' })),
  /** Whether the texts of requests in the inbox have a queue and a function of half the memory, for $0.36 a month: it pays from 27,000 texts a month, times the rate. Turned off, what is on it moves to the queue of all jobs within an hour. Default: false. */
  textsQueue: z._default(z.boolean({ error: 'true or false' }), false),
  /** Whether the tables of each run are made once it is published, and every night those that lack some. Default: true. */
  writeTables: z._default(z.boolean({ error: 'true or false' }), true),
  /** Whether the report is written after each publication, for $0.10 a month; digests need it too. Default: true. */
  writeReport: z._default(z.boolean({ error: 'true or false' }), true),
  /** Whether there is a dashboard: $3 a month, after the first three of the account. Default: above 20 requests a second. Its queries are saved in CloudWatch either way. */
  dashboard: z.optional(z.boolean({ error: 'true or false' })),
  /** Calls leave from one address that does not change, through a NAT gateway, for about $36 a month: a new one, or one that exists. Default: false: any address. */
  fixedAddress: z._default(fixedAddress, false),
  /** After how many days what expires. Default: as each says. */
  lifetimes: z._default(lifetimes, lifetimes.parse({})),
  /** Who is notified of what. Each metric of an alarm costs $0.10 a month. Default: as each says. */
  alarms: z._default(alarms, alarms.parse({})),
  /** Accounts, or roles of theirs, that may read the published runs and what changed in them. Default: none. */
  readers: z._default(z.array(reader, { error: 'a list of accounts and roles' }), []),
  /** Of every resource, besides `platform-sync` with the name of the instance. Default: none. */
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
          const message = `no name that differs from ${same} in capitals alone: IAM takes one of them`;
          if (same !== undefined) issues.push({ code: 'custom', path: [name], message, input: name });
        }
      }),
    {},
  ),
};

/** One instance of the platform, and the stack that serves it. */
const instanceSchema = z.strictObject(instanceFields, { error: 'an instance' });

export type Instance = z.infer<typeof instanceSchema>;

/** The settings of one instance in a stack of somebody else's, which has the account and the region. */
export const settingsSchema = z.omit(instanceSchema, { account: true, region: true });

/** These, checked and complete. */
export type CompleteSettings = z.infer<typeof settingsSchema>;

/** Nothing in it is changed: lists may be read-only. */
type Unchanged<T> = T extends readonly (infer Item)[]
  ? readonly Unchanged<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Unchanged<T[Name]> }
    : T;

/** The settings of one instance as one writes them: what has a default may be absent. */
export type InstanceSettings = Unchanged<
  Omit<
    z.input<z.ZodMiniObject<typeof instanceFields, z.core.$strict>>,
    'name' | 'schedules' | 'account' | 'region'
  > & {
    /** What everything is tagged with. Default: the name in the construct's metrics. */
    name?: string | undefined;
    /** The snapshots that are taken by themselves. Default: none, so that jobs and commands alone take some. */
    schedules?: ScheduleSettings[] | undefined;
  }
>;

export const configSchema = z.strictObject(
  { instances: z.array(instanceSchema, { error: 'a list of instances' }) },
  { error: 'an object of instances' },
);
