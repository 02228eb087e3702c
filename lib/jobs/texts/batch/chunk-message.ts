import type { ScoreJob } from '../../types/score/message.ts';
import { type ChunkId, chunkJobId } from './batch.ts';
import type { StagedChunk } from './staged-chunk.ts';

/** The message of the job that scores a staged chunk. The ids of its texts are the lines of their rows. */
export const chunkMessage = (chunkId: ChunkId, { request, rows }: StagedChunk): ScoreJob => ({
  ...request,
  version: 1,
  type: 'score',
  id: chunkJobId(chunkId),
  texts: rows.flatMap((row) => ('text' in row ? [{ id: String(row.line), text: row.text }] : [])),
  ...chunkId,
});
