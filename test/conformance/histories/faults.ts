import { type Table, TableError } from '../../../lib/table/index.ts';
import type { Dice } from '../../proofs/dice.ts';

/** Faults that a client may have; the checker must find each. */
export const faults = [
  'clock-ahead',
  'end-without-lease',
  'blind-writes',
  'held-text',
  'stale-line',
] as const;

export type Fault = (typeof faults)[number];

/** Maximum delay, in milliseconds, until a request without a response takes effect. */
const MAX_LATE_MS = 60;

/**
 * A table whose requests sometimes fail: never sent, applied without a response, or applied after the failure was
 * reported. `isBlind`: writes ignore their condition.
 */
export function faultyTable(table: Table, dice: Dice, isBlind: boolean): Table {
  const meet = async <Answer>(apply: () => Promise<Answer>): Promise<Answer> => {
    const fate = dice.below(100);
    if (fate < 3) throw lost();
    if (fate < 6) {
      await apply();
      throw lost();
    }
    if (fate < 9) {
      setTimeout(() => void apply().catch(() => {}), dice.below(MAX_LATE_MS));
      throw lost();
    }
    return apply();
  };
  return {
    ...table,
    get: (key) => (dice.percent(2) ? Promise.reject(lost()) : table.get(key)),
    put: (key, row, options) =>
      meet(async () => {
        const expected = isBlind ? ((await table.get(key))?.token ?? null) : options.expected;
        return table.put(key, row, { ...options, expected });
      }),
    delete: (key, expected) => meet(() => table.delete(key, expected)),
  };
}

const lost = () => new TableError('reach the table', { kind: 'unreachable', code: 'ECONNRESET' });
