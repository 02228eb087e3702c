import type { OldVersion, Store } from '../../store/index.ts';
import {
  chunkOfPart,
  chunkOfStaged,
  SCORES_FOLDER,
  STAGED_FOLDER,
  scoresFolder,
  stagedFolder,
} from './batch/batch.ts';
import { parsePart } from './batch/part.ts';
import { parseStaged } from './batch/staged-chunk.ts';
import { textHashOf } from './cache/cache-row.ts';

/** What was forgotten. */
export type Forgotten = { readonly textHash: string } | { readonly batch: string };

/**
 * Erases what a bucket with versions still has of a text or a batch that was forgotten: otherwise it could be read until
 * its lifetime ends. Call it last, when nothing current holds it; it also finds what an earlier, interrupted call left.
 * Returns how many versions it erased.
 */
export async function eraseOldVersions(forgotten: Forgotten, store: Store): Promise<number> {
  let erased = 0;
  for (const prefix of prefixesOf(forgotten)) {
    for await (const version of store.oldVersions?.(prefix) ?? []) {
      if ('textHash' in forgotten && !(await holdsText(version, forgotten.textHash))) continue;
      await version.erase();
      erased += 1;
    }
  }
  return erased;
}

const prefixesOf = (forgotten: Forgotten): readonly string[] =>
  'batch' in forgotten
    ? [stagedFolder(forgotten.batch), scoresFolder(forgotten.batch)]
    : [STAGED_FOLDER, SCORES_FOLDER];

/** Other objects hold no texts. */
async function holdsText(version: OldVersion, textHash: string): Promise<boolean> {
  const { key } = version;
  if (chunkOfStaged(key) !== undefined)
    return parseStaged(key, await version.read()).rows.some(
      (row) => 'text' in row && textHashOf(row.text) === textHash,
    );
  if (chunkOfPart(key) !== undefined)
    return parsePart(key, await version.read()).some((row) => row.textHash === textHash);
  return false;
}
