import { SCORES_FOLDER } from '../../jobs/texts/batch/batch.ts';
import { keySegment } from '../../store/id-in-key.ts';
import type { Store } from '../../store/store.ts';
import { StoredObjectError } from '../../store/stored-json.ts';
import { readMade } from '../made/made-files.ts';
import { parquetFormat } from '../parquet/parquet-schema.ts';
import { scoreColumns } from './columns.ts';
import { type MadeFolder, makeFolder } from './make-folder.ts';
import { type LinesToMake, parquetOfLines } from './parquet-of-lines.ts';
import { scoreFiles } from './score-files.ts';
import { type BatchParts, partsOfBatch } from './score-parts.ts';
import { type WithParquet, withParquet } from './with-parquet.ts';

export type ScoresToMake = {
  readonly store: Store;
  readonly isOver: () => boolean;
  readonly isDry: boolean;
  readonly signal?: AbortSignal | undefined;
};

/** The folder of all scores as Parquet. */
const SCORES_PARQUET = 'parquet/scores/';

/** The segments of the batches that have scores, or Parquet of them. */
export async function segmentsOfBatches({ store }: Pick<ScoresToMake, 'store'>): Promise<readonly string[]> {
  const segments = new Set<string>();
  for (const root of [SCORES_FOLDER, SCORES_PARQUET])
    for await (const folder of store.folders(root)) segments.add(folder.slice(root.length));
  return [...segments].sort();
}

/**
 * Makes the Parquet of a finished batch; deletes that of one that is not finished or was forgotten. What was in it may
 * have been forgotten since, so nothing of what it replaces stays, not even old versions. Throws `StoredObjectError` if
 * a part is damaged.
 */
export async function makeBatch(segment: string, options: ScoresToMake): Promise<MadeFolder> {
  const { store, isOver, isDry } = options;
  const source = `${SCORES_FOLDER}${segment}/`;
  const folder = `${SCORES_PARQUET}${segment}/`;
  const format = parquetFormat(scoreColumns);
  let used = await partsOfBatch(store, source);
  if (used === undefined) {
    if (!isDry) await deleteFolder(store, folder);
    return NOTHING;
  }
  const made = await makeFolder<LinesToMake>({
    store,
    folder,
    make: ({ lines }) => parquetOfLines(lines(), scoreColumns),
    async *files() {
      used = await partsOfBatch(store, source);
      if (used !== undefined) yield* scoreFiles({ ...options, format }, used);
    },
    mayStay: async () => isSame(used, await partsOfBatch(store, source)),
    isOver,
    isDry,
  });
  // It may have been forgotten meanwhile.
  if (used === undefined && !isDry) await deleteFolder(store, folder);
  else if (made.files > 0 && !isDry) await eraseOld(store, folder);
  return made;
}

/** The parts of a finished batch by the files of Parquet that they go into, with those that have them. */
export const storedScores = (
  segment: string,
  parts: BatchParts,
  { store, signal }: Pick<ScoresToMake, 'store' | 'signal'>,
): Promise<readonly WithParquet<LinesToMake>[]> =>
  withParquet(store, `${SCORES_PARQUET}${segment}/`, () =>
    scoreFiles({ store, format: parquetFormat(scoreColumns), signal }, parts),
  );

const NOTHING: MadeFolder = { files: 0, records: 0, bytes: 0, other: 0, isLeft: false };

const isSame = (a: BatchParts | undefined, b: BatchParts | undefined): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

/** Deletes the Parquet of a batch that was forgotten, and what a bucket with versions still has of it. */
export const forgetBatchParquet = (batch: string, store: Store): Promise<void> =>
  deleteFolder(store, `${SCORES_PARQUET}${keySegment(batch)}/`);

/**
 * Deletes the Parquet of each batch whose parts are others since it was made, as they are once a text of it was
 * forgotten, and what a bucket with versions still has of any. The command makes it again.
 */
export async function forgetChangedParquet(store: Store): Promise<void> {
  const format = parquetFormat(scoreColumns);
  for await (const found of store.folders(SCORES_PARQUET)) {
    const folder = `${found}/`;
    const source = `${SCORES_FOLDER}${found.slice(SCORES_PARQUET.length)}/`;
    const parts = await partsOfBatch(store, source).catch(unlessDamaged);
    const { files } = await readMade(store, folder);
    const wanted = parts === undefined ? [] : [...scoreFiles({ store, format }, parts)];
    const isAsMade = wanted.length === files.length && wanted.every(({ of }, at) => of === files[at]?.of);
    if (!isAsMade) await deleteFolder(store, folder);
  }
  await eraseOld(store, SCORES_PARQUET);
}

function unlessDamaged(error: unknown): undefined {
  if (!(error instanceof StoredObjectError)) throw error;
}

async function deleteFolder(store: Store, folder: string): Promise<void> {
  const keys: string[] = [];
  for await (const { key } of store.list(folder)) keys.push(key);
  for (const key of keys) await store.delete(key);
  await eraseOld(store, folder);
}

async function eraseOld(store: Store, folder: string): Promise<void> {
  for await (const version of store.oldVersions?.(folder) ?? []) await version.erase();
}
