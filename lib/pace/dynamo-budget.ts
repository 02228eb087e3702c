import { createDynamoItem, type DynamoItemOptions, type ItemUpdate } from '../table/dynamo-item.ts';
import { TableError } from '../table/index.ts';
import type { Budget, BudgetWrite, HostItem } from './budget.ts';
import { budgetBy, type ChangeBudget } from './budget-changes.ts';
import { budgetOf, changeUpdate, reserveUpdate } from './budget-updates.ts';

export type DynamoBudgetOptions = Omit<DynamoItemOptions, 'key'> & {
  /** The platform's host. */
  readonly host: string;
  /** Called with each budget that a response brings. */
  readonly onBudget?: ((budget: Budget) => void) | undefined;
};

/** How often a budget is read again for one change: whoever changes it meanwhile does so rarely. */
const MOST_ROUNDS = 10;

/** The budget of a host in a DynamoDB table, and the breaker in it: the item with the keys `pace#HOST` and `-`. */
export function createDynamoBudget({ host, onBudget, ...options }: DynamoBudgetOptions): HostItem {
  const item = createDynamoItem({ ...options, key: { partition: `pace#${host}`, sort: '-' } });
  const seen = (budget: Budget) => {
    onBudget?.(budget);
    return budget;
  };
  const read = async (act = 'read') => seen(budgetOf(await item.read(act)));
  const write = async (act: string, update: ItemUpdate): Promise<BudgetWrite> => {
    const attributes = await item.update(act, update);
    if (attributes === undefined) return { kind: 'refused' };
    return { kind: 'written', budget: seen(budgetOf(attributes)) };
  };
  // Changes what is read, unless somebody else does so meanwhile: what they left is read again then.
  const change: ChangeBudget = async (act, changeOf) => {
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      const before = await read(act);
      const next = changeOf(before);
      if (next === undefined) return { kind: 'refused' };
      const update = changeUpdate(before, next);
      if (update.update === '') return { kind: 'written', budget: before };
      const written = await write(act, update);
      if (written.kind === 'written') return written;
    }
    throw new TableError(`change pace#${host}`, { kind: 'busy', code: 'changed each time' });
  };
  const budget = budgetBy({ read, change });
  return {
    ...budget,
    reserve: (reservation) =>
      reservation.kind === 'idle' || reservation.kind === 'busy'
        ? write('reserve', reserveUpdate(reservation))
        : budget.reserve(reservation),
    onDate: item.onDate,
  };
}
