import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { printJson, recordOf } from '../../../base/index.ts';
import { findStored, MOST_LIST_BYTES, missingObject, parseStored, type Store } from '../../../store/index.ts';
import type { ScoreJob } from '../../types/score/message.ts';
import { type ChunkId, chunkJobId, type ScoreRequest, stagedKey } from './batch.ts';

const line = z.number();

/** A row that cannot be scored, as it is stored. */
export const badRowSchema = z.strictObject({
  line,
  fault: z.string(),
  id: z.optional(z.string()),
  columns: z.optional(recordOf(z.string())),
});

const stagedRowSchema = z.union([
  badRowSchema,
  z.strictObject({ line, id: z.string(), erased: z.literal(true) }),
  z.strictObject({
    line,
    id: z.string(),
    text: z.string(),
    columns: recordOf(z.string()),
  }),
]);

/** A row that waits for its job: to be scored, bad, or forgotten meanwhile. */
export type StagedRow = z.infer<typeof stagedRowSchema>;

const stagedSchema = z.strictObject({
  version: z.literal(1),
  host: z.string(),
  request: z.custom<ScoreRequest>((value) => typeof value === 'object' && value !== null),
  rows: z.array(stagedRowSchema),
});

/** A chunk as the splitter staged it: everything needed to write its part once its texts are scored. */
export type StagedChunk = z.infer<typeof stagedSchema>;

/** The bytes of a staged chunk and their SHA-256 in hex. */
export function printStaged(staged: StagedChunk): { readonly body: Buffer; readonly sha256: string } {
  const body = Buffer.from(printJson(staged));
  return { body, sha256: createHash('sha256').update(body).digest('hex') };
}

export const parseStaged = (key: string, body: Buffer): StagedChunk =>
  parseStored(key, body, stagedSchema, MOST_LIST_BYTES);

/** The staged chunk. Throws `StoredObjectError` if it is missing or invalid. */
export async function readStaged(chunkId: ChunkId, store: Store): Promise<StagedChunk> {
  const key = stagedKey(chunkId);
  const found = await findStored(store, key, stagedSchema, MOST_LIST_BYTES);
  if (found === undefined) throw missingObject(store, key, 'a chunk');
  return found.value;
}

/** The message of the job that scores a staged chunk. The ids of its texts are the lines of their rows. */
export const chunkMessage = (chunkId: ChunkId, { request, rows }: StagedChunk): ScoreJob => ({
  ...request,
  version: 1,
  type: 'score',
  id: chunkJobId(chunkId),
  texts: rows.flatMap((row) => ('text' in row ? [{ id: String(row.line), text: row.text }] : [])),
  ...chunkId,
});
