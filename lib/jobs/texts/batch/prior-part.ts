import type { Store } from '../../../store/index.ts';
import type { ChunkRow } from './chunk-row.ts';
import { parsePart, type ScoredRow } from './part.ts';

/** What is left to use of the part of a chunk that ended and was reopened. */
export type PriorPart = {
  /** The row of this line, if it was scored. */
  readonly ofLine: (line: number) => ScoredRow | undefined;
  /** A row with this text that was scored. */
  readonly ofText: (textHash: string) => ScoredRow | undefined;
};

const NONE: PriorPart = { ofLine: () => undefined, ofText: () => undefined };

/**
 * The scored rows of an open chunk's part: its results are paid for, whether or not the cache still has them. A chunk
 * has a part while it is open only if it was reopened; if that part is gone, its rows are scored again.
 */
export async function readPriorPart({ part }: ChunkRow, store: Pick<Store, 'get'>): Promise<PriorPart> {
  if (part === undefined) return NONE;
  const stored = await store.get(part);
  if (stored === undefined) return NONE;
  const scored = parsePart(part, stored.body).filter(
    ({ error, erased }) => error === undefined && erased !== true,
  );
  const byLine = new Map(scored.map((row) => [row.line, row]));
  const byText = new Map(scored.map((row) => [row.textHash, row]));
  return { ofLine: (line) => byLine.get(line), ofText: (textHash) => byText.get(textHash) };
}
