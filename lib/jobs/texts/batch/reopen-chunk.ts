import type { BatchStorage, ChunkId } from './batch.ts';
import { isEnded, readChunkRow, writeChunkRow } from './chunk-row.ts';

/**
 * What happened to a chunk: it is open again for the rows that have no score, it was open, all of its rows are scored
 * (or were bad or forgotten), or the batch was erased.
 */
export type ReopenedChunk = 'reopened' | 'was-open' | 'complete' | 'gone';

/**
 * Opens an ended chunk again if some of its rows failed. Its row still names the part, whose scores stay: its job scores
 * only the others, and then replaces the part and the summary. Until then both are as they were.
 */
export async function reopenChunk(chunkId: ChunkId, options: BatchStorage): Promise<ReopenedChunk> {
  for (;;) {
    const stored = await readChunkRow(chunkId, options);
    if (stored === undefined) return 'gone';
    const { row, token } = stored;
    if (!isEnded(row)) return 'was-open';
    if (row.counts.failed === 0) return 'complete';
    const open = { ...row, state: 'open' } as const;
    // After a lost race it looks again: a text may have been forgotten meanwhile.
    if ((await writeChunkRow(chunkId, open, token, options))?.row === open) return 'reopened';
  }
}
