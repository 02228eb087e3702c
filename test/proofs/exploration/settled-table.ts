import { settleWrite } from '../../../lib/table/settle-write.ts';
import type { StoredRow, Table } from '../../../lib/table/table.ts';
import type { Outside } from './outside.ts';

/** What DynamoDB responds when a condition does not hold: the row that is there. */
class ConditionFailed extends Error {
  override readonly name = 'ConditionalCheckFailedException';
  readonly current: StoredRow | undefined;

  constructor(current: StoredRow | undefined) {
    super('the condition did not hold');
    this.current = current;
  }
}

/**
 * A table with the rounds that the adapter of DynamoDB makes around each write: each of its requests is one ask.
 * `knowsOwn`: a write whose response was lost is known again by its token.
 */
export const settledTable = (table: Table, { sleep }: Pick<Outside, 'sleep'>, knowsOwn = true): Table => ({
  ...table,
  put: (key, row, options) =>
    settleWrite({
      async write(onFailed) {
        const written = await table.put(key, row, options).catch((error: unknown) => {
          onFailed(error);
          throw error;
        });
        if (written.kind === 'other') throw new ConditionFailed(written.current);
      },
      read: () => table.get(key),
      rowOf: (error) => (error instanceof ConditionFailed ? error.current : undefined),
      isMade: (current) => knowsOwn && current?.token === options.token,
      expected: options.expected,
      sleep,
    }),
});
