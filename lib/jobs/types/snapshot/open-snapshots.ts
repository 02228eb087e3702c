import { createHash } from 'node:crypto';
import { messageOf, once, sleep } from '../../../base/index.ts';
import { parseJson, printJson } from '../../../base/json/index.ts';
import type { Session } from '../../../session.ts';
import { SettingsError } from '../../../settings.ts';
import type { StartExecution, takeDurableSnapshot } from '../../../snapshot/index.ts';
import { linkedSource, readGates, sourceDefinitions, sources } from '../../../snapshot/sources/index.ts';
import type { JobStorage } from '../../job-storage.ts';
import { isObject, readJob } from '../../message/check-message.ts';
import type { RunJob } from '../../send-context.ts';
import { type SnapshotJob, snapshotChecks } from './message.ts';

/**
 * Opens the runner of snapshots, which starts durable executions if a function for them is set. Throws `SettingsError` if
 * SYNC_FOLLOWERS or SYNC_GATES is invalid.
 */
export async function openSnapshots(
  session: Session,
  { store, host }: Pick<JobStorage, 'store' | 'host'>,
): Promise<RunJob<SnapshotJob>> {
  const { settings, call, logger, environment, callCounts, paceCounts } = session;
  const { SYNC_SNAPSHOT_FUNCTION: functionName, SYNC_STACK: stack, SYNC_FOLLOWERS } = settings;
  const followers = readFollowers(SYNC_FOLLOWERS);
  const gates = readGates(settings.SYNC_GATES);
  if (functionName !== undefined) {
    // The SDK is loaded with the first execution.
    const start = once(async () => {
      const { openExecutions } = await import('../../../snapshot/index.ts');
      return openExecutions({ functionName, environment });
    });
    return startSnapshotRunner({ start: async (...args) => (await start())(...args), stack, followers });
  }
  // A deployed worker does not load this.
  const { snapshotRunner } = await import('./runner-here.ts');
  return snapshotRunner({
    now: Date.now,
    random: Math.random,
    sleep,
    call,
    store,
    host,
    compression: settings.SYNC_COMPRESSION,
    partMs: settings.SYNC_PART_SECONDS * 1_000,
    gates,
    callCounts,
    paceCounts,
    warn: (what, err) => logger.warn({ what, err }, 'published with a fault'),
  });
}

/**
 * Creates a runner that starts a snapshot's durable execution, and returns `{started: NAME}`. The same job
 * always has the same name.
 */
export function startSnapshotRunner(options: {
  readonly start: StartExecution;
  /** The deployed stack's name: other stacks in the account may have jobs with the same ids. */
  readonly stack: string;
  /** The snapshots to take after a snapshot of all calculations was published. */
  readonly followers: readonly SnapshotJob[];
}): RunJob<SnapshotJob> {
  const { start, stack, followers } = options;
  return async (job, { signal, beforeSend, onSend }) => {
    const name = executionName(job, stack);
    const input = printExecutionInput(job, followersOf(job, followers));
    await beforeSend();
    onSend();
    await start({ name, input }, signal);
    return { status: 'done', response: printJson({ started: name }) };
  };
}

/** The name of an execution. Neither a stack's name nor an id contains a slash. */
function executionName({ source, id }: Pick<SnapshotJob, 'source' | 'id'>, stack: string): string {
  const hash = createHash('sha256').update(`${stack}/${id}`).digest('hex');
  return `${source}-${hash.slice(0, 40)}`;
}

class ExecutionInputError extends Error {
  override readonly name = 'ExecutionInputError';
  readonly faults: readonly string[];

  constructor(what: string, faults: readonly string[]) {
    super(messageOf(`${what}: ${faults.join('; ')}`));
    this.faults = faults;
  }
}

/** The input of a snapshot's execution: the checked job, and its followers, since a replay must find the same followers. */
const printExecutionInput = (job: SnapshotJob, followers: readonly SnapshotJob[]): string =>
  printJson(followers.length === 0 ? job : { ...job, followers });

/** Parses the input of an execution: the snapshot to take, and its followers. Throws an error with all faults. */
export function parseExecutionInput(input: unknown): Parameters<typeof takeDurableSnapshot>[0] {
  if (!isObject(input)) throw new ExecutionInputError('input', ['expected an object']);
  const { followers, ...job } = input;
  return {
    request: snapshotJobOf('input', job),
    followers: followers === undefined ? [] : snapshotJobsOf('followers', followers),
  };
}

/** Parses a list of snapshot jobs. Throws `ExecutionInputError` with a message that begins with `name`. */
function snapshotJobsOf(name: string, list: unknown): readonly SnapshotJob[] {
  if (!Array.isArray(list)) throw new ExecutionInputError(name, ['expected a list of snapshot jobs']);
  return list.map((each, index) => snapshotJobOf(`${name}[${index}]`, each));
}

function snapshotJobOf(name: string, value: unknown): SnapshotJob {
  if (!isObject(value)) throw new ExecutionInputError(name, ['expected an object']);
  const read = readJob(snapshotChecks, value, { messageId: '' });
  if (read.kind === 'refused') throw new ExecutionInputError(name, read.faults);
  return read.job;
}

/** Parses SYNC_FOLLOWERS: `snapshot` messages that take their ids from another source. Throws `SettingsError`. */
export function readFollowers(text: string | undefined): readonly SnapshotJob[] {
  try {
    return text === undefined ? [] : followersIn(text);
  } catch (error) {
    throw error instanceof ExecutionInputError ? new SettingsError([error.message]) : error;
  }
}

function followersIn(text: string): readonly SnapshotJob[] {
  const followers = snapshotJobsOf('SYNC_FOLLOWERS', jsonOf(text));
  const faults = followers.flatMap((job, index) =>
    linkedSource(job) === undefined ? [`[${index}]: expected ${MAY_FOLLOW}, got ${describeJob(job)}`] : [],
  );
  if (faults.length > 0) throw new ExecutionInputError('SYNC_FOLLOWERS', faults);
  return followers;
}

/** The requests that may be followers, in words. */
const MAY_FOLLOW = sources
  .flatMap((source) => {
    const { ids } = sourceDefinitions[source];
    return ids?.linked === undefined
      ? []
      : [`a snapshot of ${source} in which the field ${ids.field} is not set`];
  })
  .join(' or ');

function describeJob({ source }: SnapshotJob): string {
  const { ids } = sourceDefinitions[source];
  return ids?.linked === undefined ? `one of ${source}` : `one with ${ids.field}`;
}

function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new ExecutionInputError('SYNC_FOLLOWERS', [`expected JSON, got ${text.length} characters`]);
  }
}

/** The followers of a job: the snapshots that take their ids from its source, if it takes the whole source. */
const followersOf = (job: SnapshotJob, followers: readonly SnapshotJob[]): readonly SnapshotJob[] =>
  job.as === undefined ? followers.filter((follower) => linkedSource(follower) === job.source) : [];
