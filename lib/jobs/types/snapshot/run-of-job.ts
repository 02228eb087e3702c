import * as z from 'zod/mini';
import type { Place } from '../../../snapshot/keys.ts';
import type { Saved } from '../../../snapshot/run/slice-progress.ts';
import { resumeRun } from '../../../snapshot/run/take-run.ts';
import { findStored, keySegment, printStored, type Store, StoredObjectError } from '../../../store/index.ts';

const keyOf = (id: string) => `work/snapshot-jobs/${keySegment(id)}.json`;

/** `run`: null once the job has ended, so that a job that is reopened begins a new run. */
const runSchema = z.object({ run: z.nullable(z.string()) });

export type RunOfJobOptions = {
  readonly store: Store;
  /** The job's id. */
  readonly id: string;
  readonly place: Place;
  readonly begin: () => Promise<Saved>;
};

/**
 * The run of a job that takes its snapshot in a worker: the one that an earlier attempt began, if it can be resumed,
 * so that an attempt continues where the last one stopped; otherwise a new one.
 */
export async function runOfJob({ store, id, place, begin }: RunOfJobOptions): Promise<Saved> {
  const stored = await findStored(store, keyOf(id), runSchema);
  const run = stored?.value.run ?? undefined;
  const resumed = run === undefined ? undefined : await resumedRun(store, place, run);
  if (resumed !== undefined) return resumed;
  const begun = await begin();
  await store.put(keyOf(id), printStored({ run: begun.checkpoint.run }));
  return begun;
}

/** Undefined if there is nothing to resume any more: the run has expired, say. */
async function resumedRun(store: Store, place: Place, run: string): Promise<Saved | undefined> {
  try {
    return await resumeRun(store, place, run);
  } catch (error) {
    if (error instanceof StoredObjectError) return undefined;
    throw error;
  }
}

/** Lets the next attempt begin a new run, since this one has ended or cannot be continued. */
export async function forgetRun(store: Store, id: string): Promise<void> {
  await store.put(keyOf(id), printStored({ run: null }));
}
