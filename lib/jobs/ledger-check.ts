import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { once } from '../base/index.ts';
import { sqlitePath, storePlace } from '../places.ts';
import { type Environment, readSyncSettings } from '../settings.ts';
import { idOfSegment, openStore, type Store } from '../store/index.ts';
import { type CheckTable, NEW_LEDGER, NEW_LEDGER_RISK, TableError, tableCheckOf } from '../table/index.ts';
import { blankRow, endStates, outcomeSchema } from './ledger/job-row.ts';
import type { Ledger } from './ledger/ledger.ts';
import { objectIn } from './message/check-message.ts';
import { responseIn, stagedOutcome, WHOLE } from './result.ts';
import { type UnknownChunk, unknownChunks } from './texts/batch/paid-texts.ts';

/**
 * Checks that the table is the store's (`tableCheckOf`), and that a file knows every job that the store has a result of,
 * and every text that a batch's part has a score of: an older copy of the file, or one whose log was deleted, has its id.
 * Nothing in it is deleted by age, so what is missing was lost. With `NEW_LEDGER` it takes both over from the store
 * instead. Throws a `bad-table` TableError.
 */
export function ledgerCheckOf(table: string, environment: Environment, given?: StoreChecks): CheckTable {
  const store = given?.store ?? (() => openStore(storePlace(environment), { s3: environment }));
  const checkTable = given?.checkTable ?? tableCheckOf(table, environment, store);
  return once(async () => {
    await checkTable();
    if (sqlitePath(table) !== undefined) await checkEnds(table, environment, await store());
  });
}

type StoreChecks = { readonly store: () => Promise<Store>; readonly checkTable: CheckTable };

/** Checks the ledger before jobs are put on the queue, or texts are sent. One in AWS is checked by the worker: who submits need not be allowed to read it. */
export async function checkLedger(environment: Environment): Promise<void> {
  const { SYNC_TABLE: table } = readSyncSettings(environment);
  if (table !== undefined && sqlitePath(table) !== undefined) await ledgerCheckOf(table, environment)();
}

async function checkEnds(table: string, environment: Environment, store: Store): Promise<void> {
  // Results first: what ends meanwhile is in the ledger before it has one.
  const results = await endedIn(store);
  const [{ createLedger }, { openTable }] = await Promise.all([
    import('./ledger/ledger.ts'),
    import('../table/open-table.ts'),
  ]);
  const opened = await openTable(table, environment);
  const ledger = createLedger(opened);
  const known = new Set<string>();
  for await (const { id, outcome, earlierFinishedAt } of results.length === 0 ? [] : ledger.list())
    if (outcome !== undefined || earlierFinishedAt !== undefined) known.add(id);
  const unknown: UnknownChunk[] = results
    .filter(({ id }) => !known.has(id))
    .map((each) => ({ id: each.id, adopt: () => adopt(each, ledger, store) }));
  const storage = { store, table: opened.table, newToken: randomUUID, now: Date.now };
  unknown.push(...(await Array.fromAsync(unknownChunks(storage))));
  if (environment[NEW_LEDGER] === undefined) refuse(unknown, table, store.location);
  else for (const each of unknown) await each.adopt();
}

type StoredResult = { readonly id: string; readonly key: string };

async function endedIn(store: Store): Promise<readonly StoredResult[]> {
  const found: StoredResult[] = [];
  for await (const { key } of store.list('results/')) {
    const id = idOfSegment(/([^/]+)\.json$/.exec(key)?.[1] ?? '');
    if (id !== undefined) found.push({ id, key });
  }
  return found;
}

function refuse([first, ...others]: readonly UnknownChunk[], table: string, store: string): void {
  if (first === undefined) return;
  throw new TableError(`send for ${store} by ${table}`, {
    kind: 'bad-table',
    table,
    expected: 'a ledger that knows all jobs and scores whose results are in the store',
    got: `one that lacks ${others.length + 1} of them, such as ${first.id}: an older copy, or one whose log (-wal) was deleted. Put the newer file back (docs/restore.md, "A store that moved"); or --new-ledger goes on with this one, which takes those ends over: ${NEW_LEDGER_RISK}, but for those with a result`,
  });
}

/** Takes an end over from its result. One that cannot be read stays unknown: the next check names it. */
async function adopt({ id, key }: StoredResult, ledger: Ledger, store: Store): Promise<void> {
  const text = (await store.get(key, WHOLE))?.body.toString().trim() ?? '';
  const result = resultSchema.safeParse(objectIn(text));
  if (!result.success) return;
  const { type, status, attempts, startedAt, finishedAt, sender, error, note } = result.data;
  const response = responseIn(text);
  const given = { status, ...(error && { error }), ...(note && { note }), ...(response && { response }) };
  const outcome = await stagedOutcome(store, { id, fence: 1 }, given);
  const [startMs, endMs] = [Date.parse(startedAt), Date.parse(finishedAt)];
  const row = {
    ...blankRow(id, startMs),
    dt: /\/dt=([^/]+)\//.exec(key)?.[1] ?? '',
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
