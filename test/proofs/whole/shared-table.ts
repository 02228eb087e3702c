import { LEASES } from '../../../lib/jobs/timed-table.ts';
import type { BreakerItem, OpenBreaker } from '../../../lib/pace/breaker.ts';
import type { Budget, BudgetItem, BudgetWrite } from '../../../lib/pace/budget.ts';
import { createMemoryBudget } from '../../../lib/pace/budget-changes.ts';
import { createSqliteBudget } from '../../../lib/pace/sqlite-budget.ts';
import type { DateSeen } from '../../../lib/table/index.ts';
import { createSqliteTable } from '../../../lib/table/sqlite-table.ts';
import type { RowKey, Table } from '../../../lib/table/table.ts';
import { TableError } from '../../../lib/table/table-error.ts';
import { createMemoryTable } from '../../table/memory-table.ts';
import { createSqliteInMemory, type Sharer } from '../../table/sqlite-in-memory.ts';
import type { Process, World } from './world.ts';

/** The one table of a fleet: rows of jobs and texts, and the item with the budget and the breaker. */
type TableParts = {
  readonly rows: Table;
  readonly budget: BudgetItem;
  readonly breaker: BreakerItem;
};

/** The table as people see it, and as each process has it open. */
export type SharedTable = TableParts & {
  readonly of: (process: Process) => TableParts;
  readonly hasDates: boolean;
};

export function createSharedTable({ plan, now }: Pick<World, 'plan' | 'now'>): SharedTable {
  if (plan.table === 'SQLite') return createSharedSqlite(now);
  const budget = createMemoryBudget();
  const parts = { rows: createMemoryTable(), budget, breaker: budget.breaker };
  return { ...parts, of: () => parts, hasDates: true };
}

function createSharedSqlite(now: () => number): SharedTable {
  const fileOf = createSqliteInMemory();
  const of = (sharer: Sharer): TableParts => {
    const file = fileOf(sharer);
    const budget = createSqliteBudget({ file, host: 'platform' });
    return { rows: createSqliteTable(file, { leases: LEASES, now }), budget, breaker: budget.breaker };
  };
  return { ...of({ name: 'people', isAlive: true }), of, hasDates: false };
}

/** How long a client waits, its own retries included: rows of jobs are worth more of them than a slot. */
const ROW_MS = 4_000;
const ITEM_MS = 1_000;

type Saw = (seen: DateSeen) => void;

/** The clock of a process, and who hears of the `Date` of each response of its two clients. */
type Here = { readonly now: () => number; readonly sawRow: Saw; readonly sawItem: Saw };

/** The table as one process reaches it. `onBreaker` hears of the breaker in each response of the item. */
export function tableFor(
  shared: SharedTable,
  process: Process,
  world: World,
  { now, sawRow, sawItem }: Here,
) {
  const { rows, budget, breaker } = shared.of(process);
  const ask = async <T>(
    label: string,
    timeoutMs: number,
    saw: Saw,
    perform: () => Promise<T>,
  ): Promise<T> => {
    const sentMs = now();
    let doneMs = 0;
    const result = await world.act(process, {
      label,
      border: 'table',
      timeoutMs,
      perform: () => {
        doneMs = world.now();
        return perform();
      },
      failure: (kind) =>
        new TableError(label, { kind, code: kind === 'busy' ? 'ThrottlingException' : 'ECONNRESET' }),
    });
    if (shared.hasDates) saw({ dateMs: Math.floor(doneMs / 1_000) * 1_000, sentMs, receivedMs: now() });
    return result;
  };
  const row = <T>(label: string, perform: () => Promise<T>) => ask(label, ROW_MS, sawRow, perform);
  const item = <T>(label: string, perform: () => Promise<T>) => ask(label, ITEM_MS, sawItem, perform);

  const table: Table = {
    get: (key) => row(`get ${nameOf(key)}`, () => rows.get(key)),
    getAll: (keys) =>
      row(`get ${keys.length} rows from ${nameOf(keys[0] ?? { partition: '', sort: '' })}`, () =>
        rows.getAll(keys),
      ),
    put: (key, value, options) =>
      row(`put ${nameOf(key)} ${String(value['state'])}`, () => rows.put(key, value, options)),
    delete: (key, expected) => row(`delete ${nameOf(key)}`, () => rows.delete(key, expected)),
    list: (partition) => rows.list(partition),
    scan: (prefix) => rows.scan(prefix),
  };
  return {
    table,
    item,
    breaker: breakerFor(breaker, item),
    budget: (onBreaker: OnBreaker) => budgetFor({ budget, breaker, item, onBreaker }),
  };
}

type OnBreaker = (breaker: OpenBreaker | undefined) => void;
type AskItem = <T>(label: string, perform: () => Promise<T>) => Promise<T>;

type BudgetParts = Pick<TableParts, 'budget' | 'breaker'> & {
  readonly item: AskItem;
  readonly onBreaker: OnBreaker;
};

/** As in DynamoDB, each response holds the whole item, the breaker too. */
function budgetFor({ budget, breaker, item, onBreaker }: BudgetParts): BudgetItem {
  const whole = async (given: Budget): Promise<Budget> => ({ ...given, breaker: await breaker.read() });
  const received = (given: Budget): Budget => {
    onBreaker(given.breaker);
    return given;
  };
  const change = async (label: string, write: () => Promise<Budget>) =>
    received(await item(label, async () => whole(await write())));
  const writeIf = async (label: string, write: () => Promise<BudgetWrite>): Promise<BudgetWrite> => {
    const written = await item(label, async () => {
      const done = await write();
      return done.kind === 'refused' ? done : { ...done, budget: await whole(done.budget) };
    });
    if (written.kind === 'written') received(written.budget);
    return written;
  };
  return {
    read: () => change('read budget', budget.read),
    reserve: (reservation) => writeIf('reserve', () => budget.reserve(reservation)),
    lower: (incident) => writeIf('lower', () => budget.lower(incident)),
    pause: (atMs) => change('pause', () => budget.pause(atMs)),
    resume: () => change('resume', budget.resume),
    reset: (fromMs) => change('reset', () => budget.reset(fromMs)),
    cap: (rate) => change('cap', () => budget.cap(rate)),
  };
}

const breakerFor = (breaker: BreakerItem, item: AskItem): BreakerItem => ({
  read: () => item('read breaker', breaker.read),
  open: (opened) => item('open breaker', () => breaker.open(opened)),
  takeProbe: (seen, nextMs) => item('take probe', () => breaker.takeProbe(seen, nextMs)),
  close: (seen) => item('close breaker', () => breaker.close(seen)),
});

const nameOf = ({ partition }: RowKey) => partition.slice(0, 24);
