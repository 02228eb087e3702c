import { randomUUID } from 'node:crypto';
import type { AwsEnvironment } from '../base/aws/index.ts';
import { sleep as delay } from '../base/index.ts';
import {
  type CheckTable,
  checkedTable,
  openTable,
  type StoredRow,
  type Table,
  TableError,
} from '../table/index.ts';
import { type Budget, type BudgetItem, emptyBudget } from './budget.ts';

type TableBudgetOptions = Pick<BudgetItem, 'onDate'> & {
  readonly table: Table;
  readonly host: string;
  /** The operation of a separate line. Default: the fleet's line. */
  readonly operation?: string;
  /** Called for each budget that is read or written. */
  readonly onBudget?: ((budget: Budget) => void) | undefined;
  readonly sleep?: (ms: number) => Promise<unknown>;
  readonly random?: () => number;
};

/** The time limit of one request, in milliseconds. A call waits for the budget, and cannot use a late response. */
const TIMEOUT_MS = 1_000;

/** Opens the budget of a host in a table. */
export async function openBudget(
  options: Pick<TableBudgetOptions, 'host' | 'onBudget'> & {
    /** A DynamoDB table, or `sqlite:FILE`. */
    readonly table: string;
    readonly environment: AwsEnvironment;
    /** How many times a request to DynamoDB is sent at most. Default: 2, since a keep-alive connection may have been closed. */
    readonly attempts?: number;
    readonly check?: CheckTable | undefined;
  },
): Promise<BudgetItem> {
  const { table: name, host, environment, attempts = 2, onBudget, check } = options;
  const { table, onDate } = await openTable(name, environment, { attempts, timeoutMs: TIMEOUT_MS });
  return createTableBudget({
    table: check === undefined ? table : checkedTable(table, check),
    host,
    onBudget,
    onDate,
  });
}

/** How many times a change is tried at most. A fleet writes only a few times a second, so conflicts soon end. */
const MAX_ROUNDS = 10;

/**
 * A worker whose write failed, since another worker wrote first, tries again within this time in milliseconds,
 * multiplied by the number of its tries. The time is random, since all workers may start at the same time.
 */
const MAX_CONFLICT_DELAY_MS = 100;

/** Opens the budget of a host as a row of a table. Its key is `pace#HOST` and `-`, or the name of an operation. */
export function createTableBudget(options: TableBudgetOptions): BudgetItem {
  const { table, host, operation = '-', onBudget, onDate, sleep = delay, random = Math.random } = options;
  const key = { partition: `pace#${host}`, sort: operation };
  let lastToken = '';
  /** The row as this process last stored it, for a first try without a read: most likely it has not changed. */
  let ownRow: StoredRow | undefined;
  const load = async () => {
    const stored = await table.get(key);
    onBudget?.(budgetIn(stored));
    return stored;
  };
  return {
    onDate,
    // Only the fleet's budget has a breaker.
    of: (name) => createTableBudget({ ...options, operation: name, onBudget: undefined }),
    read: async () => budgetIn(await load()),
    async change(act, next) {
      let guessed = ownRow;
      ownRow = undefined;
      for (let round = 1; round <= MAX_ROUNDS; round += 1) {
        const stored = guessed ?? (await load());
        const budget = next(budgetIn(stored));
        if (budget === undefined && guessed === undefined) return undefined;
        guessed = undefined;
        if (budget === undefined) continue;
        const token = randomUUID();
        const written = await table.put(key, budget, { expected: stored?.token ?? null, token });
        if (written.kind === 'stored') {
          if (stored?.token === lastToken) ownRow = { row: budget, token };
          lastToken = token;
          onBudget?.(budget);
          return budget;
        }
        await sleep(random() * MAX_CONFLICT_DELAY_MS * round);
      }
      throw new TableError(`${act} ${key.partition}`, { kind: 'busy', code: 'conflict every time' });
    },
  };
}

const budgetIn = (stored: StoredRow | undefined): Budget =>
  stored === undefined ? emptyBudget : (stored.row as Budget);
