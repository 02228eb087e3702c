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

/** The end of the records of a run that are durable. */
const endSchema = z.object({
  /** The key of the last part's entry. Each entry contains the key of the entry before it. */
  lastPart: z.nullable(z.string()),
  /** The part that was open when the run was last saved; null if no part was. */
  open: z.nullable(partSchema),
  records: z.number(),
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
  begunAfter: z.nullable(z.string()),
  idsFrom: z.optional(z.string()),
  compression: z.enum(['gzip', 'zstd']),
  /** Where the scan resumes; null at its beginning. Its shape depends on the kind of scan. */
  position: z.nullable(z.unknown()),
  /** How the scan ended; null if it has not ended. */
  outcome: z.nullable(outcomeSchema),
  /** The number of stored parts, including parts of dropped segments; it is the number of the next part. */
  parts: z.number(),
  missing: z.array(missingIdSchema),
  /**
   * The state of the run at the start of the current segment, which is restored if the segment restarts; absent
   * for the first segment.
   */
  segment: z.optional(endSchema),
  calls: callsSchema,
});

/** The progress of a run up to its last durable part: everything that another process needs to resume it. */
export type Checkpoint = z.infer<typeof checkpointSchema>;

const partEntrySchema = z.object({ part: partSchema, previous: z.nullable(z.string()) });

/** Thrown if another process moved the run's checkpoint, since two processes must not take the same run. */
export class CheckpointConflictError extends Error {
  override readonly name = 'CheckpointConflictError';
}

const CHECKPOINT_NAME = '_checkpoint.json';

const checkpointKey = (source: Place, run: string) => `${workFolder(source, { id: run })}${CHECKPOINT_NAME}`;

export async function hasCheckpoint(store: Store, source: Place, run: string): Promise<boolean> {
  const wanted = checkpointKey(source, run);
  for await (const { key } of store.list(wanted)) if (key === wanted) return true;
  return false;
}

/** Reads the checkpoint of a run, with its etag. Throws `StoredObjectError` if it is missing or of another run. */
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
    `${key}: expected the checkpoint of run ${run} of ${source}, got that of ${shortened(`${checkpoint.run} of ${checkpoint.source}`, MAX_NAMES_LENGTH)}`,
  );
}

const MAX_NAMES_LENGTH = 200;

/** Replaces the checkpoint with this `etag`, or stores the first one (undefined). Returns the new etag. */
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
    `run ${checkpoint.run} is being resumed by another process; this one stops`,
  );
}

/**
 * Stores an entry for a durable part next to the part; it contains the key of the previous entry. Returns the
 * entry's key.
 */
export async function recordPart(store: Store, part: Part, previous: string | null): Promise<string> {
  const key = `${part.key}.json`;
  await store.put(key, printBounded(key, { part, previous }));
  return key;
}

/**
 * Reads the parts of a run, first to last, by following entries back from the last entry. `after`: an entry; only
 * the parts after it are read.
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
    // Damaged entries may form a circle.
    if (seen.has(key))
      throw new StoredObjectError('invalid', `${key}: the entries of the parts form a circle`);
    seen.add(key);
    const { value } = await readStored(store, key, expected);
    parts.push(value.part);
    key = value.previous;
  }
  return parts.reverse();
}
