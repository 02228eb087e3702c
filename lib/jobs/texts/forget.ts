import { preview } from '../../json/faults.ts';
import type { Table } from '../../table/table.ts';
import {
  type BatchStorage,
  batchPartition,
  type ChunkId,
  foldersOf,
  isBatchName,
  SCORES_FOLDER,
  STAGED_FOLDER,
} from './batch/batch.ts';
import { countRowsOf } from './batch/chunk-counts.ts';
import { chunkOfPart, chunkOfStaged } from './batch/chunk-keys.ts';
import { hasPart, isEnded, readChunkRow, type StoredChunk, writeChunkRow } from './batch/chunk-row.ts';
import { finishBatch } from './batch/finish-batch.ts';
import { parsePart, printPart, type ScoredRow } from './batch/part.ts';
import { parseStaged, printStaged, type StagedRow } from './batch/staged-chunk.ts';
import { CACHE_PREFIX, parseCacheRow, textHashOf } from './cache/cache-row.ts';

/** What was erased. */
export type Erased = {
  readonly cacheRows: number;
  /** Staged chunks that were deleted, or rewritten without the text. */
  readonly stagedChunks: number;
  /** Parts that were deleted, or rewritten without the text's results. */
  readonly parts: number;
  /** Rows of these parts that were erased. */
  readonly rows: number;
  /** The batches that contained it. */
  readonly batches: readonly string[];
};

/**
 * Erases a text by its SHA-256 (hex, of its UTF-8) wherever it is stored: its results in the cache, in staged chunks,
 * and in the parts of all batches, where its rows remain as lines without results. Reads every batch. It does not touch
 * the file that the text came from, messages on the queue, or the results of jobs.
 */
export async function forgetText(textHash: string, options: BatchStorage): Promise<Erased> {
  const staged = await eraseFromStaged(textHash, options);
  // From here on, a chunk that ends is read without the text; the parts of chunks that ended before come next.
  const parts = await eraseFromParts(textHash, options);
  const batches = [...new Set([...staged.batches, ...parts.batches])];
  const cacheRows = await eraseFromCache(new Set([textHash]), options.table);
  return { cacheRows, stagedChunks: staged.chunks, parts: parts.parts, rows: parts.rows, batches };
}

/**
 * Erases a batch: its rows in the table, its staged chunks, parts and summary, and the cached results of its texts,
 * even if other batches share them. Jobs of the batch that still run end without a trace, except in the cache. Throws
 * `RangeError` for an invalid batch name.
 */
export async function forgetBatch(batch: string, options: BatchStorage): Promise<Erased> {
  const { store, table } = options;
  if (!isBatchName(batch)) throw new RangeError(`expected a batch name, got ${preview(batch)}`);
  // The rows first: without its row, a chunk that ends writes nothing.
  for await (const { key } of table.list(batchPartition(batch))) await deleteRow(key, table);
  const staged = await keysOfBatch(STAGED_FOLDER, batch, options);
  const results = await keysOfBatch(SCORES_FOLDER, batch, options);
  const hashes = new Set<string>();
  let [parts, rows] = [0, 0];
  for (const key of staged)
    for (const row of await readStagedRows(key, options)) if ('text' in row) hashes.add(textHashOf(row.text));
  for (const key of results.filter((each) => chunkOfPart(each) !== undefined)) {
    const held = await readPart(key, options);
    parts += 1;
    rows += held.length;
    for (const { textHash } of held) if (textHash !== undefined) hashes.add(textHash);
  }
  // Then the cache: until it is clean, the objects are needed to find its rows.
  const cacheRows = await eraseFromCache(hashes, table);
  for (const key of [...staged, ...results]) await store.delete(key);
  const held = staged.length + results.length > 0;
  return { cacheRows, stagedChunks: staged.length, parts, rows, batches: held ? [batch] : [] };
}

async function eraseFromCache(hashes: ReadonlySet<string>, table: Table): Promise<number> {
  let erased = 0;
  for await (const { key, row, token } of table.scan(CACHE_PREFIX)) {
    if (!hashes.has(parseCacheRow({ row, token }).textHash)) continue;
    await deleteRow(key, table);
    erased += 1;
  }
  return erased;
}

/** Deletes a row, even if others change it meanwhile. */
async function deleteRow(key: Parameters<Table['get']>[0], table: Table): Promise<void> {
  for (;;) {
    const stored = await table.get(key);
    if (stored === undefined || (await table.delete(key, stored.token)).kind === 'stored') return;
  }
}

async function eraseFromStaged(textHash: string, options: BatchStorage) {
  const batches = new Set<string>();
  let chunks = 0;
  for (const key of await keysOf(STAGED_FOLDER, options)) {
    const chunkId = chunkOfStaged(key);
    const stored = chunkId && (await options.store.get(key));
    if (chunkId === undefined || stored === undefined) continue;
    const staged = parseStaged(key, stored.body);
    const rows = staged.rows.map((row) => withoutText(row, textHash));
    if (rows.every((row, index) => row === staged.rows[index])) continue;
    await options.store.put(key, printStaged({ ...staged, rows }).body);
    await touchOpenRow(chunkId, options);
    batches.add(chunkId.batch);
    chunks += 1;
  }
  return { batches, chunks };
}

function withoutText(row: StagedRow, textHash: string): StagedRow {
  if (!('text' in row) || textHashOf(row.text) !== textHash) return row;
  const { line, id } = row;
  return { line, id, erased: true };
}

/** Rewrites an open row, so that a worker that read the chunk with the text fails to end it, and reads it again. */
async function touchOpenRow(chunkId: ChunkId, options: BatchStorage): Promise<void> {
  for (;;) {
    const stored = await readChunkRow(chunkId, options);
    if (stored === undefined || isEnded(stored.row)) return;
    const now = await writeChunkRow(chunkId, stored.row, stored.token, options);
    if (now?.row === stored.row) return;
  }
}

async function eraseFromParts(textHash: string, options: BatchStorage) {
  const batches = new Set<string>();
  let [parts, rows] = [0, 0];
  for (const key of await keysOf(SCORES_FOLDER, options)) {
    const chunkId = chunkOfPart(key);
    const held = chunkId === undefined ? [] : await readPart(key, options);
    const erased = held.filter((row) => row.textHash === textHash).length;
    if (chunkId === undefined || erased === 0) continue;
    await replacePart(
      chunkId,
      key,
      held.map((row) => withoutResult(row, textHash)),
      options,
    );
    batches.add(chunkId.batch);
    parts += 1;
    rows += erased;
  }
  return { batches, parts, rows };
}

const withoutResult = (row: ScoredRow, textHash: string): ScoredRow =>
  row.textHash === textHash ? { id: row.id, line: row.line, erased: true } : row;

/**
 * Writes a new part, points the chunk's row and the summary to it, and deletes the old part last: until then another
 * run can find what this one left unfinished.
 */
async function replacePart(
  chunkId: ChunkId,
  old: string,
  rows: readonly ScoredRow[],
  options: BatchStorage,
): Promise<void> {
  const part = printPart(chunkId, rows);
  for (let isReplaced = false; !isReplaced; ) {
    const stored = await readChunkRow(chunkId, options);
    // A part that no row names is a leftover. If there is no row, the parts are all that is left of the batch.
    if (stored !== undefined && stored.row.part !== old) break;
    await options.store.put(part.key, part.body);
    isReplaced =
      stored === undefined || (await renamePart(chunkId, stored, { part: part.key, rows }, options));
  }
  await finishBatch(chunkId.batch, options);
  await options.store.delete(old);
}

/** Makes the chunk's row name the new part; false if the row changed meanwhile. */
async function renamePart(
  chunkId: ChunkId,
  { row, token }: StoredChunk,
  { part, rows }: { readonly part: string; readonly rows: readonly ScoredRow[] },
  options: BatchStorage,
): Promise<boolean> {
  if (!hasPart(row)) return false;
  const next = { ...row, part, counts: { ...row.counts, ...countRowsOf(rows, row.counts.bad) } };
  return (await writeChunkRow(chunkId, next, token, options))?.row === next;
}

async function readPart(key: string, { store }: BatchStorage): Promise<readonly ScoredRow[]> {
  const stored = await store.get(key);
  return stored === undefined ? [] : parsePart(key, stored.body);
}

async function readStagedRows(key: string, { store }: BatchStorage): Promise<readonly StagedRow[]> {
  const stored = await store.get(key);
  return stored === undefined ? [] : parseStaged(key, stored.body).rows;
}

async function keysOfBatch(
  parent: typeof STAGED_FOLDER | typeof SCORES_FOLDER,
  batch: string,
  options: BatchStorage,
): Promise<readonly string[]> {
  const [folder = '', ...earlier] = foldersOf(parent, batch);
  const keys = await keysOf(folder, options);
  if (earlier.length === 0) return keys;
  // In a directory that ignores case, this folder may be another batch's: the names in the parent are the true ones.
  const all = await keysOf(parent, options);
  return [...keys, ...all.filter((key) => earlier.some((each) => key.startsWith(each)))];
}

async function keysOf(prefix: string, { store }: BatchStorage): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list(prefix)) keys.push(key);
  return keys;
}
