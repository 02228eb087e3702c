import * as z from 'zod/mini';
import { anyRecord, recordOf, shortened } from '../../base/index.ts';
import {
  findStored,
  ifUnchanged,
  MAX_LIST_BYTES,
  printBounded,
  readStored,
  type Store,
  StoredObjectError,
} from '../../store/index.ts';
import { type Place, placeSchema, workFolder } from '../keys.ts';
import { callsSchema, type Part, partSchema } from '../manifest.ts';
import { missingIdSchema, outcomeSchema } from '../scan.ts';

/** Schema of how far the durable records of a run reach. */
const endSchema = z.object({
  /** The key of the last part's entry (see `recordPart`); null before the first part. */
  lastPart: z.nullable(z.string()),
  /** The part that was still open when the run was last saved; null if it had no records. */
  open: z.nullable(partSchema),
  records: z.number(),
  /** The JSON types seen in each top-level field, by its name. */
  fields: recordOf(z.array(z.enum(['string', 'number', 'boolean', 'object', 'array', 'null']))),
});

const checkpointSchema = z.object({
  ...endSchema.shape,
  version: z.literal(1),
  source: placeSchema,
  run: z.string(),
  startedAt: z.string(),
  platform: z.string(),
  selection: anyRecord(),
  /** The last published run when this one began: see `Manifest`. */
  begunAfter: z.nullable(z.string()),
  /** Where the ids came from, in words: see `Manifest`. */
  idsFrom: z.optional(z.string()),
  compression: z.enum(['gzip', 'zstd']),
  /** The position from which the scan resumes; null at its beginning. Its shape depends on the source. */
  position: z.nullable(z.unknown()),
  /** How the scan ended; null if it has not ended. */
  outcome: z.nullable(outcomeSchema),
  /** The number of stored parts, including the parts of dropped segments. It is also the number of the next part. */
  parts: z.number(),
  missing: z.array(missingIdSchema),
  /**
   * How far the records reached at the start of the current segment: the records that a scan may drop and read again.
   * If the segment restarts, this is restored. Absent for the first segment.
   */
  segment: z.optional(endSchema),
  calls: callsSchema,
});

/** The progress of a run up to its last durable part: everything that another process needs to resume it. */
export type Checkpoint = z.infer<typeof checkpointSchema>;

const partEntrySchema = z.object({ part: partSchema, previous: z.nullable(z.string()) });

/** Thrown if another process replaced the run's checkpoint, since two processes must not take the same run. */
export class CheckpointConflictError extends Error {
  override readonly name = 'CheckpointConflictError';
}

const CHECKPOINT_NAME = '_checkpoint.json';

const checkpointKey = (source: Place, run: string) => `${workFolder(source, { id: run })}${CHECKPOINT_NAME}`;

/** Whether a run has a checkpoint, without reading it. */
export async function hasCheckpoint(store: Store, source: Place, run: string): Promise<boolean> {
  const wanted = checkpointKey(source, run);
  for await (const { key } of store.list(wanted)) if (key === wanted) return true;
  return false;
}

/**
 * Reads the checkpoint of a run, with its etag. Throws `StoredObjectError` if it is missing, damaged, or of another
 * run.
 */
export async function readCheckpoint(
  store: Store,
  source: Place,
  run: string,
): Promise<{ readonly checkpoint: Checkpoint; readonly etag: string }> {
  const key = checkpointKey(source, run);
  const stored = await findStored(store, key, checkpointSchema, MAX_LIST_BYTES);
  if (stored === undefined)
    throw new StoredObjectError('missing', `run ${run} of ${source} in ${store.location} has no checkpoint`);
  const { value: checkpoint, etag } = stored;
  if (checkpoint.source === source && checkpoint.run === run) return { checkpoint, etag };
  throw new StoredObjectError(
    'invalid',
    `${key}: expected the checkpoint of run ${run} of ${source}, got the checkpoint of ${shortened(`${checkpoint.run} of ${checkpoint.source}`, MAX_NAMES_LENGTH)}`,
  );
}

const MAX_NAMES_LENGTH = 200;

/**
 * Replaces the checkpoint that has this `etag`; undefined stores the first one. Returns the new etag. Throws
 * `CheckpointConflictError`.
 */
export async function saveCheckpoint(
  store: Store,
  checkpoint: Checkpoint,
  etag: string | undefined,
): Promise<string> {
  const key = checkpointKey(checkpoint.source, checkpoint.run);
  const put = await store.put(key, printBounded(key, checkpoint, MAX_LIST_BYTES), {
    condition: ifUnchanged(etag),
  });
  if (put.kind === 'stored') return put.etag;
  throw new CheckpointConflictError(
    `run ${checkpoint.run} is being resumed by another process; this process stops`,
  );
}

/**
 * Stores an entry for a durable part, next to the part. `previous`: the key of the entry before it, which it contains.
 * Returns the key of the entry.
 */
export async function recordPart(store: Store, part: Part, previous: string | null): Promise<string> {
  const key = `${part.key}.json`;
  await store.put(key, printBounded(key, { part, previous }));
  return key;
}

/**
 * Reads the list of a run's parts, first to last, by following the entries back from the last one. `after`: the key of
 * an entry; only the parts after it are listed. Default: all.
 */
export async function readParts(
  store: Store,
  lastPart: string | null,
  after: string | null = null,
): Promise<Part[]> {
  const parts: Part[] = [];
  const seen = new Set<string>();
  const expected = { what: 'a part entry', schema: partEntrySchema };
  for (let key = lastPart; key !== null && key !== after; ) {
    // Damaged entries may form a cycle.
    if (seen.has(key))
      throw new StoredObjectError('invalid', `${key}: the entries of the parts form a cycle`);
    seen.add(key);
    const { value } = await readStored(store, key, expected);
    parts.push(value.part);
    key = value.previous;
  }
  return parts.reverse();
}
