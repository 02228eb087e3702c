import { type CacheRow, cacheKey, callsOf, isHeld, parseCacheRow, parseResult } from '../cache/cache-row.ts';
import type { TextOutcome } from '../scoring/score-text.ts';
import { type SettledTexts, settled } from '../scoring/score-texts.ts';
import type { BatchStorage, ChunkId } from './batch.ts';
import { readStaged, type StagedChunk } from './staged-chunk.ts';

/** Why a chunk's job did not score it, and the id of that job, which counts what it paid for. */
export type ChunkFailure = { readonly error: string; readonly payer: string };

/** What the cache has of a chunk's texts: all that its job knows of them, whoever did it. A read a text. */
export async function recordedResults(
  chunkId: ChunkId,
  failure: ChunkFailure,
  options: BatchStorage,
): Promise<SettledTexts> {
  const staged = await readStaged(chunkId, options.store);
  const texts = staged.rows.flatMap((row) =>
    'text' in row ? [{ id: String(row.line), text: row.text }] : [],
  );
  const found = [...new Set(texts.map(({ text }) => text))].map(
    async (text) => [text, await recordedOutcome(text, { staged, failure }, options)] as const,
  );
  return settled(texts, new Map(await Promise.all(found)));
}

type Recorded = { readonly staged: StagedChunk; readonly failure: ChunkFailure };

async function recordedOutcome(
  text: string,
  { staged: { host, request }, failure: { error, payer } }: Recorded,
  { table, now }: BatchStorage,
): Promise<TextOutcome> {
  const key = cacheKey(host, { ...request, text });
  const stored = await table.get(key);
  const row = stored && parseCacheRow(stored);
  if (row?.state === 'SCORED') {
    const calls = callsOf(row, payer);
    const result = parseResult(row);
    return calls === 0 ? { kind: 'cached', result } : { kind: 'scored', result, calls };
  }
  const calls = row === undefined ? 0 : lostCalls(row, payer, now());
  const forget = async () => {
    if (stored !== undefined && calls > 0) await table.delete(key, stored.token);
  };
  return { kind: 'failed', error, calls, forget };
}

/** The calls of a text without a result that this payer is the one to count. */
const lostCalls = (row: CacheRow, payer: string, nowMs: number) =>
  isHeld(row, nowMs) ? 0 : callsOf(row, payer);
