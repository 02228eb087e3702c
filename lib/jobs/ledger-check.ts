import * as z from 'zod/mini';
import { once } from '../base/index.ts';
import { DEFAULT_STORE, sqlitePath } from '../places.ts';
import type { Environment } from '../settings.ts';
import { idOfSegment, openStore, type Store } from '../store/index.ts';
import { type CheckTable, NEW_LEDGER, NEW_LEDGER_RISK, TableError, tableCheckOf } from '../table/index.ts';
import { blankRow, endStates, outcomeSchema } from './ledger/job-row.ts';
import { objectIn } from './message/check-message.ts';
import { stagedOutcome, WHOLE } from './result.ts';

/** What may not be sent twice: its results are what the store knows of it. Texts and ids do no harm again. */
const ONCE_ONLY = ['run-function', 'update-formula'] as const;

/** A result that the ledger does not know. */
type Unknown = { readonly id: string; readonly key: string };

/**
 * Checks that the table is the store's (`tableCheckOf`), and that a file knows every end that the store has a result of:
 * an older copy of the file, or one whose log was deleted, has its id. Nothing in it is deleted by age, so what is missing
 * was lost. With `NEW_LEDGER` it takes the ends over from the results instead. Throws a `bad-table` TableError.
 */
export function ledgerCheckOf(table: string, environment: Environment, given?: StoreChecks): CheckTable {
  const store =
    given?.store ?? (() => openStore(environment['SYNC_STORE'] || DEFAULT_STORE, { s3: environment }));
  const checkTable = given?.checkTable ?? tableCheckOf(table, environment, store);
  return once(async () => {
    await checkTable();
    if (sqlitePath(table) !== undefined) await checkEnds(table, environment, await store());
  });
}

type StoreChecks = { readonly store: () => Promise<Store>; readonly checkTable: CheckTable };

async function checkEnds(table: string, environment: Environment, store: Store): Promise<void> {
  // Results first: what ends meanwhile is in the ledger before it has one.
  const results = await endedIn(store);
  if (results.length === 0) return;
  const ledger = await openLedger(table, environment);
  const known = new Set<string>();
  for await (const { id, outcome, earlierFinishedAt } of ledger.list())
    if (outcome !== undefined || earlierFinishedAt !== undefined) known.add(id);
  const unknown = results.filter(({ id }) => !known.has(id));
  if (environment[NEW_LEDGER] === undefined) refuse(unknown, results.length, table, store.location);
  else for (const each of unknown) await adopt(each, ledger, store);
}

async function openLedger(table: string, environment: Environment) {
  const [{ createLedger }, { openTable }] = await Promise.all([
    import('./ledger/ledger.ts'),
    import('../table/open-table.ts'),
  ]);
  return createLedger(await openTable(table, environment));
}

async function endedIn(store: Store): Promise<readonly Unknown[]> {
  const found: Unknown[] = [];
  for (const type of ONCE_ONLY)
    for await (const { key } of store.list(`results/${type}/`)) {
      const id = idOfSegment(/([^/]+)\.json$/.exec(key)?.[1] ?? '');
      if (id !== undefined) found.push({ id, key });
    }
  return found;
}

function refuse([first, ...others]: readonly Unknown[], results: number, table: string, store: string): void {
  if (first === undefined) return;
  throw new TableError(`send for ${store} by ${table}`, {
    kind: 'bad-table',
    table,
    expected: `a ledger that knows the ${results} jobs whose results are in the store`,
    got: `one that lacks ${others.length + 1} of them, such as ${first.id}: an older copy, or one whose log (-wal) was deleted. Put the newer file back; or --new-ledger goes on with this one, which takes those ends over: ${NEW_LEDGER_RISK}, but for those with a result`,
  });
}

/** Takes an end over from its result. One that cannot be read stays unknown: the next check names it. */
async function adopt(
  { id, key }: Unknown,
  ledger: Awaited<ReturnType<typeof openLedger>>,
  store: Store,
): Promise<void> {
  const text = (await store.get(key, WHOLE))?.body.toString().trim() ?? '';
  const result = resultSchema.safeParse(objectIn(text));
  if (!result.success) return;
  const { type, status, attempts, startedAt, finishedAt, sender, error, note } = result.data;
  // Copied as it is, for its numbers' digits; `printResult` puts it last.
  const [, response] = /,"response":(.*)\}$/s.exec(text) ?? [];
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
