import * as z from 'zod/mini';
import type { Store } from '../../store/store.ts';
import { findStored, printStored, readStored, StoredObjectError } from '../../store/stored-json.ts';
import { gateNames } from '../gate-names.ts';
import { type Place, placeSchema, workFolder } from '../keys.ts';
import { type Part, partSchema } from '../manifest.ts';

const outcomeSchema = z.object({
  proved: z.boolean(),
  totals: z.object({ start: z.nullable(z.number()), end: z.nullable(z.number()) }),
  order: z.string(),
  missing: z.array(z.object({ id: z.string(), status: z.number() })),
  refused: z.array(z.enum(gateNames)),
});

const checkpointSchema = z.object({
  version: z.literal(1),
  source: placeSchema,
  run: z.string(),
  startedAt: z.string(),
  selection: z.record(z.string(), z.unknown()),
  idsFrom: z.optional(z.string()),
  compression: z.enum(['gzip', 'zstd']),
  /** Where the scan goes on; null at its beginning. Its shape is the scan's own. */
  position: z.nullable(z.unknown()),
  /** How the scan ended; null while it has not. */
  outcome: z.nullable(outcomeSchema),
  /** How many parts are durable, and where the last of them is told; each tells where the one before it is. */
  parts: z.number(),
  lastPart: z.nullable(z.string()),
  records: z.number(),
  fields: z.record(z.string(), z.array(z.enum(['string', 'number', 'boolean', 'object', 'array', 'null']))),
  calls: z.object({ requests: z.number(), retries: z.number(), throttled: z.number(), waitedMs: z.number() }),
});

/** How far a run has come, at its last durable part: all that another process needs to go on. Small, however long the run. */
export type Checkpoint = z.infer<typeof checkpointSchema>;

const partNoteSchema = z.object({ part: partSchema, previous: z.nullable(z.string()) });

/** Another process moved the run's checkpoint: two of them must not go on with one run. */
export class CheckpointConflictError extends Error {
  override readonly name = 'CheckpointConflictError';
}

const checkpointKey = (source: Place, run: string) => `${workFolder(source, { id: run })}_checkpoint.json`;

/** The checkpoint of a run, with its etag. Throws `StoredObjectError` if there is none. */
export async function readCheckpoint(
  store: Store,
  source: Place,
  run: string,
): Promise<{ readonly checkpoint: Checkpoint; readonly etag: string }> {
  const key = checkpointKey(source, run);
  const stored = await findStored(store, key, checkpointSchema);
  if (stored !== undefined) return { checkpoint: stored.value, etag: stored.etag };
  const what = `run ${run} of ${source} in ${store.location}`;
  throw new StoredObjectError('missing', `${what}: expected a checkpoint, got none`);
}

/** Stores a checkpoint in the place of the one with `etag` (undefined: of none), and answers its etag. */
export async function saveCheckpoint(
  store: Store,
  checkpoint: Checkpoint,
  etag: string | undefined,
): Promise<string> {
  const key = checkpointKey(checkpoint.source, checkpoint.run);
  const condition = etag === undefined ? ({ ifAbsent: true } as const) : { ifMatch: etag };
  const put = await store.put(key, printStored(checkpoint), { condition });
  if (put.kind === 'stored') return put.etag;
  throw new CheckpointConflictError(
    `run ${checkpoint.run} is being gone on with by another process; this one stops`,
  );
}

/** Notes a durable part beside it, with where the one before it is noted. Answers the note's key. */
export async function notePart(store: Store, part: Part, previous: string | null): Promise<string> {
  const key = `${part.key}.json`;
  await store.put(key, printStored({ part, previous }));
  return key;
}

/** All parts of a run, first to last, followed back from the note of the last. */
export async function readParts(store: Store, lastPart: string | null): Promise<Part[]> {
  const parts: Part[] = [];
  for (let key = lastPart; key !== null; ) {
    const { value } = await readStored(store, key, { what: "a part's note", schema: partNoteSchema });
    parts.push(value.part);
    key = value.previous;
  }
  return parts.reverse();
}
