import * as z from 'zod/mini';
import { ServiceError } from '../../../base/aws/index.ts';
import { printJson } from '../../../base/json/index.ts';
import type { PaceCounts } from '../../../pace/index.ts';
import { type Call, type CallCounts, PlatformError } from '../../../platform/index.ts';
import { refusalWords } from '../../../snapshot/history/index.ts';
import {
  beginRun,
  clearPublishedWork,
  KnownRefusalError,
  type Publication,
  readCheckpoint,
  type Saved,
  scanOfRun,
  takeRun,
} from '../../../snapshot/index.ts';
import {
  type Compression,
  type Place,
  placeOfRequest,
  type readGates,
  SnapshotStoppedError,
} from '../../../snapshot/sources/index.ts';
import { findStored, keySegment, printStored, type Store, StoredObjectError } from '../../../store/index.ts';
import type { Outcome } from '../../ledger/job-row.ts';
import { type JobClock, JobRefusedError, type RunJob } from '../../send-context.ts';
import type { SnapshotJob } from './message.ts';

/**
 * Creates a runner that takes a snapshot in this process. Returns `{kind, place, run, records, refused}`. A
 * refused run fails the job. Another attempt resumes the run.
 */
export function snapshotRunner(
  options: JobClock & {
    readonly call: Call;
    readonly store: Store;
    readonly compression: Compression;
    readonly partMs?: number | undefined;
    readonly host: string;
    /** The configured gates. Default: none. */
    readonly gates?: ReturnType<typeof readGates>;
    readonly callCounts: () => CallCounts;
    readonly paceCounts?: () => PaceCounts;
    /** Called if a step after a publication failed, which does not fail the job. */
    readonly warn?: ((what: string, reason: Error) => void) | undefined;
  },
): RunJob<SnapshotJob> {
  const { call, store, compression, host, now, random, sleep } = options;
  return async (job, { signal, beforeSend, onSend, onProgress: onSaved }) => {
    const place = placeOfRequest(job);
    const begin = () =>
      beginRun(job, { store, compression, platform: host, now, random, signal }).catch(asRefused);
    const saved = (await resumable(store, job.id, place)) ?? (await begin());
    await putRun(store, job.id, saved.checkpoint.run);
    const scan = await scanOfRun(saved.checkpoint, { call, store, sleep });
    // A snapshot records only one send, before its first request.
    await beforeSend();
    onSend();
    const publication = await takeRun(saved, scan, {
      ...options,
      platform: host,
      force: false,
      accept: job.accept,
      signal,
      onSaved,
    }).catch(async (error: unknown) => {
      const cause = error instanceof SnapshotStoppedError ? error.cause : error;
      // After such an error, another attempt of the job resumes the run.
      if (cause instanceof PlatformError || cause instanceof ServiceError) throw cause;
      // Any other error, such as that the run belongs to another platform, would stop the run again.
      if (!signal.aborted) await putRun(store, job.id, null);
      throw error;
    });
    await putRun(store, job.id, null);
    // Cleared only after the run of the job was forgotten: before that, another attempt may have to resume it.
    if (publication.kind === 'published')
      await clearPublishedWork(store, place, options.warn ?? (() => undefined));
    return outcomeOf(publication, place);
  };
}

/** Converts an error that another attempt would not change into a refusal. */
function asRefused(error: unknown): never {
  throw error instanceof KnownRefusalError ? new JobRefusedError('refused', error.message) : error;
}

const keyOf = (id: string) => `work/snapshot-jobs/${keySegment(id)}.json`;

/** The run of a job. It is null after the job has ended, so that a reopened job begins a new run. */
const runSchema = z.object({ run: z.nullable(z.string()) });

const putRun = (store: Store, id: string, run: string | null) => store.put(keyOf(id), printStored({ run }));

/**
 * The run that an earlier attempt of the job began; undefined if it cannot be resumed, for
 * example because it has expired.
 */
async function resumable(store: Store, id: string, place: Place): Promise<Saved | undefined> {
  const run = (await findStored(store, keyOf(id), runSchema))?.value.run;
  if (run === undefined || run === null) return undefined;
  try {
    return await readCheckpoint(store, place, run);
  } catch (error) {
    if (error instanceof StoredObjectError) return undefined;
    throw error;
  }
}

function outcomeOf({ kind, manifest }: Publication, place: Place): Outcome {
  const { run, records, refused } = manifest;
  const response = printJson({ kind, place, run, records, refused });
  if (kind !== 'refused') return { status: 'done', response };
  const message = `run ${run} of ${place} was refused publication: ${refusalWords(manifest).join('; ')}`;
  return { status: 'failed', error: { kind, message }, response };
}
