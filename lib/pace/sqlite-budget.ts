import type { DatabaseSync } from 'node:sqlite';
import { parseOwnJson } from '../base/index.ts';
import type { SqliteFile } from '../table/index.ts';
import { type Budget, type BudgetWrite, emptyBudget, type HostItem } from './budget.ts';
import { budgetBy, type ChangeBudget } from './budget-changes.ts';

export type SqliteBudgetOptions = {
  readonly file: SqliteFile;
  /** The platform's host. */
  readonly host: string;
  /** Called with each budget that is read or written. */
  readonly onBudget?: ((budget: Budget) => void) | undefined;
};

/** The budget of a host, and the breaker in it, for the processes that share a file of SQLite. */
export function createSqliteBudget({ file, host, onBudget }: SqliteBudgetOptions): HostItem {
  const seen = (budget: Budget) => {
    onBudget?.(budget);
    return budget;
  };
  const read = async () =>
    seen((await file.read(`read the budget of ${host}`, (db) => storedBudget(db, host))) ?? emptyBudget);
  const change: ChangeBudget = async (act, changeOf) => {
    const written = await file.write(`${act} the budget of ${host}`, (db): BudgetWrite => {
      const next = changeOf(storedBudget(db, host));
      if (next === undefined) return { kind: 'refused' };
      db.prepare('INSERT OR REPLACE INTO budgets (host, budget) VALUES (?, ?)').run(
        host,
        JSON.stringify(next),
      );
      return { kind: 'written', budget: next };
    });
    if (written.kind === 'written') seen(written.budget);
    return written;
  };
  return budgetBy({ read, change });
}

function storedBudget(db: DatabaseSync, host: string): Budget {
  const found = db.prepare('SELECT budget FROM budgets WHERE host = ?').get(host);
  return found === undefined
    ? emptyBudget
    : { ...emptyBudget, ...(parseOwnJson(String(found['budget'])) as Budget) };
}
