import type { CallCounts } from '../../platform/events.ts';
import type { Store } from '../../store/store.ts';
import { workFolder } from '../keys.ts';
import type { Part } from '../manifest.ts';
import { createFieldTypes } from '../page/field-types.ts';
import type { Scan, ScanOutcome } from '../scan.ts';
import { type Checkpoint, recordPart, saveCheckpoint } from './checkpoint.ts';
import { createPartWriter } from './part-writer.ts';
import { readTakenKeys } from './taken-keys.ts';

export type SliceOptions = {
  readonly store: Store;
  readonly scan: Scan<unknown>;
  /** Calls made in this process so far. */
  readonly callCounts: () => CallCounts;
  /** A part is closed once its compressed bytes reach this. Default 16 MB. */
  readonly partBytes?: number;
  /** Called after each step of the scan: true closes the part and ends the slice. Default: always false. */
  readonly isOver?: () => boolean;
  /** Called after each step of the scan. */
  readonly onProgress?: ((progress: SnapshotProgress) => void) | undefined;
  /** Ends the scan; what has been read by then is saved. */
  readonly signal?: AbortSignal | undefined;
};

export type SnapshotProgress = { readonly records: number; readonly total: number | null };

/** A checkpoint and the etag of its stored object. */
export type Saved = { readonly checkpoint: Checkpoint; readonly etag: string };

const PART_BYTES = 16_000_000;

/**
 * Resumes a run from its checkpoint until the scan ends, the slice is over, or something fails. Whatever ends it, the
 * records read so far become a part and the checkpoint advances; a failure is thrown after that.
 */
export async function takeSlice(saved: Saved, options: SliceOptions): Promise<Saved> {
  const { scan, signal, partBytes = PART_BYTES, isOver = () => false, onProgress } = options;
  const progress = startProgress(saved, options);
  const takenKeys = async () => readTakenKeys(options.store, (await progress.save(null)).checkpoint, signal);
  try {
    const steps = scan({ from: saved.checkpoint.position ?? undefined, signal, takenKeys });
    for (let step = await steps.next(); ; step = await steps.next()) {
      if (step.done) return await progress.save(step.value);
      await progress.add(step.value.batch, step.value.position);
      onProgress?.({ records: progress.records(), total: step.value.total });
      const ends = isOver();
      if (!ends && progress.compressedBytes() < partBytes) continue;
      const now = await progress.save(null);
      if (ends) {
        await steps.return(undefined as never);
        return now;
      }
    }
  } catch (error) {
    try {
      await progress.save(null);
    } catch (unsaved) {
      throw new AggregateError(
        [error, unsaved],
        `${messageOf(error)} (and the checkpoint was not saved: ${messageOf(unsaved)})`,
      );
    }
    throw error;
  }
}

/** What a slice has taken since its checkpoint, and how it becomes durable. */
function startProgress(saved: Saved, { store, callCounts }: SliceOptions) {
  let { checkpoint, etag } = saved;
  const { source, run, compression } = checkpoint;
  const fieldTypes = createFieldTypes(checkpoint.fields);
  const writer = createPartWriter({ store, compression, folder: workFolder(source, { id: run }) });
  const callsBefore = callCounts();
  const callsOfRun = checkpoint.calls;
  let position = checkpoint.position;
  let records = checkpoint.records;
  /** A part that is stored but not recorded: recording it may have failed, and its records are in no other part. */
  let stored: Part | undefined;
  return {
    records: () => records,
    compressedBytes: writer.compressedBytes,
    async add(batch: Parameters<typeof writer.write>[0], after: unknown): Promise<void> {
      await writer.write(batch);
      fieldTypes.merge(batch.fields);
      records += batch.keys.length;
      position = after;
    },
    /** Makes the added records a durable part, and moves the checkpoint past it. */
    async save(outcome: ScanOutcome | null): Promise<Saved> {
      stored ??= await writer.close(checkpoint.parts);
      const lastPart =
        stored === undefined ? checkpoint.lastPart : await recordPart(store, stored, checkpoint.lastPart);
      checkpoint = {
        ...checkpoint,
        position,
        records,
        lastPart,
        parts: checkpoint.parts + (stored === undefined ? 0 : 1),
        outcome:
          outcome === null
            ? null
            : { ...outcome, missing: [...outcome.missing], refused: [...outcome.refused] },
        fields: fieldTypes.seen(),
        calls: added(callsOfRun, callCounts(), callsBefore),
      };
      stored = undefined;
      etag = await saveCheckpoint(store, checkpoint, etag);
      return { checkpoint, etag };
    },
  };
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** The calls of a run: those of earlier processes plus those that this one has made since. */
function added(earlier: CallCounts, now: CallCounts, before: CallCounts): CallCounts {
  return {
    requests: earlier.requests + now.requests - before.requests,
    retries: earlier.retries + now.retries - before.retries,
    throttled: earlier.throttled + now.throttled - before.throttled,
    waitedMs: earlier.waitedMs + now.waitedMs - before.waitedMs,
  };
}
