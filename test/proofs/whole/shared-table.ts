import { LEASES } from '../../../lib/jobs/job-storage.ts';
import type { BudgetItem, OpenBreaker } from '../../../lib/pace/budget.ts';
import { createTableBudget } from '../../../lib/pace/stored-budget.ts';
import type { DateSeen } from '../../../lib/table/index.ts';
import { awaitDate } from '../../../lib/table/open-table.ts';
import { createSqliteTable } from '../../../lib/table/sqlite-table.ts';
import type { RowKey, Table } from '../../../lib/table/table.ts';
import { TableError } from '../../../lib/table/table-error.ts';
import { createMemoryTable } from '../../table/memory-table.ts';
import { createSqliteInMemory, type Sharer } from '../../table/sqlite-in-memory.ts';
import type { Process, World } from './world.ts';

/** The table of a fleet, with rows of jobs and texts, and the budget. */
type TableParts = { readonly rows: Table; readonly budget: BudgetItem };

/** The table as people see it, and as each process has it open. */
export type SharedTable = TableParts & {
  readonly of: (process: Process) => Table;
  readonly hasDates: boolean;
};

const HOST = 'platform';

export function createSharedTable({ plan, machineNow, clock, dice }: World): SharedTable {
  const waits = { sleep: clock.sleep, random: dice.fraction };
  if (plan.table === 'SQLite') return createSharedSqlite({ now: machineNow, steady: clock.now }, waits);
  const rows = createMemoryTable();
  const budget = createTableBudget({ table: rows, host: HOST, ...waits });
  return { rows, budget, of: () => rows, hasDates: true };
}

type Waits = { readonly sleep: (ms: number) => Promise<void>; readonly random: () => number };

type Clocks = { readonly now: () => number; readonly steady: () => number };

function createSharedSqlite(clocks: Clocks, waits: Waits): SharedTable {
  const fileOf = createSqliteInMemory();
  const of = (sharer: Sharer) => createSqliteTable(fileOf(sharer), { leases: LEASES, ...clocks });
  const rows = of({ name: 'people', isAlive: true });
  return { rows, budget: createTableBudget({ table: rows, host: HOST, ...waits }), of, hasDates: false };
}

/** How long a client waits, including its own retries. It retries longer for job rows than for a slot. */
const ROW_MS = 4_000;
const ITEM_MS = 1_000;

type Saw = (seen: DateSeen) => void;

/** The clock of a process, and the callbacks that get the `Date` of each response of its two clients. */
type Here = {
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly random: () => number;
  readonly sawRow: Saw;
  readonly sawItem: Saw;
};

/** The table as one process reaches it. `onBreaker` is called with the state of the breaker each time the budget is read. */
export function tableFor(
  shared: SharedTable,
  process: Process,
  world: World,
  { now, sleep, random, sawRow, sawItem }: Here,
) {
  const rows = shared.of(process);
  const ask = async <T>(
    label: string,
    timeoutMs: number,
    saw: Saw,
    perform: () => Promise<T>,
  ): Promise<T> => {
    const heard = awaitDate(now, world.sinceStartMs);
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
    if (shared.hasDates) saw(heard(Math.floor(doneMs / 1_000) * 1_000));
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
  const items: Table = {
    ...rows,
    get: (key) => item('read budget', () => rows.get(key)),
    put: (...given) => item('change budget', () => rows.put(...given)),
  };
  const budget = (onBreaker: OnBreaker): BudgetItem =>
    createTableBudget({
      ...{ table: items, host: HOST, sleep, random },
      onBudget: ({ breaker }) => onBreaker(breaker),
    });
  return { table, budget };
}

type OnBreaker = (breaker: OpenBreaker | undefined) => void;

const nameOf = ({ partition }: RowKey) => partition.slice(0, 24);
