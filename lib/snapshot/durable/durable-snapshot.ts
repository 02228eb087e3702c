import { isPassing, ServiceError } from '../../base/aws/index.ts';
import { backoffMs, errorText, loadPeer } from '../../base/index.ts';
import { type Call, decideRetry, isStatus, PlatformError, type RetryLimits } from '../../platform/index.ts';
import { StoredObjectError, StoreError } from '../../store/index.ts';
import type { Compression, Place } from '../keys.ts';
import type { Manifest } from '../manifest.ts';
import { checkPlatform, OtherPlatformError, refusalWords } from '../publish/gates.ts';
import type { Publication } from '../publish/publish.ts';
import { beginRun, KnownRefusalError, scanOfRun } from '../run/begin-run.ts';
import { type Checkpoint, CheckpointConflictError, readCheckpoint } from '../run/checkpoint.ts';
import { SnapshotStoppedError } from '../run/snapshot-stopped-error.ts';
import { publishTaken, type SnapshotOptions, takeSlice } from '../run/take-run.ts';
import { placeOfRequest, type SnapshotRequest } from '../sources/request.ts';
import type { RunToScan } from '../sources/source-definition.ts';
import type { StartExecution } from './start-execution.ts';

/**
 * The operations of a durable execution. The code that uses them runs again from its beginning in each invocation, and
 * must reach the same steps and waits each time. So it may branch only on the results of steps.
 */
export type DurableSteps = {
  /**
   * Runs `act`, and stores its result, plain JSON, for later invocations. `act` may run twice. After a failure,
   * `afterStepFailure` decides whether to retry it.
   */
  readonly step: <T>(name: string, act: () => Promise<T>) => Promise<T>;
  /** Ends the invocation. A new invocation continues after this time. */
  readonly wait: (ms: number) => Promise<void>;
  /** The milliseconds until the invocation ends. Call it only within a step. */
  readonly remainingMs: () => number;
  /** The time limit of this invocation, in milliseconds. Read it only within a step. */
  readonly limitMs: number;
};

/** What a durable run needs. `host`: the platform's host. */
export type DurableRunOptions = Pick<
  SnapshotOptions,
  'store' | 'callCounts' | 'paceCounts' | 'gates' | 'now' | 'random' | 'partBytes' | 'partMs'
> &
  Pick<RunToScan, 'sleep' | 'pageRows'> & {
    /**
     * Calls the platform. It waits at most `patienceMs` (see `timesOf`), since longer waits take place between steps.
     */
    readonly call: Call;
    readonly compression: Compression;
    readonly host: string;
    /** Called at least once with each run that begins. */
    readonly onBegun?: (begun: { readonly place: Place; readonly run: string }) => void;
    /** Called at least once with each run that ended: it was published or refused, or an error stopped it. */
    readonly onEnded?: (ended: RunEnd) => void;
    /**
     * How long a slice runs, in milliseconds; it ends after the page in progress. Default: a fifth of an invocation.
     */
    readonly sliceMs?: number;
    /**
     * How long the page in progress, its part and the checkpoint may take after that, in milliseconds. Default: as long
     * as a slice.
     */
    readonly marginMs?: number;
  };

/** How a durable run ended. It is small, however large the run is. */
type EndedRun = {
  readonly kind: Publication['kind'];
  readonly place: Place;
  readonly run: string;
  readonly records: number;
  readonly refused: readonly string[];
};

type RunEnd =
  | (EndedRun & {
      readonly tookMs: number;
      readonly parts: number;
      readonly missing: number;
      readonly changes: Manifest['changes'];
      /** Why the run was refused, in words. */
      readonly reasons?: readonly string[];
      /** What is missing or damaged in the last published run, in words. */
      readonly broken?: string | undefined;
    })
  | {
      readonly kind: 'failed';
      readonly place: Place;
      /** The run's name; empty if the run did not begin. */
      readonly run: string;
      readonly tookMs?: number;
      readonly err: SnapshotStoppedError;
    };

type Stage = Pick<Checkpoint, 'run' | 'records' | 'parts'> & { readonly hasEnded: boolean };

/**
 * Divides an invocation's time limit, which is 15 minutes when deployed. A slice (`sliceMs`) and its margin
 * (`marginMs`), 3 minutes each, fit into it twice. A slice that hangs is aborted 15 s before the end (`toSaveMs`), so
 * that its part and the checkpoint can be stored. A call waits at most a minute (`patienceMs`), since waiting between
 * steps costs nothing.
 */
export const timesOf = (limitMs: number) => ({
  sliceMs: Math.floor(limitMs / 5),
  marginMs: Math.floor(limitMs / 5),
  toSaveMs: Math.floor(limitMs / 60),
  patienceMs: Math.floor(limitMs / 15),
});

/** A short wait in milliseconds. Its purpose is to start a new invocation, which has enough time for the next step. */
const PAUSE_MS = 1_000;

/**
 * A snapshot, and the snapshots that follow once it is published. Cards follow calculations, because a run of cards
 * reads from the calculations which datasets to list.
 */
type SnapshotAndFollowers = {
  readonly request: SnapshotRequest;
  readonly followers: readonly SnapshotRequest[];
};

/**
 * Takes a run. If it is published, also takes its followers, one after another. Returns how the run ended, and in
 * `followers` how each follower ended (absent if no follower was taken). If followers were stopped, throws one error
 * that reports all of them.
 */
export async function takeDurableSnapshot(
  { request, followers }: SnapshotAndFollowers,
  steps: DurableSteps,
  options: DurableRunOptions,
): Promise<EndedRun & { readonly followers?: readonly EndedRun[] }> {
  const ended = await takeDurableRun(request, steps, options);
  if (ended.kind !== 'published' || followers.length === 0) return ended;
  const endedAfter: EndedRun[] = [];
  const stopped: unknown[] = [];
  for (const follower of followers) {
    try {
      endedAfter.push(await takeDurableRun(follower, steps, options));
    } catch (error) {
      stopped.push(error);
    }
  }
  if (stopped.length === 0) return { ...ended, followers: endedAfter };
  const reasons = stopped.map((error) => errorText(error)).join('; ');
  throw new AggregateError(stopped, `run ${ended.run} of ${ended.place} was published, but ${reasons}`);
}

/**
 * Takes a run as a durable execution: the beginning, each slice of the scan, and the publication are a step each. The
 * progress is the checkpoint in the store, from which a repeated step resumes. A repeated step cannot duplicate records:
 * it replaces a checkpoint only if that is still the one it resumed from, and the manifest lists only the parts in the
 * last checkpoint. Throws
 * `SnapshotStoppedError` for permanent failures; `--resume` can resume the run.
 */
async function takeDurableRun(
  request: SnapshotRequest,
  steps: DurableSteps,
  options: DurableRunOptions,
): Promise<EndedRun> {
  const place = placeOfRequest(request);
  const { sliceMs, marginMs } = { ...timesOf(steps.limitMs), ...options };
  /**
   * Runs a step, and waits after it if too little time remains for the next one. The decision is part of the stored
   * result: a replay has more time, but must reach the same waits.
   */
  const step = async <T extends object>(name: string, act: () => Promise<T>): Promise<T> => {
    const { result, mustPause } = await steps.step(`${name}-${place}`, async () => ({
      result: await act(),
      mustPause: steps.remainingMs() < sliceMs + marginMs,
    }));
    if (mustPause) await steps.wait(PAUSE_MS);
    return result;
  };
  let [run, startedAt] = ['', ''];
  try {
    ({ run, startedAt } = await step('begin', async () => {
      const { checkpoint } = await beginRun(request, { ...options, platform: options.host });
      options.onBegun?.({ place, run: checkpoint.run });
      return { place, run: checkpoint.run, startedAt: checkpoint.startedAt };
    }));
    for (let slice = 1, hasEnded = false; !hasEnded; slice += 1)
      ({ hasEnded } = await step(`slice-${slice}`, () => takeNextSlice(place, run, steps, options)));
    return await step('publish', () => publish(request, run, options));
  } catch (error) {
    const what = run === '' ? `${place} was not started` : `run ${run} of ${place} was stopped`;
    const why = errorText(error);
    const err = new SnapshotStoppedError(place, run, new Error(`${what}: ${why}`, { cause: error }));
    // This is a step, so that a replay does not report the failure again.
    await steps.step(`failed-${place}`, async () => {
      options.onEnded?.({ kind: 'failed', place, run, ...(run && tookMs(startedAt, options)), err });
      return {};
    });
    throw err;
  }
}

const tookMs = (startedAt: string, { now }: DurableRunOptions) => ({ tookMs: now() - Date.parse(startedAt) });

async function takeNextSlice(
  place: Place,
  run: string,
  { remainingMs, limitMs }: DurableSteps,
  options: DurableRunOptions,
): Promise<Stage> {
  const { store, now, sliceMs, toSaveMs } = { ...timesOf(limitMs), ...options };
  const saved = await readCheckpoint(store, place, run);
  checkPlatform(saved.checkpoint, options.host);
  // The scan may already have ended, if the result of the last step was lost.
  if (saved.checkpoint.outcome !== null) return stageOf(saved.checkpoint);
  const overAtMs = now() + sliceMs;
  const cut = AbortSignal.timeout(Math.max(1, remainingMs() - toSaveMs));
  const taken = await takeSlice(saved, {
    ...options,
    scan: await scanOfRun(saved.checkpoint, options),
    isOver: () => now() >= overAtMs,
    signal: cut,
  }).catch(async (error: unknown) => {
    if (!cut.aborted) throw error;
    const current = await readCheckpoint(store, place, run);
    // If no page arrived in all that time, the platform hangs. That is a failure, so the retry waits longer.
    if (current.etag === saved.etag) throw error;
    return current;
  });
  return stageOf(taken.checkpoint);
}

const stageOf = ({ run, records, parts, outcome }: Checkpoint): Stage => ({
  run,
  records,
  parts,
  hasEnded: outcome !== null,
});

async function publish(request: SnapshotRequest, run: string, options: DurableRunOptions): Promise<EndedRun> {
  const place = placeOfRequest(request);
  const { checkpoint } = await readCheckpoint(options.store, place, run);
  const publication = await publishTaken(checkpoint, { ...options, force: false, accept: request.accept });
  const { kind, manifest } = publication;
  const { records, refused } = manifest;
  const ended = { kind, place, run, records, refused };
  options.onEnded?.({
    ...ended,
    ...tookMs(manifest.startedAt, options),
    parts: manifest.parts.length,
    missing: manifest.missing.length,
    changes: manifest.changes,
    ...(publication.kind === 'refused'
      ? { reasons: refusalWords(manifest), broken: publication.broken }
      : {}),
  });
  return ended;
}

type AfterStepFailure = { readonly kind: 'retry'; readonly delayMs: number } | { readonly kind: 'stop' };

/**
 * The limits for retries of a step. Waits cost nothing, so they are long enough for an outage of an hour. After a 429
 * the number of retries is not limited.
 */
const LIMITS: RetryLimits = {
  maxRetries: 20,
  maxMisdirectedRetries: 4,
  baseDelayMs: 2_000,
  maxDelayMs: 600_000,
  budgetMs: Number.POSITIVE_INFINITY,
};

const MAX_UNKNOWN_ERROR_RETRIES = 4;

/**
 * Decides what to do after attempt `attempt` (1 is the first) threw `error`. A refused token (401) is retried,
 * since it may be temporary.
 */
export function afterStepFailure(error: unknown, attempt: number, random: number): AfterStepFailure {
  if (error instanceof SnapshotStoppedError) return afterStepFailure(error.cause, attempt, random);
  if (error instanceof AggregateError) return afterAll(error.errors, attempt, random);
  if (error instanceof PlatformError) {
    const { failure } = error;
    if (isStatus(failure, 401)) return retryUpTo(LIMITS.maxRetries, attempt, random);
    return decideRetry({ failure, mayRepeat: true, attempt, elapsedMs: 0, random, limits: LIMITS });
  }
  return retryUpTo(retriesFor(error), attempt, random);
}

const retryUpTo = (maxRetries: number, attempt: number, random: number): AfterStepFailure =>
  attempt > maxRetries ? { kind: 'stop' } : { kind: 'retry', delayMs: backoffMs(attempt, random, LIMITS) };

/**
 * Decides what to do if a step failed with several errors: stop if one of them is permanent, otherwise retry after the
 * longest delay.
 */
function afterAll(errors: readonly unknown[], attempt: number, random: number): AfterStepFailure {
  let delayMs = 0;
  for (const error of errors) {
    const after = afterStepFailure(error, attempt, random);
    if (after.kind === 'stop') return after;
    delayMs = Math.max(delayMs, after.delayMs);
  }
  return { kind: 'retry', delayMs };
}

const PERMANENT = [StoredObjectError, OtherPlatformError, KnownRefusalError] as const;

function retriesFor(error: unknown): number {
  // Another process replaced the checkpoint; the next attempt reads the new one.
  if (error instanceof CheckpointConflictError) return LIMITS.maxRetries;
  if (PERMANENT.some((permanent) => error instanceof permanent)) return 0;
  if (error instanceof StoreError)
    return isPassing(error) || error.failure.kind === 'other' ? LIMITS.maxRetries : 0;
  // A setting that is missing will not appear, so the failure is permanent.
  return error instanceof ServiceError && error.failure.kind === 'unconfigured'
    ? 0
    : MAX_UNKNOWN_ERROR_RETRIES;
}

export type { StartExecution };

/** Opens the function that starts durable executions of a Lambda function: see `lambdaExecutions`. Loads the SDK. */
export const openExecutions = async (
  ...args: Parameters<typeof import('./start-execution.ts').lambdaExecutions>
): Promise<StartExecution> =>
  (await loadPeer('@aws-sdk/client-lambda', () => import('./start-execution.ts'))).lambdaExecutions(...args);
