import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { anyRecord, once } from '../base/index.ts';
import { parseJson, printJson } from '../base/json/index.ts';
import { sqlitePath, storeLocation } from '../locations.ts';
import type { Sentiment } from '../platform/index.ts';
import type { Environment } from '../settings.ts';
import { idOfSegment, openStore, type Store } from '../store/index.ts';
import {
  type CheckTable,
  NEW_LEDGER,
  NEW_LEDGER_RISK,
  openTable,
  TableError,
  tableCheckOf,
} from '../table/index.ts';
import { blankRow, endStates, type JobRow, outcomeSchema } from './ledger/job-row.ts';
import type { Ledger } from './ledger/ledger.ts';
import { parseObject } from './message/check-message.ts';
import { NO_LIMIT, responseIn, stagedOutcome } from './result.ts';
import { inGroups } from './results/read-listed.ts';
import {
  type BatchStorage,
  type ChunkId,
  chunkJobId,
  chunkOfPart,
  SCORES_FOLDER,
  scoresFolder,
} from './texts/batch/batch.ts';
import { findStaged, parsePart } from './texts/batch/chunk-objects.ts';
import { hasPart, readChunkRows } from './texts/batch/finish-batch.ts';
import { createScoreCache } from './texts/cache/score-cache.ts';

/**
 * Creates the check that the ledger belongs to the store (`tableCheckOf`) and is not an older copy: it must have the
 * jobs and scores whose results are in the store. An older copy of a file, a file whose log was deleted, and a table
 * that was created anew or restored: all of these have the right name. A file keeps all rows, so all results and all scores of
 * batches are compared. In DynamoDB rows expire, so the check compares some results of each type of the newest day,
 * and the scores of the batch that is to be sent. With `NEW_LEDGER` it copies what the ledger lacks from the store.
 * Throws a `bad-table` TableError.
 */
export function createLedgerCheck(
  table: string,
  environment: Environment,
  options?: Partial<Pick<CheckedLedger, 'batch'>> & {
    readonly store?: () => Promise<Store>;
    readonly checkTable?: CheckTable;
  },
): CheckTable {
  const store = options?.store ?? (() => openStore(storeLocation(environment), { s3: environment }));
  const checkTable = options?.checkTable ?? tableCheckOf(table, environment, store);
  return once(async () => {
    await checkTable();
    await checkEnds({ table, environment, batch: options?.batch }, await store());
  });
}

type CheckedLedger = {
  readonly table: string;
  readonly environment: Environment;
  /** The batch whose texts will be sent. */
  readonly batch: string | undefined;
};

async function checkEnds({ table, environment, batch }: CheckedLedger, store: Store): Promise<void> {
  const isNew = environment[NEW_LEDGER] !== undefined;
  const isWhole = isNew || sqlitePath(table) !== undefined;
  // Results are read before the ledger: a job that ends in the meantime is in the ledger before it has a result.
  const results = await (isWhole ? Array.fromAsync(listResults(store)) : resultsOfNewestDay(store));
  const { createLedger, ROW_LIFETIME_MS } = await import('./ledger/ledger.ts');
  const opened = await openTable(table, environment);
  // Rows expire by the table's clock, so their age is computed by that clock.
  let dateMs = Number.NEGATIVE_INFINITY;
  opened.onDate?.((seen) => {
    dateMs = seen.dateMs;
  });
  const ledger = createLedger(opened);
  const known = await endedIds(results, ledger, isWhole);
  const mayHaveExpired = ({ dt }: StoredResult) => Date.parse(dt) + ROW_LIFETIME_MS - DAY_MS < dateMs;
  const unknown: UnknownChunk[] = results
    .filter((each) => !known.has(each.id) && !mayHaveExpired(each))
    .map((each) => ({ id: each.id, adopt: () => adopt(each, ledger, store) }));
  const storage = { store, table: opened.table, newToken: randomUUID, now: Date.now };
  if (isWhole) unknown.push(...(await Array.fromAsync(unknownChunks(storage))));
  else if (batch !== undefined)
    unknown.push(...(await Array.fromAsync(unknownChunks(storage, scoresFolder(batch)))));
  if (!isNew) refuse(unknown, table, store.location);
  else for (const each of unknown) await each.adopt();
}

/** Rows count as expired one day early, since `dt` only has the day of the claim. */
const DAY_MS = 24 * 60 * 60 * 1_000;

type StoredResult = { readonly id: string; readonly key: string; readonly dt: string };

async function* listResults(store: Store, folder = 'results/'): AsyncGenerator<StoredResult> {
  for await (const { key } of store.list(folder)) {
    const [, dt = '', segment = ''] = /\/dt=([^/]+)\/([^/]+)\.json$/.exec(key) ?? [];
    const id = idOfSegment(segment);
    if (id !== undefined) yield { id, key, dt };
  }
}

/**
 * How many results of each type are compared if rows expire. The number is small, since every worker compares them when
 * it starts.
 */
const MAX_COMPARED = 5;

/** Some results of the newest day of each type: if a table lost rows, it lost the newest ones. */
async function resultsOfNewestDay(store: Store): Promise<readonly StoredResult[]> {
  const found: StoredResult[] = [];
  for await (const type of store.folders('results/')) {
    const days = await Array.fromAsync(store.folders(`${type}/`));
    const newest = days.toSorted().at(-1);
    let compared = 0;
    for await (const each of newest === undefined ? [] : listResults(store, `${newest}/`)) {
      found.push(each);
      compared += 1;
      if (compared === MAX_COMPARED) break;
    }
  }
  return found;
}

/** The ids of the jobs that have ended, according to the ledger. */
async function endedIds(results: readonly StoredResult[], ledger: Ledger, isWhole: boolean) {
  const known = new Set<string>();
  const add = (row: JobRow | undefined) => {
    if (row?.outcome !== undefined || row?.earlierFinishedAt !== undefined) known.add(row.id);
  };
  if (!isWhole) for (const { id } of results) add(await ledger.read(id));
  else if (results.length > 0) for await (const row of ledger.list()) add(row);
  return known;
}

/** A chunk whose part is in the store, even though the table has neither the chunk's end nor its scores. */
type UnknownChunk = {
  /** The id of the chunk's job. */
  readonly id: string;
  /** Copies the scores into the cache, so that no text of the part is paid for again. */
  readonly adopt: () => Promise<void>;
};

/**
 * Finds chunks with scores in the store that the table does not have, which shows that the table is an older copy. A
 * part that no row refers to may also come from a killed worker, but the scores of such a part are in the cache.
 * `folder`: the folder of one batch. Default: all batches.
 */
async function* unknownChunks(storage: BatchStorage, folder = SCORES_FOLDER): AsyncGenerator<UnknownChunk> {
  for await (const group of inGroups(listParts(storage, folder), 100)) {
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

async function* listParts(
  { store }: BatchStorage,
  folder: string,
): AsyncGenerator<{ readonly chunkId: ChunkId; readonly key: string }> {
  for await (const { key } of store.list(folder)) {
    const chunkId = chunkOfPart(key);
    if (chunkId !== undefined) yield { chunkId, key };
  }
}

/** The scores of a part that the cache lacks; none if the staged chunk has expired, since it had the request. */
async function lostScores(
  { chunkId, key }: { readonly chunkId: ChunkId; readonly key: string },
  storage: BatchStorage,
) {
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
  const options = { ...storage, host: staged.host, owner: 'store', attemptMs: 0 };
  const requests = texts.map(({ text }) => ({ ...staged.request, text }));
  const lookups = await createScoreCache(options).lookup(requests, chunkJobId(chunkId));
  return texts.flatMap(({ result }, at) => {
    const each = lookups[at];
    return each?.kind === 'open' ? [{ claim: each.claim, result }] : [];
  });
}

function refuse([first, ...others]: readonly UnknownChunk[], table: string, store: string): void {
  if (first === undefined) return;
  throw new TableError(`use SYNC_TABLE=${table} with ${store}`, {
    kind: 'bad-table',
    table,
    expected: 'a ledger with all jobs and scores whose results are in the store',
    got: `one that lacks ${others.length + 1} of them, such as ${first.id}: ${lostBy(table)}; nothing was sent. Or continue with this ledger, which then imports those results: --new-ledger (${NEW_LEDGER_RISK}, except for those with a result)`,
  });
}

const lostBy = (table: string): string =>
  sqlitePath(table) === undefined
    ? 'it was created anew, or restored from an earlier time (docs/restore.md, "Restore from a point in time")'
    : 'it is an older copy, or its log (-wal) was deleted. Put the newer file back (docs/restore.md, "A store that moved")';

/** Stores the outcome of a job in the ledger, from its result. Skips an unreadable result, which the next check reports. */
async function adopt({ id, key, dt }: StoredResult, ledger: Ledger, store: Store): Promise<void> {
  const text = (await store.get(key, NO_LIMIT))?.body.toString().trim() ?? '';
  const result = resultSchema.safeParse(parseObject(text));
  if (!result.success) return;
  const { type, status, attempts, startedAt, finishedAt, sender, error, note } = result.data;
  const response = responseIn(text);
  const fields = { status, ...(error && { error }), ...(note && { note }), ...(response && { response }) };
  const outcome = await stagedOutcome(store, { id, fence: 1 }, fields);
  const startMs = Date.parse(startedAt);
  const endMs = Date.parse(finishedAt);
  const row = {
    ...blankRow(id, startMs),
    dt,
    type,
    fence: 1,
    attempts,
  };
  const times = { startedAt: startMs, finishedAt: endMs, ...(sender === null ? {} : { sender }) };
  await ledger.adopt({ ...row, ...times, state: endStates[status], outcome });
}

const resultSchema = z.object({
  type: z.string(),
  status: outcomeSchema.shape.status,
  attempts: z.number(),
  startedAt: z.string(),
  finishedAt: z.string(),
  sender: z.nullable(z.string()),
  error: outcomeSchema.shape.error,
  note: outcomeSchema.shape.note,
});
