import { CommanderError } from 'commander';
import { AwsError, proxyOf, remedyOf, ServiceError } from '../../base/aws/index.ts';
import { errorText, hideUser, PeerMissingError, shortened } from '../../base/index.ts';
import type { SettingName } from '../../contract.ts';
import { sqlitePath } from '../../locations.ts';
import { isStatus, isUnreached, PlatformError } from '../../platform/index.ts';
import { type Environment, SettingsError } from '../../settings.ts';
import { SnapshotStoppedError } from '../../snapshot/sources/index.ts';
import { isFullDisk, StoredObjectError, StoreError, type StoreFailure } from '../../store/index.ts';
import { TableError, type TableFailure } from '../../table/index.ts';
import { QueryError } from '../../tables/index.ts';
import { TextError } from '../../text/index.ts';
import { type ExitStatus, OutputError, shownLines, type Terminal } from '../terminal/terminal.ts';
import { SentOnceError } from './sent-once.ts';
import { UsageError } from './usage-error.ts';

/** Maximum characters of one message. It is enough for 50 faults, or a line of the log. */
export const MAX_MESSAGE_LENGTH = 32_768;

/** Prints an error with advice. Returns how the command ended, and the error as `--json` prints it. */
export function explain(
  error: unknown,
  { err, signal, environment }: Terminal,
): { readonly ended: ExitStatus; readonly error?: ErrorJson } {
  if (error instanceof CommanderError && error.exitCode === 0) return { ended: 'done' };
  // Commander has printed its own error already.
  if (error instanceof CommanderError)
    return { ended: 'usage', error: { kind: 'usage', message: shownLines(error.message) } };
  if (signal.aborted && !(error instanceof SentOnceError)) {
    // The reader closed the output, so no message is needed.
    if (signal.reason instanceof OutputError) return { ended: 'failed' };
    const message = 'interrupted: stopped as requested';
    err(message);
    const { run } = factsOf(error);
    return {
      ended: run === undefined ? 'stopped' : 'incomplete',
      error: { kind: 'interrupted', message, ...(run === undefined ? {} : { run }) },
    };
  }
  const given = errorText(error);
  const message = shownLines(shortened(given, MAX_MESSAGE_LENGTH));
  const advice = remedyFor(error, environment);
  err([`platform-sync: ${message}`, ...(advice === undefined ? [] : [`  ${shownLines(advice)}`])].join('\n'));
  const kind = isUsage(error) ? 'usage' : 'other';
  const isStopped = signal.aborted && !(signal.reason instanceof OutputError);
  return {
    ended: isUsage(error) ? 'usage' : isStopped ? 'stopped' : 'failed',
    error: { kind, message, ...factsOf(error), ...(advice === undefined ? {} : { advice }) },
  };
}

const USAGE_ERRORS = [SettingsError, UsageError, PeerMissingError, TextError] as const;

function isUsage(error: unknown): boolean {
  if (error instanceof SnapshotStoppedError || error instanceof SentOnceError) return isUsage(error.cause);
  if (USAGE_ERRORS.some((usage) => error instanceof usage)) return true;
  if (error instanceof PlatformError) return error.failure.kind === 'input';
  if (error instanceof QueryError) return error.failure.kind === 'sql';
  if (error instanceof TableError) return error.failure.kind === 'bad-table';
  if (!(error instanceof StoreError)) return false;
  const { failure } = error;
  return failure.kind === 'bad-location' || (failure.kind === 'missing' && failure.what === 'bucket');
}

/**
 * Advice for an error of the platform, the store, the table or another AWS service, or for an error that was caused by
 * such an error. It mentions the settings involved. Undefined if the message is enough.
 */
export function remedyFor(error: unknown, environment: Environment): string | undefined {
  for (const each of causesOf(error)) {
    if (each instanceof SettingsError && each.faults.some((fault) => fault.startsWith('PLATFORM_BASE_URL')))
      return 'to enter and test them: platform-sync init';
    if (each instanceof PlatformError) return aboutPlatform(each, environment);
    const remedy = each instanceof ServiceError ? remedyOf(each.failure.code ?? '') : undefined;
    if (remedy !== undefined) return remedy;
    if (each instanceof StoreError) return aboutStore(each.failure, environment);
    if (each instanceof TableError) return aboutTable(each.failure, environment);
    if (each instanceof AwsError) return aboutAws(each, environment);
    if (isFullDisk(each)) return MAKE_ROOM;
  }
  return undefined;
}

function aboutPlatform({ failure }: PlatformError, environment: Environment): string | undefined {
  const remedy = failure.kind === 'connection' ? remedyOf(failure.code) : undefined;
  if (remedy !== undefined) return remedy;
  if (isUnreached(failure))
    return `check PLATFORM_BASE_URL (${environment['PLATFORM_BASE_URL']}), and that this machine can reach it${through(environment['PLATFORM_BASE_URL'], environment)}`;
  if (!isStatus(failure, 401)) return undefined;
  const secret = environment['PLATFORM_TOKEN_SECRET'];
  return environment['PLATFORM_TOKEN'] || !secret
    ? 'check the token in PLATFORM_TOKEN'
    : `check the token in the secret ${secret} (PLATFORM_TOKEN_SECRET)`;
}

function aboutStore(failure: StoreFailure, environment: Environment): string | undefined {
  const store = environment['SYNC_STORE'] ?? '';
  const isDirectory = !store.startsWith('s3:');
  switch (failure.kind) {
    case 'bad-location':
      return failure.expected.endsWith('that exists')
        ? 'set SYNC_STORE to where the snapshots are, or take the first one: platform-sync snapshot calculations'
        : undefined;
    case 'missing':
      return failure.what === 'bucket' ? missing('the bucket', 'SYNC_STORE', environment) : undefined;
    case 'denied':
      return isDirectory
        ? 'check that you may read and write there, or change SYNC_STORE'
        : denied('SYNC_STORE');
    case 'read-only':
      return failure.code === 'AsOf' ? undefined : 'set SYNC_STORE to a folder that can be written to';
    case 'full':
      return MAKE_ROOM;
    case 'other':
      return isDirectory ? SEE_DISK : undefined;
    case 'unreachable':
      return unreachable('S3', environment);
    default:
      return undefined;
  }
}

const SEE_DISK =
  'the disk, or a limit of this machine, refused the write: see the machine’s log (dmesg), df -h and ulimit -a; what has been stored stays valid';

/**
 * What to do about a full disk. The disk may have no free bytes or no free inodes (`df -i`), or a quota is reached: the
 * error is the same.
 */
const MAKE_ROOM =
  'free some space (see df -h, df -i or quota): platform-sync prune --keep 1 deletes old runs; what has been stored stays valid';

function aboutTable(failure: TableFailure, environment: Environment): string | undefined {
  switch (failure.kind) {
    case 'bad-table':
      return failure.got === 'none' ? missing('the table', 'SYNC_TABLE', environment) : undefined;
    case 'denied':
      return failure.file === undefined
        ? sqlitePath(environment['SYNC_TABLE'] ?? 'sqlite:') === undefined
          ? denied('SYNC_TABLE')
          : 'check that you may write in the folder of the file'
        : `check who owns the file, and make it writable: chmod u+rw ${failure.file}`;
    case 'full':
      return MAKE_ROOM;
    case 'other':
      return sqlitePath(environment['SYNC_TABLE'] ?? 'sqlite:') === undefined ? undefined : SEE_DISK;
    case 'read-only':
      return 'mount the file system so that it can be written to, or move the store to another disk: docs/restore.md, "A store that moved"';
    case 'unreachable':
      return unreachable('DYNAMODB', environment);
    default:
      return undefined;
  }
}

/**
 * The settings whose value is the name or address of an AWS resource: the noun for the resource, and its service as
 * spelled in `AWS_ENDPOINT_URL_SERVICE`.
 */
const AWS_SETTINGS = {
  SYNC_QUEUE_URL: { noun: 'the queue', service: 'SQS' },
  SYNC_DEAD_LETTER_URL: { noun: 'the queue', service: 'SQS' },
  PLATFORM_TOKEN_SECRET: { noun: 'the secret', service: 'SECRETS_MANAGER' },
  SYNC_GLUE_DATABASE: { noun: 'the database', service: 'GLUE' },
  SYNC_EVENT_BUS: { noun: 'the event bus', service: 'EVENTBRIDGE' },
  SYNC_SNAPSHOT_FUNCTION: { noun: 'the function', service: 'LAMBDA' },
} as const satisfies Partial<Record<SettingName, { readonly noun: string; readonly service: string }>>;

const AWS_SETTING_NAMES = Object.keys(AWS_SETTINGS) as readonly (keyof typeof AWS_SETTINGS)[];

function aboutAws({ failure, message }: AwsError, environment: Environment): string | undefined {
  if (failure.kind === 'denied' && message.includes('Lake Formation'))
    return 'grant this role DESCRIBE, SELECT, ALTER, INSERT and DELETE on the tables of SYNC_GLUE_DATABASE in Lake Formation, which is required here besides IAM: docs/athena.md';
  const name = AWS_SETTING_NAMES.find((each) => environment[each] && message.includes(environment[each]));
  if (name === undefined) return undefined;
  const { noun, service } = AWS_SETTINGS[name];
  if (failure.kind === 'missing') return missing(noun, name, environment);
  if (failure.kind === 'denied') return denied(name);
  return failure.kind === 'unreachable' ? `check ${name}; ${unreachable(service, environment)}` : undefined;
}

const missing = (noun: string, setting: SettingName, environment: Environment): string =>
  `create ${noun}, or change ${setting}: it must be in ${regionOf(environment)} of the account of your credentials`;

const denied = (setting: SettingName): string =>
  `check that your AWS credentials are valid, and that they permit access to the value of ${setting}`;

function unreachable(service: string, environment: Environment): string {
  const name = [`AWS_ENDPOINT_URL_${service}`, 'AWS_ENDPOINT_URL'].find((each) => environment[each]);
  const url = name && environment[name];
  const target =
    url === undefined ? `the endpoint in ${regionOf(environment)}` : `${hideUser(url)} (from ${name})`;
  return `check that this machine can reach ${target}${through(url || `https://${service}.amazonaws.com`, environment)}`;
}

function regionOf(environment: Environment): string {
  const name = ['AWS_REGION', 'AWS_DEFAULT_REGION'].find((each) => environment[each]);
  return name === undefined ? 'the region of your profile' : `${environment[name]} (${name})`;
}

function through(url: string | undefined, environment: Environment): string {
  const proxy = url && URL.canParse(url) ? proxyOf(new URL(url), environment) : undefined;
  return proxy === undefined ? '' : `, through the proxy ${proxy} (from HTTPS_PROXY or ALL_PROXY)`;
}

/** An error of a command as `--json` prints it: `{error: …}`. `message` is for people, everything else for machines. */
type ErrorJson = {
  /** The class of the error. */
  readonly kind:
    | ('usage' | 'settings' | 'interrupted' | 'file' | 'other')
    | ('platform' | 'store' | 'object' | 'table' | 'aws' | 'query');
  readonly message: string;
  /** The advice, if the message does not contain it. */
  readonly advice?: string;
  /** The kind of the failure in `lib`, such as `timeout`, `status`, `unreachable`. */
  readonly failure?: string;
  /** The status of the platform's response, and its reference for the error. */
  readonly status?: number;
  readonly reference?: string;
  /** Whether the request may have taken effect; set for a call that is never sent twice. */
  readonly mayHaveTakenEffect?: boolean;
  /** Every fault of the settings. */
  readonly faults?: readonly string[];
  /** The run that can be resumed. */
  readonly run?: string;
};

/** The facts of an error for `--json`; if the error has none, the facts of its cause. */
function factsOf(error: unknown): Partial<ErrorJson> {
  for (const each of causesOf(error)) {
    const facts = ownFactsOf(each);
    if (facts !== undefined) return facts;
  }
  return {};
}

/** An error and its chain of causes. If an error has several causes, only the first is followed. */
function* causesOf(error: unknown): Generator<Error> {
  const causes = new Set<unknown>();
  for (let each = error; each instanceof Error && !causes.has(each); each = causeOf(each)) {
    causes.add(each);
    yield each;
  }
}

const causeOf = (error: Error): unknown => (error instanceof AggregateError ? error.errors[0] : error.cause);

function ownFactsOf(error: Error): Partial<ErrorJson> | undefined {
  if (error instanceof SentOnceError)
    return { ...factsOf(error.cause), mayHaveTakenEffect: error.mayHaveTakenEffect };
  if (error instanceof SnapshotStoppedError) return { ...factsOf(error.cause), run: error.run };
  if (error instanceof SettingsError) return { kind: 'settings', faults: error.faults };
  if (error instanceof UsageError) return { kind: 'usage' };
  if (error instanceof StoredObjectError) return { kind: 'object', failure: error.kind };
  if (error instanceof PlatformError) return factsOfPlatform(error);
  const kind = CLASSES_WITH_FAILURE.find(([of]) => error instanceof of)?.[1];
  const { failure } = error as Error & { readonly failure?: { readonly kind: string } };
  return kind === undefined ? undefined : { kind, failure: failure?.kind ?? 'other' };
}

/** The error classes that have a `failure`, with their kind in the JSON. */
const CLASSES_WITH_FAILURE = [
  [StoreError, 'store'],
  [TableError, 'table'],
  [AwsError, 'aws'],
  [QueryError, 'query'],
  [TextError, 'file'],
] as const;

function factsOfPlatform({ failure }: PlatformError): Partial<ErrorJson> {
  return {
    kind: failure.kind === 'input' ? 'usage' : 'platform',
    failure: failure.kind,
    ...('status' in failure ? { status: failure.status } : {}),
    ...('reference' in failure ? { reference: failure.reference } : {}),
  };
}
