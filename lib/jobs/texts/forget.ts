import { preview } from '../../base/index.ts';
import { sqlitePath } from '../../locations.ts';
import { type Environment, readSyncSettings } from '../../settings.ts';
import { type OldVersion, type Store, type StoredObject, updateObject } from '../../store/index.ts';
import { openSqliteFile, type Table } from '../../table/index.ts';
import { isBatchName } from '../types/score/message.ts';
import {
  type BatchStorage,
  batchPartition,
  type ChunkId,
  chunkOfPart,
  chunkOfStaged,
  partPrefix,
  SCORES_FOLDER,
  STAGED_FOLDER,
  scoresFolder,
  stagedFolder,
} from './batch/batch.ts';
import { addCosts, countRows } from './batch/chunk-counts.ts';
import {
  erasedRow,
  parsePart,
  parseStaged,
  printPart,
  printStaged,
  type ScoredRow,
  type StagedChunk,
} from './batch/chunk-objects.ts';
import {
  chunkRows,
  finishBatch,
  hasPart,
  isEnded,
  readChunkRow,
  type StoredChunk,
  writeChunkRow,
} from './batch/finish-batch.ts';
import { CACHE_PREFIX, parseCacheRow, textHashOf } from './cache/score-cache.ts';

/** What was erased, or would be: the counts of cache rows, staged chunks, parts and their rows, and the batches. */
export type Erased = {
  readonly cacheRows: number;
  readonly stagedChunks: number;
  readonly parts: number;
  readonly rows: number;
  readonly batches: readonly string[];
};

/**
 * Erases a text, given the SHA-256 (hex) of its UTF-8, from the cache, from staged chunks, and from the parts of all
 * batches, where its rows remain as lines without results. Messages on the queue and results of jobs are not changed.
 */
async function forgetText(textHash: string, options: BatchStorage): Promise<Erased> {
  const batches = new Set<string>();
  let stagedChunks = 0;
  let parts = 0;
  let rows = 0;
  for (const key of await keysOf(STAGED_FOLDER, options)) {
    const chunkId = chunkOfStaged(key);
    if (chunkId === undefined || !(await eraseFromStaged(chunkId, key, textHash, options))) continue;
    batches.add(chunkId.batch);
    stagedChunks += 1;
  }
  // From here on, no chunk can finish with this text in its part. Next, erase it from the parts of chunks that ended
  // earlier.
  for (const key of await keysOf(SCORES_FOLDER, options)) {
    const chunkId = chunkOfPart(key);
    const part = chunkId && (await readPart(key, options));
    if (chunkId === undefined || part?.every((row) => row.textHash !== textHash)) continue;
    const erased = await eraseFromParts(chunkId, textHash, options);
    if (erased.length > 0) batches.add(chunkId.batch);
    parts += erased.length;
    rows += erased.reduce((sum, each) => sum + each, 0);
  }
  const cacheRows = await eraseFromCache(new Set([textHash]), options.table);
  return { cacheRows, stagedChunks, parts, rows, batches: [...batches] };
}

/**
 * Erases a batch: its rows in the table, its objects, and the cached results of its texts, even if other batches share
 * them. Its jobs that are still running end without storing anything. Throws `RangeError` for an invalid name.
 */
export async function forgetBatch(batch: string, options: BatchStorage): Promise<Erased> {
  const { store, table } = options;
  if (!isBatchName(batch)) throw new RangeError(`expected a batch name, got ${preview(batch)}`);
  // The rows are deleted first, because a running job whose chunk has no row stores nothing.
  for await (const { key } of table.list(batchPartition(batch))) await deleteRow(key, table);
  const { keys, hashes, ...counts } = await findMatches({ batch }, options);
  // The cache is erased before the objects, which show the texts to erase.
  const cacheRows = await eraseFromCache(hashes, table);
  for (const key of keys) await store.delete(key);
  return { cacheRows, ...counts };
}

/** Whether anything of a batch is left to erase: a row, an object or an old version. */
export async function isBatchKnown(batch: string, { store, table }: BatchStorage): Promise<boolean> {
  const places = [
    () => table.list(batchPartition(batch)),
    ...foldersOf({ batch }).map((folder) => () => store.list(folder)),
    () => oldVersionsOf({ batch }, store),
  ];
  for (const found of places) for await (const _ of found()) return true;
  return false;
}

/** Throws if chunks of the batch are open: their workers would cache results of the texts after the batch was erased. */
async function refuseOpen(target: ErasureTarget, batches: BatchStorage): Promise<void> {
  if (!('batch' in target)) return;
  const { batch } = target;
  let open = 0;
  for await (const { row } of chunkRows(batch, batches)) if (!isEnded(row)) open += 1;
  if (open > 0)
    throw new Error(
      `batch ${batch} was not erased: ${open} of its chunks may still store scores. Wait for them, or first run platform-sync jobs cancel --batch ${batch}`,
    );
}

/**
 * Erases a text or a batch, also from old versions of objects and from deleted rows in the table's file; with
 * `isDryRun`, it only counts what would be erased. Throws for a batch with chunks that have not ended.
 */
export async function forget(
  target: ErasureTarget,
  batches: BatchStorage,
  { environment, isDryRun = false }: { readonly environment: Environment; readonly isDryRun?: boolean },
): Promise<Erased & { readonly oldVersions: number }> {
  await refuseOpen(target, batches);
  if (isDryRun) return countMatches(target, batches);
  const erased =
    'batch' in target ? await forgetBatch(target.batch, batches) : await forgetText(target.textHash, batches);
  // DynamoDB keeps nothing of deleted rows.
  const path = sqlitePath(readSyncSettings(environment).SYNC_TABLE ?? '');
  if (path !== undefined) await (await openSqliteFile(path)).erase();
  // Old versions are erased last, since an erased object remains as an old version.
  return { ...erased, oldVersions: await eraseOldVersions(target, batches.store) };
}

/** A text by its SHA-256, or a batch. */
type ErasureTarget = { readonly textHash: string } | { readonly batch: string };

async function countMatches(target: ErasureTarget, options: BatchStorage) {
  const { keys: _, hashes, ...counts } = await findMatches(target, options);
  const cached = await Array.fromAsync(cacheRowsOf(hashes, options.table));
  const old = await Array.fromAsync(oldVersionsOf(target, options.store));
  return { cacheRows: cached.length, ...counts, oldVersions: old.length };
}

const foldersOf = (target: ErasureTarget): readonly string[] =>
  'batch' in target
    ? [stagedFolder(target.batch), scoresFolder(target.batch)]
    : [STAGED_FOLDER, SCORES_FOLDER];

/** Finds the objects of a batch or with a text. Objects that are deleted in the meantime count as having no rows. */
async function findMatches(target: ErasureTarget, options: BatchStorage) {
  const isBatch = 'batch' in target;
  const hashes = new Set<string>(isBatch ? [] : [target.textHash]);
  const batches = new Set<string>();
  const keys: string[] = [];
  let stagedChunks = 0;
  let parts = 0;
  let rows = 0;
  for (const key of (await Promise.all(foldersOf(target).map((each) => keysOf(each, options)))).flat()) {
    const chunk = chunkOfStaged(key) ?? chunkOfPart(key);
    const stored = chunk && (await options.store.get(key));
    const all = stored === undefined ? [] : hashesOf(key, stored.body);
    const matching = isBatch ? all : all.filter((hash) => hash === target.textHash);
    if (!isBatch && matching.length === 0) continue;
    keys.push(key);
    batches.add(isBatch ? target.batch : (chunk?.batch ?? ''));
    for (const hash of matching) if (hash !== undefined) hashes.add(hash);
    if (chunkOfStaged(key) !== undefined) stagedChunks += 1;
    if (chunkOfPart(key) === undefined) continue;
    parts += 1;
    rows += matching.length;
  }
  return { keys, hashes, stagedChunks, parts, rows, batches: [...batches] };
}

/** The hashes of the texts in a staged chunk or a part, one for each row. */
function hashesOf(key: string, body: Buffer): readonly (string | undefined)[] {
  if (chunkOfStaged(key) !== undefined)
    return parseStaged(key, body).rows.map((row) => ('text' in row ? textHashOf(row.text) : undefined));
  return parsePart(key, body).map(({ textHash }) => textHash);
}

async function* cacheRowsOf(hashes: ReadonlySet<string>, table: Table) {
  for await (const stored of table.scan(CACHE_PREFIX))
    if (hashes.has(parseCacheRow(stored).textHash)) yield stored.key;
}

async function eraseFromCache(hashes: ReadonlySet<string>, table: Table): Promise<number> {
  let erased = 0;
  for await (const key of cacheRowsOf(hashes, table)) {
    await deleteRow(key, table);
    erased += 1;
  }
  return erased;
}

async function deleteRow(key: Parameters<Table['get']>[0], table: Table): Promise<void> {
  for (;;) {
    const stored = await table.get(key);
    if (stored === undefined || (await table.delete(key, stored.token)).kind === 'stored') return;
  }
}

async function eraseFromStaged(
  chunkId: ChunkId,
  key: string,
  textHash: string,
  options: BatchStorage,
): Promise<boolean> {
  let isErased = false;
  const erase = async (stored: StoredObject | undefined) => {
    if (stored === undefined) return undefined;
    const staged = parseStaged(key, stored.body);
    const rows = staged.rows.map((row) => withoutText(row, textHash));
    if (rows.some((row, index) => row !== staged.rows[index])) return printStaged({ ...staged, rows }).body;
    // Invalidate the row even if an earlier `forget` erased the text: it may have crashed before invalidating.
    if (rows.some((row) => 'erased' in row)) await invalidateOpenRow(chunkId, options);
    return undefined;
  };
  // Runs again after each update. The last pass finds nothing to erase, and invalidates the row.
  while (await updateObject(options.store, key, erase)) isErased = true;
  return isErased;
}

function withoutText(row: StagedChunk['rows'][number], textHash: string): StagedChunk['rows'][number] {
  return 'text' in row && textHashOf(row.text) === textHash ? erasedRow(row) : row;
}

/**
 * Rewrites the row of an open chunk, so that a worker that already read the erased text fails to end the chunk, and
 * reads it again.
 */
async function invalidateOpenRow(chunkId: ChunkId, options: BatchStorage): Promise<void> {
  const stored = await readChunkRow(chunkId, options);
  // If another write comes first, that write makes the worker fail.
  if (stored && !isEnded(stored.row)) await writeChunkRow(chunkId, stored.row, stored.token, options);
}

/** Erases a text from all parts of a chunk. Returns how many rows of each part had the text. */
async function eraseFromParts(
  chunkId: ChunkId,
  textHash: string,
  options: BatchStorage,
): Promise<readonly number[]> {
  const erased = new Map<string, number>();
  for (;;) {
    const matching = new Map<string, readonly ScoredRow[]>();
    for (const key of await keysOf(partPrefix(chunkId), options)) {
      const rows = (await readPart(key, options)) ?? [];
      const count = rows.filter((row) => row.textHash === textHash).length;
      if (count === 0) continue;
      matching.set(key, rows);
      erased.set(key, count);
    }
    if (matching.size === 0) return [...erased.values()];
    // Read the row after the parts: a row read before them might not refer to the newest part.
    const stored = await readChunkRow(chunkId, options);
    let hasChanged = false;
    for (const [key, rows] of matching) {
      if (stored !== undefined && stored.row.part !== key) continue;
      const rest = rows.map(
        (row): ScoredRow =>
          row.textHash === textHash ? { id: row.id, line: row.line, erased: true, ...addCosts(row) } : row,
      );
      hasChanged ||= !(await replacePart(chunkId, stored, rest, options));
    }
    if (hasChanged) continue;
    // The old parts are deleted last, so that after a crash the next `forget` finds the chunk again.
    await finishBatch(chunkId.batch, options);
    for (const key of matching.keys()) await options.store.delete(key);
  }
}

/**
 * Writes a new part, and stores its key in the chunk's row, if there is one. Returns false if the row was changed in
 * the meantime.
 */
async function replacePart(
  chunkId: ChunkId,
  stored: StoredChunk | undefined,
  rows: readonly ScoredRow[],
  options: BatchStorage,
): Promise<boolean> {
  const { key: part, body } = printPart(chunkId, rows, stored?.token);
  await options.store.put(part, body);
  if (stored === undefined || !hasPart(stored.row)) return true;
  const { row, token } = stored;
  const next = { ...row, part, counts: countRows(rows) };
  const now = await writeChunkRow(chunkId, next, token, options);
  if (now?.row === next) return true;
  if (now?.row.part !== part) await options.store.delete(part);
  return false;
}

async function readPart(key: string, { store }: BatchStorage): Promise<readonly ScoredRow[] | undefined> {
  const stored = await store.get(key);
  return stored && parsePart(key, stored.body);
}

const keysOf = (prefix: string, { store }: BatchStorage): Promise<string[]> =>
  Array.fromAsync(store.list(prefix), ({ key }) => key);

/**
 * Erases old versions of objects with a text or a batch. To be called after no current object has it. Returns how many
 * were erased.
 */
async function eraseOldVersions(target: ErasureTarget, store: Store): Promise<number> {
  let erased = 0;
  for await (const version of oldVersionsOf(target, store)) {
    await version.erase();
    erased += 1;
  }
  return erased;
}

async function* oldVersionsOf(target: ErasureTarget, store: Store): AsyncGenerator<OldVersion> {
  for (const folder of foldersOf(target))
    for await (const version of store.oldVersions?.(folder) ?? [])
      if ('batch' in target || (await holdsText(version, target.textHash))) yield version;
}

const holdsText = async ({ key, read }: OldVersion, textHash: string): Promise<boolean> =>
  (chunkOfStaged(key) ?? chunkOfPart(key)) !== undefined && hashesOf(key, await read()).includes(textHash);
