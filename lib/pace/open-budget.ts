import type { AwsEnvironment } from '../base/index.ts';
import { type CheckTable, sqlitePath } from '../table/index.ts';
import type { Budget, HostItem } from './budget.ts';

export type OpenBudgetOptions = {
  /** A DynamoDB table, or `sqlite:FILE`. */
  readonly table: string;
  /** The platform's host. */
  readonly host: string;
  readonly environment: AwsEnvironment;
  /** How often a request to DynamoDB is made. Default: once, since a call waits for it. */
  readonly attempts?: number;
  /** Called with each budget that a response brings. */
  readonly onBudget?: (budget: Budget) => void;
  /** Passes before anything is reserved. */
  readonly check?: CheckTable | undefined;
};

/** The budget of a host, and its breaker, in the table that is set. Loads the modules of that kind of table alone. */
export async function openBudget(options: OpenBudgetOptions): Promise<HostItem> {
  const item = await openUnchecked(options);
  return {
    ...item,
    async reserve(reservation) {
      await options.check?.();
      return item.reserve(reservation);
    },
  };
}

async function openUnchecked(options: OpenBudgetOptions): Promise<HostItem> {
  const { table, host, environment, attempts, onBudget } = options;
  const path = sqlitePath(table);
  if (path !== undefined) {
    const [{ sqliteFile }, { createSqliteBudget }] = await Promise.all([
      import('../table/sqlite-file.ts'),
      import('./sqlite-budget.ts'),
    ]);
    return createSqliteBudget({ file: sqliteFile(path), host, onBudget });
  }
  const { createDynamoBudget } = await import('./dynamo-budget.ts');
  return createDynamoBudget({ tableName: table, host, environment, attempts, onBudget });
}
