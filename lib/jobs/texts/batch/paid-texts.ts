import { anyRecord, parseJson, printJson } from '../../../base/index.ts';
import type { Sentiment } from '../../../platform/index.ts';
import { inGroups } from '../../results/read-listed.ts';
import { createScoreCache } from '../cache/score-cache.ts';
import { type BatchStorage, type ChunkId, chunkJobId, chunkOfPart, SCORES_FOLDER } from './batch.ts';
import { findStaged, parsePart } from './chunk-objects.ts';
import { hasPart, readChunkRows } from './chunk-row.ts';

/** A chunk with a part in the store, of which the table knows neither the end nor the scores. */
export type UnknownChunk = {
  /** That of its job. */
  readonly id: string;
  /** Takes the scores over, so that no text of the part is paid for again. */
  readonly adopt: () => Promise<void>;
};

/**
 * The chunks that are paid for by what the store says, and not by what the table says: it is an older one. A killed
 * worker may leave a part that no row names; its scores are in the cache then. `folder`: of one batch. Default: all.
 */
export async function* unknownChunks(
  storage: BatchStorage,
  folder = SCORES_FOLDER,
): AsyncGenerator<UnknownChunk> {
  for await (const group of inGroups(partsIn(storage, folder), 100)) {
    const rows = await readChunkRows(
      group.map(({ chunkId }) => chunkId),
      storage,
    );
    for (const [at, part] of group.entries()) {
      const stored = rows[at];
      if (stored !== undefined && hasPart(stored.row)) continue;
      const lost = await lostScores(part, storage);
      if (lost.length === 0) continue;
      const adopt = async () => {
        for (const { claim, result } of lost) await claim.finish(result);
      };
      yield { id: chunkJobId(part.chunkId), adopt };
    }
  }
}

type Part = { readonly chunkId: ChunkId; readonly key: string };

async function* partsIn({ store }: BatchStorage, folder: string): AsyncGenerator<Part> {
  for await (const { key } of store.list(folder)) {
    const chunkId = chunkOfPart(key);
    if (chunkId !== undefined) yield { chunkId, key };
  }
}

/** The scores of a part that the cache lacks. Without its staged chunk, which expires, nothing says what was asked. */
async function lostScores({ chunkId, key }: Part, storage: BatchStorage) {
  const { store } = storage;
  const [staged, part] = await Promise.all([findStaged(chunkId, store), store.get(key)]);
  if (staged === undefined || part === undefined) return [];
  const scored = parsePart(key, part.body).filter(({ error, erased }) => error === undefined && !erased);
  const results = new Map(scored.map((row) => [row.line, row]));
  const texts = staged.rows.flatMap((row) => {
    const { topicSentiments, sentiment, model } = results.get(row.line) ?? {};
    const result: Sentiment = anyRecord().parse(parseJson(printJson({ topicSentiments, sentiment, model })));
    return 'text' in row && results.has(row.line) ? [{ text: row.text, result }] : [];
  });
  const own = { ...storage, host: staged.host, owner: 'store', attemptMs: 0 };
  const requests = texts.map(({ text }) => ({ ...staged.request, text }));
  const looked = await createScoreCache(own).look(requests, chunkJobId(chunkId));
  return texts.flatMap(({ result }, at) => {
    const each = looked[at];
    return each?.kind === 'open' ? [{ claim: each.claim, result }] : [];
  });
}
