import { hash } from 'node:crypto';
import { findRows } from '../../jobs/results/part-rows.ts';
import { findSummary } from '../../jobs/results/summary.ts';
import { chunkOfPart, SCORES_FOLDER, SUMMARY_NAME } from '../../jobs/texts/batch/batch.ts';
import { readAhead } from '../../snapshot/sources/read-ahead.ts';
import {
  keySegment,
  type ListedObject,
  missingObject,
  type Store,
  unlessDamaged,
} from '../../store/index.ts';
import { readMade, type WithParquet, withParquet } from '../made/made-files.ts';
import { type LinesToMake, type PlacedLine, parquetOfLines, type Report } from '../made/make-parquet.ts';
import { parquetFormat } from '../parquet/parquet-schema.ts';
import { scoreColumns } from '../stored-tables.ts';
import { type MadeFolder, type MakeOptions, makeFolder, SourceChangedError } from './make-folder.ts';

type Reading = Pick<MakeOptions, 'store' | 'signal'>;

/** The folder of all scores as Parquet. */
const SCORES_PARQUET = 'parquet/scores/';

/** The segments of the batches that have scores, or Parquet of them. */
export async function segmentsOfBatches({ store }: Pick<MakeOptions, 'store'>): Promise<readonly string[]> {
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
export async function makeBatch(segment: string, options: MakeOptions): Promise<MadeFolder> {
  const { store, isDry } = options;
  const source = `${SCORES_FOLDER}${segment}/`;
  const folder = `${SCORES_PARQUET}${segment}/`;
  let used = await partsOfBatch(store, source);
  if (used === undefined) {
    if (!isDry) await deleteFolder(store, folder);
    return NOTHING;
  }
  const made = await makeFolder<LinesToMake>({
    ...options,
    folder,
    make: ({ lines }) => parquetOfLines(lines(), scoreColumns),
    async *files() {
      used = await partsOfBatch(store, source);
      if (used !== undefined) yield* scoreFiles(options, used);
    },
    mayStay: async () => isSame(used, await partsOfBatch(store, source)),
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
  reading: Reading,
): Promise<readonly WithParquet<LinesToMake>[]> =>
  withParquet(reading.store, `${SCORES_PARQUET}${segment}/`, () => scoreFiles(reading, parts));

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
  for await (const found of store.folders(SCORES_PARQUET)) {
    const folder = `${found}/`;
    const source = `${SCORES_FOLDER}${found.slice(SCORES_PARQUET.length)}/`;
    const parts = await partsOfBatch(store, source).catch(unlessDamaged());
    const { files } = await readMade(store, folder);
    const wanted = parts === undefined ? [] : [...scoreFiles({ store }, parts)];
    const isAsMade = wanted.length === files.length && wanted.every(({ of }, at) => of === files[at]?.of);
    if (!isAsMade) await deleteFolder(store, folder);
  }
  await eraseOld(store, SCORES_PARQUET);
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

/** A part of a batch. */
type ScorePart = Pick<ListedObject, 'key' | 'sizeBytes'>;

/** The parts of a finished batch, in order. */
export type BatchParts = { readonly parts: readonly ScorePart[] };

/**
 * The parts that the summary of a batch names; undefined if it has none, so is not finished. Once the rows of a batch
 * have expired, forgetting a text replaces a part but not the summary: then the one part of the same chunk counts.
 * `folder` ends in a slash. Throws `StoredObjectError` if a part is gone.
 */
export async function partsOfBatch(store: Store, folder: string): Promise<BatchParts | undefined> {
  const byChunk = new Map<number, ScorePart[]>();
  for await (const { key, sizeBytes } of store.list(folder)) {
    const chunkId = chunkOfPart(key);
    if (chunkId !== undefined)
      byChunk.set(chunkId.chunk, [...(byChunk.get(chunkId.chunk) ?? []), { key, sizeBytes }]);
  }
  const summary = await findSummary(store, `${folder}${SUMMARY_NAME}`);
  if (summary === undefined) return undefined;
  const parts = summary.parts.map(({ key }): ScorePart => {
    const chunk = chunkOfPart(key)?.chunk;
    const listed = byChunk.get(chunk ?? -1) ?? [];
    const found = listed.find((part) => part.key === key) ?? (listed.length === 1 ? listed[0] : undefined);
    if (found === undefined) throw missingObject(store, key, 'a part');
    return found;
  });
  return { parts };
}

/** The chunks of one file: each has at most a hundred texts. */
const CHUNKS_OF_FILE = 500;

/** How many parts are read at the same time. */
const CONCURRENCY = 16;

/** The files of a batch: many small parts are one, and a chunk is always in the same one. */
function* scoreFiles(reading: Reading, { parts }: BatchParts): Generator<LinesToMake> {
  for (let first = 0; first < parts.length; first += CHUNKS_OF_FILE) {
    const items = parts.slice(first, first + CHUNKS_OF_FILE);
    // The name of a part has its hash.
    const named = [parquetFormat(scoreColumns), ...items.map(({ key }) => key)].join('\n');
    yield {
      of: hash('sha256', named),
      bytes: items.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
      lines: (report) => readParts(items, { ...reading, report }),
    };
  }
}

async function* readParts(
  items: readonly ScorePart[],
  { store, signal, report }: Reading & { readonly report: Report },
): AsyncGenerator<PlacedLine> {
  const bodies = readAhead({
    items,
    concurrency: CONCURRENCY,
    signal,
    read: async ({ key }, aborted) => ({ key, rows: await rowsOf(store, key, { signal: aborted, report }) }),
  });
  for await (const { key, rows } of bodies)
    for (const [index, json] of rows.entries()) yield { json, place: `${key}, line ${index + 1}` };
}

/** The rows of a part; none, and reported, if it is missing or damaged. */
async function rowsOf(
  store: Store,
  key: string,
  { signal, report }: { readonly signal: AbortSignal; readonly report: Report },
): Promise<readonly Buffer[]> {
  const found = async () => {
    const rows = await findRows(store, key, signal);
    if (rows !== undefined) return rows;
    // Without a report, another one has replaced it.
    throw report === undefined ? new SourceChangedError(key) : missingObject(store, key, 'a part');
  };
  if (report === undefined) return await found();
  return (await found().catch(unlessDamaged(report))) ?? [];
}
